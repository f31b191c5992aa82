// Command geninput writes the bundled input of examples/worker: go run ./examples/worker/geninput > examples/worker/refunds.jsonl
//
// It is the same on every run. The ids of charges say how the example's provider treats them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
)

type line struct {
	Attributes map[string]string `json:"attributes"`
	Body       json.RawMessage   `json:"body,omitempty"`
	Text       string            `json:"text,omitempty"`
}

type generator struct {
	rnd *rand.Rand
	out []line
}

func pick(rnd *rand.Rand, from ...string) string { return from[rnd.IntN(len(from))] }

func (g *generator) tenant() string { return pick(g.rnd, "acme", "globex", "initech") }

// key has the form of a UUIDv4, as a producer makes it; a real one comes from a cryptographic source.
func (g *generator) key() string {
	a, b := g.rnd.Uint64(), g.rnd.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%x%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, 8+b>>62, b>>48&0xfff, b&0xffffffffffff)
}

func (g *generator) body(charge string) string {
	return fmt.Sprintf(`{"charge":%q,"amount":%d.%02d,"currency":%q,"reason":%q}`, charge,
		1+g.rnd.IntN(900), g.rnd.IntN(100), pick(g.rnd, "EUR", "USD", "GBP", "CHF"),
		pick(g.rnd, "requested_by_customer", "damaged", "late_delivery", "duplicate_order", "wrong_item"))
}

func (g *generator) charge(kind string) string {
	return fmt.Sprintf("ch_%s%012x", kind, g.rnd.Uint64()&0xffffffffffff)
}

func (g *generator) request(kind string) line {
	return line{
		Attributes: map[string]string{"Idempotency-Key": g.key(), "Tenant": g.tenant()},
		Body:       json.RawMessage(g.body(g.charge(kind))),
	}
}

func (g *generator) add(n int, kind string) {
	for range n {
		g.out = append(g.out, g.request(kind))
	}
}

func main() {
	w := bufio.NewWriter(os.Stdout)
	if err := write(w); err != nil {
		fmt.Fprintln(os.Stderr, "geninput:", err)
		os.Exit(1)
	}
}

func write(w *bufio.Writer) error {
	g := &generator{rnd: rand.New(rand.NewPCG(2026, 11))}
	g.add(6, "late_")     // paid, then no answer: the outcome is unknown
	g.add(4, "lost_")     // never arrived, and no answer either
	g.add(8, "disputed_") // declined
	g.add(10, "flaky_")   // unreachable at first: retried
	g.add(2, "broken_")   // unreachable for ever: given up
	g.add(20, "slow_")
	g.add(980, "")
	g.sameKeyTwoTenants(5)
	g.rnd.Shuffle(len(g.out)-30, func(i, j int) { g.out[i+30], g.out[j+30] = g.out[j+30], g.out[i+30] })
	g.runningDuplicates()
	g.finishedDuplicates(60)
	g.reusedKeys(6)
	g.otherSpelling()
	g.garbage()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, l := range g.out {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (g *generator) sameKeyTwoTenants(n int) {
	for range n {
		a := g.request("")
		b := line{Attributes: map[string]string{"Idempotency-Key": a.Attributes["Idempotency-Key"]}, Body: json.RawMessage(g.body(g.charge("")))}
		a.Attributes["Tenant"], b.Attributes["Tenant"] = "acme", "globex"
		g.out = append(g.out, a, b)
	}
}

// runningDuplicates sends the slow, late and declined ones again at once.
func (g *generator) runningDuplicates() {
	var out []line
	for _, l := range g.out {
		out = append(out, l)
		for _, kind := range []string{"ch_slow_", "ch_late_", "ch_disputed_"} {
			if len(l.Body) > 20 && string(l.Body[11:11+len(kind)]) == kind {
				out = append(out, l, l)
			}
		}
	}
	g.out = out
}

func (g *generator) plain(n int) []line {
	var found []line
	for _, i := range g.rnd.Perm(len(g.out)) {
		l := g.out[i]
		// {"charge":"ch_ and twelve hexadecimal digits: one that the provider treats as any other
		if len(found) < n && len(l.Body) > 26 && isHex(l.Body[14:26]) {
			found = append(found, l)
		}
	}
	return found
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (g *generator) finishedDuplicates(n int) { g.out = append(g.out, g.plain(n)...) }

func (g *generator) reusedKeys(n int) {
	for _, l := range g.plain(n) {
		g.out = append(g.out, line{Attributes: l.Attributes, Body: json.RawMessage(g.body(g.charge("")))})
	}
}

// otherSpelling is one request twice: the second with its members reordered and its amount spelled as 4200.0.
func (g *generator) otherSpelling() {
	attrs := map[string]string{"Idempotency-Key": g.key(), "Tenant": "acme"}
	g.out = append(g.out,
		line{Attributes: attrs, Body: json.RawMessage(`{"charge":"ch_7d1f00c0ffee","amount":4200,"currency":"EUR","reason":"damaged"}`)},
		line{Attributes: attrs, Body: json.RawMessage(`{"reason":"damaged","currency":"EUR","amount":4200.0,"charge":"ch_7d1f00c0ffee"}`)})
}

func (g *generator) garbage() {
	missing, malformed, tenantless, text := g.request(""), g.request(""), g.request(""), g.request("")
	delete(missing.Attributes, "Idempotency-Key")
	malformed.Attributes["Idempotency-Key"] = "order 4711/refund"
	delete(tenantless.Attributes, "Tenant")
	text.Body, text.Text = nil, "please refund order 4711, thank you"
	cut := g.request("")
	cut.Body, cut.Text = nil, `{"charge":"ch_0ddba11c0de5","amount":12.`
	double := g.request("")
	double.Body, double.Text = nil, `{"charge":"ch_0ddba11c0de6","amount":1,"amount":900,"currency":"EUR"}`
	g.out = append(g.out, missing, malformed, tenantless, text, cut, double)
}
