package storetest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/claimonce/claimonce/dedupe"
)

func resultRules() []Rule {
	return []Rule{
		{"bodies", "Records round-trip exactly: a body is any bytes; none, empty and omitted are three things.", bodies},
		{"large results", "A store may keep a large Result.Body apart; it never answers with an empty body, or with a part of one.", largeResults},
		{"too large", "An error that no repeat can mend since the record is too large wraps ErrTooLarge.", tooLarge},
		{"longest key", "A key within MaxKeyLength and MaxScopeLength is stored, with a large result too.", longestKey},
	}
}

// noise is a body that no compression makes smaller.
func noise(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails: see its documentation
	return b
}

func bodies(p *probe) {
	hs := p.handles(2)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for what, res := range map[string]*dedupe.Result{
		"no result":            nil,
		"an empty result":      {},
		"no body, no headers":  {Status: 204},
		"an empty body":        {Status: 200, Body: []byte{}},
		"a body of one zero":   {Status: 200, Body: []byte{0}},
		"every byte":           {Status: 200, Body: all},
		"no headers in a map":  {Status: 200, Headers: map[string]string{}, Body: []byte("x")},
		"an omitted body":      {Status: 200, Omitted: dedupe.OmittedTooLarge},
		"a content type alone": {ContentType: "text/plain"},
		"names that differ by case, are empty, or have an empty value": {
			Headers: map[string]string{"ETag": "1", "etag": "2", "": "no name", "X-Empty": "", "X-Comma": "a, b", "X-Lines": "a\r\nb"},
		},
	} {
		rec := completed(newKey(), noon())
		rec.Result = res
		p.trip(what, hs, rec)
	}
}

// largeResults has sizes on both sides of the bounds that stores have, the unit of DynamoDB's writes among them.
func largeResults(p *probe) {
	hs := p.handles(2)
	for _, size := range []int{300, 400, 500, 600, 700, 800, 900, 1000, 1023, 1024, 1025, 2048, 4095, 4097, 32 << 10, 64<<10 + 1, 256 << 10} {
		rec := completed(newKey(), noon())
		rec.Result.Body = noise(size)
		p.trip(fmt.Sprintf("a body of %d bytes", size), hs, rec)
		rec = completed(newKey(), noon())
		rec.Result.Body = bytes.Repeat([]byte("a"), size)
		p.trip(fmt.Sprintf("a body of %d times a", size), hs, rec)
	}
	rec := completed(newKey(), noon())
	rec.Result.Headers = map[string]string{"Link": strings.Repeat("</refunds/1>, ", 500)}
	p.trip("a header of 7,000 bytes", hs, rec)

	// A later result of the same operation, and a former one.
	first := completed(newKey(), noon())
	first.Result.Body = noise(3000)
	second := completed(first.Key, noon())
	second.Owner, second.Result.Body = first.Owner, noise(3000)
	hs[0].swap(dedupe.AbsentAt(noon()), first)
	hs[0].conflict("another result of the same owner is refused", dedupe.AtRevision(newRevision()), second, first)
	hs[1].stored("another result of the same owner was refused", first.Key, first)
	hs[0].swap(dedupe.AtRevision(first.Revision), second)
	hs[1].stored("another result of the same owner", first.Key, second)
}

// tooLarge: the contract has no bound of its own, so that storing it is as good.
func tooLarge(p *probe) {
	h := p.open()
	before := claimed(newKey())
	h.swap(dedupe.AbsentAt(noon()), before)
	rec := completed(before.Key, noon())
	rec.Result.Body = noise(3 << 20)
	_, err := h.Swap(p.ctx, rec.Key, dedupe.AtRevision(before.Revision), rec)
	switch {
	case err == nil:
		h.stored("a body of 3 MiB", rec.Key, rec)
	case !errors.Is(err, dedupe.ErrTooLarge):
		p.errorf("a body of 3 MiB: got error %v, want success or one that wraps ErrTooLarge", err)
	default:
		h.stored("a body of 3 MiB was refused", rec.Key, before)
		small := rec.Clone()
		small.Result = &dedupe.Result{Status: rec.Result.Status, Omitted: dedupe.OmittedTooLarge}
		h.swap(dedupe.AtRevision(before.Revision), small)
		h.stored("the completion without its body", rec.Key, small)
	}
}

func longestKey(p *probe) {
	hs := p.handles(2)
	for what, char := range map[string]string{"of ASCII": "k", "of four bytes each": "\U0001F600"} {
		key := newKey()
		for _, part := range []*string{&key.Tenant, &key.Operation} {
			*part += strings.Repeat(char, (dedupe.MaxScopeLength-len(*part))/len(char))
		}
		key.ID += strings.Repeat(char, dedupe.MaxKeyLength-len(key.ID)) // it is ASCII so far
		p.trip("the longest key "+what, hs, claimed(key))

		rec := completed(key, noon())
		rec.Key.ID = key.ID[:len(key.ID)-len(char)] + "z"
		rec.Result.Body = noise(3000)
		p.trip("the longest key with a large result, "+what, hs, rec)
	}
}
