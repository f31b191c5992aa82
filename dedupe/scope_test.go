package dedupe_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

func TestKEY06_TenantsDoNotMeet(t *testing.T) {
	t.Parallel()
	reg := newRegister()
	l := newLedger(t, reg, dedupe.Config{OnAbandoned: dedupe.RerunUnlessBegun})
	other := key
	other.Tenant = "globex"
	finish(t, l, key, bodyA)
	for _, body := range []string{bodyA, bodyB} {
		a := claimKey(t, l, other, body)
		wantOutcome(t, a, dedupe.OutcomeClaimed)
		if a.Record.Result != nil {
			t.Errorf("one tenant sees another's result: %+v", a.Record)
		}
		a.Operation.Run(t.Context(), returning(errors.New("again")), dedupe.RunOptions{})
		reg.put(dedupe.Record{Key: other})
	}
}

func TestKEY08_OneEventForSeveralOperations(t *testing.T) {
	t.Parallel()
	l := newLedger(t, newRegister(), dedupe.Config{OnAbandoned: dedupe.RerunUnlessBegun})
	charge, mail := key, key
	charge.Operation, mail.Operation = "charge", "mail"
	a := claimKey(t, l, mail, bodyA)
	a.Operation.Run(t.Context(), returning(dedupe.Permanent(errors.New("no such address"))), dedupe.RunOptions{})
	finish(t, l, charge, bodyA)
	wantOutcome(t, claimKey(t, l, charge, bodyA), dedupe.OutcomeReplay)
	wantOutcome(t, claimKey(t, l, mail, bodyA), dedupe.OutcomeFailed)
}

// Another delivery of one intent carries the same key; what else differs about the message does not count.
func TestKEY14_RepublishedIntentIsADuplicate(t *testing.T) {
	t.Parallel()
	l := newLedger(t, newRegister(), dedupe.Config{OnAbandoned: dedupe.RerunUnlessBegun})
	finish(t, l, key, bodyA)
	wantOutcome(t, claim(t, l, ` { "amount" : 1e2 } `), dedupe.OutcomeReplay)
	keyless := key
	keyless.ID = ""
	if _, err := l.Claim(t.Context(), request(t, l, keyless, bodyA)); !errors.Is(err, dedupe.ErrMissingKey) {
		t.Errorf("without a key: got %v, want %v", err, dedupe.ErrMissingKey)
	}
}

// The same key with another request is refused in every state, tells nothing of the first one, and changes nothing.
func TestFPR13_OtherRequestIsRefusedInEveryState(t *testing.T) {
	t.Parallel()
	for _, s := range startStates() {
		rec := atNow(s.rec)
		if rec.State == dedupe.StateAbsent || rec.Fingerprint == "" || s.rules().ExpiredAt(rec, time.Now()) {
			continue
		}
		reg := newRegister()
		l := newLedger(t, reg, dedupe.Config{OnAbandoned: dedupe.Rerun, AttemptBound: attemptBound, DownstreamMemory: s.memory})
		rec.Fingerprint = request(t, l, key, bodyA).Digest
		rec.Reason = "card 4111"
		reg.put(rec)
		a := claim(t, l, bodyB)
		wantOutcome(t, a, dedupe.OutcomeMismatch)
		if got := reg.get(key); got.Revision != rec.Revision {
			t.Errorf("%s: a mismatch changed the record", s.name)
		}
		if r := a.Record; r.Result != nil || r.Reason != "" || r.Fingerprint != "" || r.Owner != "" || r.Revision != "" || r.Marks != nil {
			t.Errorf("%s: a mismatch tells of the other request: %+v", s.name, r)
		}
		if !errors.Is(a.Err(key), dedupe.ErrKeyReuse) {
			t.Errorf("%s: got %v, want %v", s.name, a.Err(key), dedupe.ErrKeyReuse)
		}
	}
}

func TestFPR16_VolatileFieldsDoNotCount(t *testing.T) {
	t.Parallel()
	first := `{"amount":1,"sent_at":"10:00","items":[{"id":1,"updated":1}]}`
	again := `{"amount":1,"sent_at":"10:05","items":[{"id":1,"updated":2}]}`
	changed := `{"amount":2,"sent_at":"10:00","items":[{"id":1,"updated":1}]}`
	strict := newLedger(t, newRegister(), dedupe.Config{OnAbandoned: dedupe.Rerun})
	finish(t, strict, key, first)
	wantOutcome(t, claim(t, strict, again), dedupe.OutcomeMismatch)

	l := newLedger(t, newRegister(), dedupe.Config{
		OnAbandoned: dedupe.Rerun,
		Fingerprint: fingerprint.Config{Volatile: []string{"/sent_at", "/items/*/updated", "/nothing"}},
	})
	finish(t, l, key, first)
	wantOutcome(t, claim(t, l, again), dedupe.OutcomeReplay)
	wantOutcome(t, claim(t, l, changed), dedupe.OutcomeMismatch)
}

func TestFPR17_OnlyThePayloadCounts(t *testing.T) {
	t.Parallel()
	l := newLedger(t, newRegister(), dedupe.Config{OnAbandoned: dedupe.Rerun, Fingerprint: fingerprint.Config{Select: "/payload"}})
	finish(t, l, key, `{"id":1,"payload":{"amount":1}}`)
	wantOutcome(t, claim(t, l, `{"id":2,"payload":{"amount":1}}`), dedupe.OutcomeReplay)
	wantOutcome(t, claim(t, l, `{"id":2,"payload":{"amount":2}}`), dedupe.OutcomeMismatch)
	if _, err := l.Request(key, []byte(`{"id":3}`)); !errors.Is(err, fingerprint.ErrMalformed) {
		t.Errorf("a body without the payload: got %v, want %v", err, fingerprint.ErrMalformed)
	}
}

// A corrected request under the same key is refused loudly, and there is a way forward, once.
func TestFPR19_CorrectedRequestHasAWayIn(t *testing.T) {
	t.Parallel()
	l := newLedger(t, newRegister(), dedupe.Config{OnAbandoned: dedupe.RerunUnlessBegun})
	finish(t, l, key, bodyA)
	wantOutcome(t, claim(t, l, bodyB), dedupe.OutcomeMismatch)
	if _, err := l.Override(t.Context(), lookedAt(t.Context(), l, key), dedupe.Override{Action: dedupe.ActionForget, Operator: "ann", Reason: "wrong amount", Resend: "ann"}); err != nil {
		t.Fatal(err)
	}
	finish(t, l, key, bodyB)
	wantOutcome(t, claim(t, l, bodyB), dedupe.OutcomeReplay)
	wantOutcome(t, claim(t, l, bodyA), dedupe.OutcomeMismatch)
	fresh := key
	fresh.ID = "refund-4711-corrected"
	finish(t, l, fresh, bodyB)
}

// A change of the rules makes no false mismatch, and the stored digest stays: downstream keys contain it.
func TestOlderSchemesAreStillRecognised(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := newRegister()
		older := fingerprint.Config{Version: "1"}
		newer := fingerprint.Config{Version: "2", Volatile: []string{"/sent_at"}, Previous: []fingerprint.Config{older}}
		before := newLedger(t, reg, dedupe.Config{OnAbandoned: dedupe.Rerun, Fingerprint: older})
		after := newLedger(t, reg, dedupe.Config{OnAbandoned: dedupe.Rerun, Fingerprint: newer})
		a := claim(t, before, bodyA)
		stored := reg.get(key).Fingerprint
		step, err := a.Operation.Begin(t.Context(), "charge")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(66 * time.Second)
		wantOutcome(t, claim(t, after, bodyB), dedupe.OutcomeMismatch)
		b := claim(t, after, bodyA)
		wantOutcome(t, b, dedupe.OutcomeClaimed)
		again, err := b.Operation.Begin(t.Context(), "charge")
		if err != nil || again.Key() != step.Key() || reg.get(key).Fingerprint != stored {
			t.Errorf("the downstream key changed with the rules: %v %v, %v", step.Key(), again.Key(), err)
		}

		// The other way round, in a rolling deploy: the older worker cannot tell, and must not guess.
		other := key
		other.ID = "other"
		finish(t, after, other, bodyA)
		_, err = before.Claim(t.Context(), request(t, before, other, bodyA))
		if !errors.Is(err, dedupe.ErrNewerSchema) {
			t.Errorf("got %v, want %v", err, dedupe.ErrNewerSchema)
		}
		_, err = before.Claim(t.Context(), dedupe.Request{Key: other, Digest: request(t, before, other, bodyA).Digest})
		if !errors.Is(err, dedupe.ErrNewerSchema) {
			t.Errorf("without As: got %v, want %v", err, dedupe.ErrNewerSchema)
		}
	})
}
