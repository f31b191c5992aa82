package fingerprint

import (
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
)

// Request is what a digest is made from. None of it is kept.
type Request struct {
	Tenant    string
	Operation string // the application's name of the operation
	Method    string // on HTTP; hashed as it is
	Path      string // on HTTP; hashed as it is
	Body      []byte // nil, empty and the text null are three different requests
}

// Digester turns requests into digests. It is immutable and safe for concurrent
// use.
type Digester struct {
	own   *rules
	known map[string]*rules // own and previous ones, by scheme
}

type rules struct {
	scheme   string
	format   Format
	newHash  func() hash.Hash
	volatile *node    // nil if nothing is left out
	selected []string // no tokens: the whole body
	maxDepth int
	maxBody  int
}

// New returns a Digester for the rules of cfg. It keeps no slice of cfg. The
// error joins everything that is wrong with cfg, Previous included.
func New(cfg Config) (*Digester, error) {
	d := &Digester{known: map[string]*rules{}}
	var problems []error
	d.own = d.add(cfg, "config.", &problems)
	if len(problems) > 0 {
		return nil, fmt.Errorf("fingerprint: %w", errors.Join(problems...))
	}
	return d, nil
}

func (d *Digester) add(cfg Config, where string, problems *[]error) *rules {
	r, err := cfg.compile(where)
	if err != nil {
		*problems = append(*problems, err)
	} else if d.known[r.scheme] == nil { // the first one wins: current rules come before previous ones
		d.known[r.scheme] = r
	}
	for i, previous := range cfg.Previous {
		d.add(previous, fmt.Sprintf("%sPrevious[%d].", where, i), problems)
	}
	return r
}

// Scheme returns the scheme of the digests that [Digester.Digest] makes. It
// contains no colon.
func (d *Digester) Scheme() string { return d.own.scheme }

// Digest returns the request's digest by the current rules. The error is an
// [*Error]: the body is at fault, and a retry cannot help.
func (d *Digester) Digest(r Request) (string, error) { return d.own.digest(r) }

// DigestAs returns the request's digest by the rules that scheme names, the own
// or previous ones, so that it can be compared with a stored digest of that
// scheme. Errors: [ErrUnknownScheme], or an [*Error].
func (d *Digester) DigestAs(scheme string, r Request) (string, error) {
	known, ok := d.known[scheme]
	if !ok {
		return "", fmt.Errorf("%w %.64q: add the rules it was made by to Config.Previous", ErrUnknownScheme, scheme)
	}
	return known.digest(r)
}

func (r *rules) digest(req Request) (string, error) {
	content, err := r.content(req.Body)
	if err != nil {
		return "", err
	}
	h := r.newHash()
	for _, field := range []string{domain, r.scheme, req.Tenant, req.Operation, req.Method, req.Path} {
		writeField(h, field)
	}
	if req.Body == nil {
		h.Write([]byte{0})
	} else {
		h.Write([]byte{1})
		writeField(h, content)
	}
	return r.scheme + ":" + base64.RawURLEncoding.EncodeToString(h.Sum(nil)), nil
}

func (r *rules) content(body []byte) ([]byte, error) {
	switch {
	case len(body) > r.maxBody:
		return nil, &Error{Offset: r.maxBody, Reason: reasonSize}
	case r.format == Raw:
		return body, nil
	case len(body) > 0:
		return canonical(body, r)
	case len(r.selected) > 0:
		return nil, &Error{Offset: -1, Reason: reasonSelectBody}
	}
	return nil, nil
}
