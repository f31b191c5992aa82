package fingerprint

import (
	"bytes"
	"slices"
	"strconv"
)

// parser reads a body once, from left to right, and writes its canonical form
// while it reads. An object's members are put in order when its end is reached,
// so no tree is built, and what is held is a small multiple of the body.
type parser struct {
	body     []byte
	at       int
	depth    int
	maxDepth int

	out     []byte   // canonical text so far
	names   []byte   // decoded names of all objects that are still open
	members []member // members of all objects that are still open
	spare   []byte   // for putting members in order

	values int    // scalars and empty containers that were kept
	chosen []byte // what Select picked
	found  bool
}

type member struct {
	at               int // in body, for errors
	nameFrom, nameTo int // in names
	from, to         int // in out; equal if the member was left out
}

func canonical(body []byte, r *rules) ([]byte, error) {
	p := &parser{body: body, maxDepth: r.maxDepth, out: make([]byte, 0, len(body)+len(body)/8)}
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return nil, p.fail(0, reasonBOM)
	}
	root := place{onPath: true, selected: r.selected}
	if r.volatile != nil {
		root.volatile = []*node{r.volatile}
	}
	p.space()
	if err := p.value(root); err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(body) {
		return nil, p.fail(p.at, reasonTrailing)
	}
	if !p.found {
		return nil, p.fail(-1, reasonNoSelect)
	}
	return p.chosen, nil
}

func (p *parser) fail(at int, reason string) error {
	if at >= len(p.body) {
		reason = reasonEnd
	}
	return &Error{Offset: at, Reason: reason}
}

// peek returns 0 at the end. Where it is called a NUL byte is not legal, so the
// two need no telling apart.
func (p *parser) peek() byte {
	if p.at < len(p.body) {
		return p.body[p.at]
	}
	return 0
}

func (p *parser) space() {
	for p.at < len(p.body) {
		switch p.body[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value(here place) error {
	start, values := len(p.out), p.values
	if err := p.anyValue(here); err != nil {
		return err
	}
	if !here.onPath || len(here.selected) > 0 {
		return nil
	}
	if p.values == values { // every part has one unless it was left out
		return p.fail(-1, reasonNothing)
	}
	// A copy, because the objects around it will put their members in order.
	p.chosen, p.found = p.out[start:], true
	if start > 0 {
		p.chosen = bytes.Clone(p.chosen)
	}
	return nil
}

func (p *parser) anyValue(here place) error {
	switch c := p.peek(); {
	case c == '{':
		return p.nested(here, '}', p.object)
	case c == '[':
		return p.nested(here, ']', p.array)
	case c == '"':
		p.values++
		return p.text()
	case c == '-' || '0' <= c && c <= '9':
		p.values++
		return p.number()
	}
	for _, literal := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(p.body[p.at:], []byte(literal)) {
			p.values++
			p.at += len(literal)
			p.out = append(p.out, literal...)
			return nil
		}
	}
	return p.fail(p.at, reasonValue)
}

func (p *parser) nested(here place, end byte, inner func(place) error) error {
	if p.depth++; p.depth > p.maxDepth {
		return p.fail(p.at, reasonDepth)
	}
	p.out = append(p.out, p.body[p.at])
	p.at++
	p.space()
	if p.peek() == end {
		p.values++
	} else if err := inner(here); err != nil {
		return err
	}
	p.at++
	p.out = append(p.out, end)
	p.depth--
	return nil
}

func (p *parser) array(here place) error {
	first := len(p.out)
	for i := 0; ; i++ {
		var inner place
		var drop bool
		if !here.idle() {
			var index [20]byte
			inner, drop = here.enter(strconv.AppendInt(index[:0], int64(i), 10))
		}
		if err := p.item(inner, drop, p.comma(first)); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ']':
			return nil
		case ',':
			p.at++
			p.space()
		default:
			return p.fail(p.at, reasonArray)
		}
	}
}

// comma separates what comes next from what was kept since first, and returns
// the place to go back to if the next is left out.
func (p *parser) comma(first int) int {
	before := len(p.out)
	if before > first {
		p.out = append(p.out, ',')
	}
	return before
}

// item reads a member's value or an element. One that is left out is read all
// the same: what is malformed in it is malformed for every other reader.
func (p *parser) item(inner place, drop bool, before int) error {
	values := p.values
	if err := p.value(inner); err != nil {
		return err
	}
	if drop {
		p.out, p.values = p.out[:before], values
	}
	return nil
}

func (p *parser) object(here place) error {
	first, members, names := len(p.out), len(p.members), len(p.names)
	for {
		if err := p.member(here, first); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case '}':
			err := p.arrange(first, p.members[members:])
			p.members, p.names = p.members[:members], p.names[:names]
			return err
		case ',':
			p.at++
			p.space()
		default:
			return p.fail(p.at, reasonObject)
		}
	}
}

func (p *parser) member(here place, first int) error {
	m := member{at: p.at, nameFrom: len(p.names)}
	if p.peek() != '"' {
		return p.fail(p.at, reasonName)
	}
	if err := p.decode(); err != nil {
		return err
	}
	m.nameTo = len(p.names)
	p.space()
	if p.peek() != ':' {
		return p.fail(p.at, reasonColon)
	}
	p.at++
	p.space()
	name := p.names[m.nameFrom:m.nameTo]
	inner, drop := here.enter(name)
	before := p.comma(first)
	from := len(p.out)
	p.out = append(quote(p.out, name), ':')
	if err := p.item(inner, drop, before); err != nil {
		return err
	}
	m.to = len(p.out)
	m.from = min(from, m.to)
	p.members = append(p.members, m)
	return nil
}

// arrange sorts the members that were written to out from first on, and finds
// names that occur twice, those of left-out members too.
func (p *parser) arrange(first int, members []member) error {
	name := func(m member) []byte { return p.names[m.nameFrom:m.nameTo] }
	byName := func(a, b member) int {
		if c := bytes.Compare(name(a), name(b)); c != 0 {
			return c
		}
		return a.at - b.at
	}
	sorted := slices.IsSortedFunc(members, byName)
	if !sorted {
		slices.SortFunc(members, byName)
	}
	for i := range members[1:] {
		if bytes.Equal(name(members[i]), name(members[i+1])) {
			return p.fail(members[i+1].at, reasonDuplicate)
		}
	}
	if sorted {
		return nil
	}
	p.spare = append(p.spare[:0], p.out[first:]...)
	p.out = p.out[:first]
	for _, m := range members {
		if m.from == m.to {
			continue
		}
		if len(p.out) > first {
			p.out = append(p.out, ',')
		}
		p.out = append(p.out, p.spare[m.from-first:m.to-first]...)
	}
	return nil
}
