package dedupe_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// FuzzStep plays any sequence of events against one record, and holds what must be true of every single step.
func FuzzStep(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(randomScript(seed))
	}
	f.Fuzz(play)
}

// The same without the fuzzer, on every run.
func TestStepInvariants(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4000) {
		play(t, randomScript(seed))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomScript(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	script := make([]byte, 240)
	for i := range script {
		script[i] = byte(rng.Uint32())
	}
	return script
}

// reader turns bytes into choices; when they are used up every choice is the first.
type reader []byte

func (r *reader) pick(n int) int {
	if len(*r) == 0 {
		return 0
	}
	b := (*r)[0]
	*r = (*r)[1:]
	return int(b) % n
}

func one[T any](r *reader, of ...T) T { return of[r.pick(len(of))] }

func play(t *testing.T, script []byte) {
	r := reader(script)
	rules := dedupe.Rules{
		Window: time.Hour, Lease: time.Minute + time.Microsecond, SkewMargin: 5 * time.Second, AttemptBound: 1 + r.pick(3),
		AttentionAfter: 10 * time.Minute, DownstreamMemory: one(&r, 0, 5*time.Minute),
	}
	rec, now := dedupe.Record{Key: key}, noon.Add(123456789)
	for step := 0; len(r) > 0; step++ {
		now = now.Add(one(&r, 0, time.Nanosecond, time.Second, 30*time.Second, 66*time.Second, 11*time.Minute, 2*time.Hour))
		ev := anyEvent(&r, rec)
		before := rec.Clone()
		d := rules.Step(rec, ev, now)
		if !reflect.DeepEqual(before, rec) {
			t.Fatalf("step %d, %s: Step changed its input: %v", step, ev.Name(), changes(before, rec, now))
		}
		for _, wrong := range violations(rules, before, ev, d, now) {
			t.Errorf("step %d, %s %+v at %v on %+v: %s; got %v %+v", step, ev.Name(), ev, now, before, wrong, d.Outcome, d.Next)
		}
		if d.Write {
			spoil(rec) // what was stored before may be reused by others
			rec = d.Next.Clone()
			rec.Revision = string(rune('a' + step%26))
		}
		if t.Failed() {
			return
		}
	}
}

// anyEvent makes an event whose tokens are sometimes those of the record.
func anyEvent(r *reader, rec dedupe.Record) dedupe.Event {
	owner := one(r, rec.Owner, rec.Owner, "stranger", "")
	undone := one(r, nil, []string{"charge"}, []string{"charge", "mail"})
	res := &dedupe.Result{Status: 200, Body: []byte("body"), Headers: map[string]string{"ETag": "1"}}
	to := one(r, dedupe.StateCompleted, dedupe.StateReleased, dedupe.StateFailed, dedupe.StateUnknown)
	claim := dedupe.Claim{
		Owner: one(r, "o1", "o2", "o3", rec.Owner+"x"), Fingerprint: one(r, requestA, requestA, requestA, requestB),
		Equivalent: one(r, nil, nil, []string{requestAOld}), Mode: one(r, dedupe.Rerun, dedupe.RerunUnlessBegun, dedupe.Reconcile), Transactional: r.pick(4) == 0,
	}
	switch r.pick(13) {
	case 0, 1, 2:
		return claim
	case 3:
		return dedupe.Renew{Owner: owner, Undone: undone}
	case 4:
		return dedupe.Begin{Owner: owner, Step: one(r, "charge", "mail"), Undone: undone}
	case 5:
		return dedupe.Complete{Owner: owner, Result: one(r, res, nil), Undone: undone}
	case 6:
		return dedupe.Fail{Owner: owner, Reason: "no", Undone: undone}
	case 7, 8:
		cause := one(r, dedupe.CausePlainError, dedupe.CauseNotCommitted, dedupe.CauseDrain, dedupe.CauseNeverStarted, dedupe.CauseGivenUp)
		return dedupe.Release{
			Owner: owner, Cause: cause, Reason: "no", Delay: one(r, 0, time.Minute, 1<<62), Undone: undone,
			Claim: one(r, nil, &claim), Expected: one(r, "", rec.Revision, "other"),
		}
	case 9:
		return dedupe.Suspect{Owner: owner, Reason: "?", Undone: undone}
	case 10:
		return dedupe.Take{Token: one(r, "r1", "r2", rec.TakenBy), For: time.Minute + time.Nanosecond, Voids: r.pick(2) == 0}
	case 11:
		return dedupe.Resolve{Token: one(r, rec.TakenBy, "r9", ""), To: to, Result: res, Reason: "asked", Voided: r.pick(2) == 0, Operator: one(r, "", "", "ann"), NewOwner: one(r, "ops", "")}
	}
	return dedupe.Override{Action: one(r, dedupe.ActionRelease, dedupe.ActionForget, dedupe.ActionDismiss), Operator: "ann", Reason: "looked", NewOwner: one(r, "ops", "")}
}

// spoil overwrites all that a record's slices and maps hold: whoever shares them with it is found out.
func spoil(r dedupe.Record) {
	for i := range r.Marks {
		r.Marks[i].Step = "spoilt"
	}
	if r.Result != nil {
		for i := range r.Result.Body {
			r.Result.Body[i] = '!'
		}
		for h := range r.Result.Headers {
			r.Result.Headers[h] = "spoilt"
		}
	}
}

func TestStepSharesNothingWithItsInput(t *testing.T) {
	t.Parallel()
	for _, s := range startStates() {
		for _, e := range tableEvents() {
			rec := with(s.rec, func(r *dedupe.Record) { r.Marks = append(r.Marks, dedupe.Mark{Step: "extra", At: noon}) })
			if rec.Result != nil {
				rec.Result.Headers = map[string]string{"ETag": "1"}
			}
			ev := e.event
			if c, ok := ev.(dedupe.Complete); ok {
				c.Result = &dedupe.Result{Body: []byte("x"), Headers: map[string]string{"ETag": "2"}}
				ev = c
			}
			d := s.rules().Step(rec, ev, noon)
			if !d.Write {
				continue
			}
			kept := d.Next.Clone()
			spoil(rec)
			if c, ok := ev.(dedupe.Complete); ok {
				spoil(dedupe.Record{Result: c.Result})
			}
			if !reflect.DeepEqual(kept, d.Next) {
				t.Errorf("%s, %s: what is written shares memory with what was given", s.name, e.name)
			}
		}
	}
}
