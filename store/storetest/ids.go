package storetest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/claimonce/claimonce/dedupe"
)

func idRules() []Rule {
	return []Rule{
		{"ids", "The id of a record encodes tenant, operation and key without ambiguity.", ids},
		{"ids at random", "The id of a record encodes tenant, operation and key without ambiguity, wherever one part ends and the next begins.", randomIDs},
		{"keys that are no UTF-8", "Any UTF-8 key is stored as it is; any other one too, or it is refused with ErrMalformedKey.", noUTF8},
		{"key of another", "Swap is one conditional write of next under next.Key: under any other key it is refused.", keyOfAnother},
	}
}

// lookalikes are different keys that a careless encoding makes one. k is their own part.
func lookalikes(k string) []dedupe.Key {
	keys := []dedupe.Key{
		{Tenant: "acme", Operation: "refund", ID: k},
		{Tenant: "evil", Operation: "refund", ID: k},
		{Operation: "refund", ID: k},
		{Tenant: "acme", Operation: "payout", ID: k},
		{Tenant: "refund", Operation: "acme", ID: k},
		{Tenant: k, Operation: "refund", ID: "acme"},
		{Tenant: "acmer", Operation: "efund", ID: k},
		{Tenant: "acme", Operation: "refun", ID: "d" + k},
		{Tenant: "acm", Operation: "erefund", ID: k},
		{Operation: "acme", ID: "refund" + k},
		{Operation: "acmerefund", ID: k},
		{Tenant: "acme6:refund", Operation: "refund", ID: k},
		{Operation: "acme", ID: "6:refund" + k},
		{Operation: "4:acme6:refund", ID: k},
		{Operation: "refund", ID: "acme" + k},
		{Tenant: "a/", Operation: "b", ID: k},
		{Tenant: "a", Operation: "/b", ID: k},
		{Tenant: "~", Operation: "refund", ID: k},
		{Tenant: "default", Operation: "refund", ID: k},
		{Tenant: "null", Operation: "refund", ID: k},
	}
	for _, sep := range []string{"/", ":", "#", "|", ",", "\x00", "\x1f", "%", "_", "-", ".", " "} {
		keys = append(
			keys,
			dedupe.Key{Tenant: "a" + sep + "b", Operation: "c", ID: k}, dedupe.Key{Tenant: "a", Operation: "b" + sep + "c", ID: k},
			dedupe.Key{Tenant: "a", Operation: "b", ID: "c" + sep + k}, dedupe.Key{Operation: "a", ID: "b" + sep + "c" + sep + k},
		)
	}
	// What separators are escaped to.
	for _, escaped := range []string{"%2F", "%2f", "%3A", "%23", "%7C", "%2C", "%00", "%25", `\/`, `\:`, `\\`, "//", "::", "##", "__", "/:", "%%"} {
		keys = append(keys, dedupe.Key{Tenant: "a" + escaped + "b", Operation: "c", ID: k}, dedupe.Key{Tenant: "a", Operation: "b", ID: "c" + escaped + k})
	}
	for _, id := range []string{
		strings.ToUpper(k), strings.ToLower(k), " " + k, k + " ", k + "\t", k + "\x00", "\ufeff" + k, k[1:], k[:len(k)-1], k + "0", "0" + k,
		"é" + k, "e\u0301" + k, "É" + k, "%41" + k, "A" + k, `\u0041` + k, "ß" + k, "ss" + k, "i" + k, "ı" + k, "Ａ" + k, "\ufffd" + k,
	} {
		keys = append(keys, dedupe.Key{Tenant: "acme", Operation: "refund", ID: id})
	}
	for _, scope := range []string{"Acme", "ACME", "acme ", " acme", "acme\x00", "ácme", "a\u0301cme"} {
		keys = append(keys, dedupe.Key{Tenant: scope, Operation: "refund", ID: k}, dedupe.Key{Tenant: "acme", Operation: scope, ID: k})
	}
	// Different only past where a column may end.
	long := strings.Repeat("x", dedupe.MaxScopeLength-1)
	for _, end := range []string{"y", "z"} {
		keys = append(
			keys, dedupe.Key{Tenant: long + end, Operation: "refund", ID: k}, dedupe.Key{Tenant: "acme", Operation: long + end, ID: k},
			dedupe.Key{Tenant: "acme", Operation: "refund", ID: k + strings.Repeat("x", dedupe.MaxKeyLength-1-len(k)) + end},
		)
	}
	return keys
}

func ids(p *probe) { p.apart(lookalikes("k" + rand.Text() + "k")) }

// randomIDs are all made from one text that is cut in two places, of characters that encodings use.
func randomIDs(p *probe) {
	const alphabet = "aA01:/#|,\\%._- \x00"
	var text strings.Builder
	for range 14 {
		text.WriteByte(alphabet[in(len(alphabet))])
	}
	var keys []dedupe.Key
	own, s := rand.Text(), text.String()
	for tenant := range 8 {
		for end := tenant + 1; end < min(tenant+8, len(s)); end++ {
			keys = append(keys, dedupe.Key{Tenant: s[:tenant], Operation: s[tenant:end], ID: s[end:] + own})
		}
	}
	p.apart(keys)
}

// apart writes a record under each key, then looks whether each is still there.
func (p *probe) apart(keys []dedupe.Key) {
	hs := p.handles(2)
	recs := map[dedupe.Key]dedupe.Record{}
	for _, key := range keys {
		if _, again := recs[key]; again {
			p.fatalf("storetest made the key %s twice", written(key))
		}
		rec := claimed(key)
		current, err := hs[0].Swap(p.ctx, key, dedupe.AbsentAt(noon()), rec)
		switch {
		case errors.Is(err, dedupe.ErrConflict):
			p.errorf("key %s is new, but a record is there, of the key %s", written(key), written(current.Key))
			continue
		case err != nil:
			p.errorf("key %s: Swap on absent: got error %q, want success", written(key), err)
			continue
		}
		recs[key] = rec
	}
	for key, rec := range recs {
		if d := diff(hs[1].load(key), rec); d != "" {
			p.errorf("key %s: Load shows another record: %s", written(key), d)
		}
	}
}

// written shows a key of the rules whole: it is nobody's data.
func written(k dedupe.Key) string { return fmt.Sprintf("(%q, %q, %q)", k.Tenant, k.Operation, k.ID) }

func noUTF8(p *probe) {
	h := p.open()
	own := rand.Text()
	for _, bad := range []string{"\xff", "\xfe", "caf\xe9", "\xed\xa0\x80", "\xc0\xaf", "\xf0\x9f"} {
		for _, key := range []dedupe.Key{
			{Tenant: "acme", Operation: "refund", ID: bad + own}, {Tenant: bad, Operation: "refund", ID: own}, {Tenant: "acme", Operation: bad, ID: own},
		} {
			rec := claimed(key)
			_, err := h.Swap(p.ctx, key, dedupe.AbsentAt(noon()), rec)
			stored, loadErr := h.Load(p.ctx, key)
			switch {
			case err == nil && loadErr == nil:
				if d := diff(stored, rec); d != "" {
					p.errorf("key %s was stored as another: %s", written(key), d)
				}
			case !errors.Is(err, dedupe.ErrMalformedKey) || !errors.Is(loadErr, dedupe.ErrMalformedKey):
				p.errorf("key %s: got error %v of Swap and %v of Load, want success of both or ErrMalformedKey of both", written(key), err, loadErr)
			}
		}
	}
}

func keyOfAnother(p *probe) {
	h := p.open()
	one, another := newKey(), newKey()
	for what, key := range map[string]dedupe.Key{
		"another ID": another, "another tenant": {Tenant: "evil", Operation: one.Operation, ID: one.ID}, "no tenant": {Operation: one.Operation, ID: one.ID},
	} {
		if _, err := h.Swap(p.ctx, key, dedupe.AbsentAt(noon()), claimed(one)); err == nil || errors.Is(err, dedupe.ErrConflict) {
			p.errorf("Swap under a key with %s than the record's: got error %v, want one that is no conflict", what, err)
		}
		h.stored("a record of another key was refused", key, dedupe.Record{})
		h.stored("a record was refused under another key", one, dedupe.Record{})
	}
	h.swap(dedupe.AbsentAt(noon()), claimed(one)) // under its own key it is not
}
