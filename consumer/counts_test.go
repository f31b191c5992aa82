package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// S11: first runs, replays and refusals are told apart in events and counts, and both say the same.
func TestCountsAndEventsAgree(t *testing.T) {
	for _, observe := range []string{"", "a trial"} {
		inBubble(t, func(t *testing.T, r *rig) {
			r.cfg.ObserveOnly, r.cfg.OnAbandoned, r.cfg.PendingBound = observe, dedupe.RerunUnlessBegun, time.Minute
			r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
				switch id := op.Key().ID; {
				case strings.HasPrefix(id, "declined"):
					return "", dedupe.Permanent(errors.New("declined"))
				case strings.HasPrefix(id, "unknown"):
					return "", dedupe.Unknown(errPlain)
				case strings.HasPrefix(id, "panics") && r.ran(id) == 1:
					panic("a bug")
				case strings.HasPrefix(id, "exhausted"):
					return "", errPlain
				}
				return "done", nil
			}
			for i := range 3 {
				for _, id := range []string{"fine", "declined", "unknown", "panics", "exhausted"} {
					for copied := range 2 {
						m := message(fmt.Sprint(id, i), `{"amount":1}`)
						m.ID = fmt.Sprint(m.ID, copied)
						r.queue.send(m)
					}
				}
				r.queue.send(consumer.Message{ID: fmt.Sprint("keyless", i), Body: []byte(`{"amount":1}`)}, message(fmt.Sprint("fine", i), `{"amount":2}`))
			}
			w := r.start()
			elapse(20 * time.Minute)
			w.stop()
			want := consumer.Counts{DeadLettered: map[string]int64{}}
			for _, e := range r.events {
				tally(&want, e)
			}
			got := w.Counts()
			if got.Received != int64(len(r.events)) {
				t.Errorf("%d received, want %d", got.Received, len(r.events))
			}
			if got.Acked != want.Acked || got.Nacked != want.Nacked || got.Left != want.Left || !maps.Equal(got.DeadLettered, want.DeadLettered) ||
				got.Ran != want.Ran || got.Panicked != want.Panicked || got.Claimed != want.Claimed || got.Replayed != want.Replayed ||
				got.Mismatched != want.Mismatched || got.Pending != want.Pending || got.Failed != want.Failed || got.Busy != want.Busy || got.HandedBack != want.HandedBack {
				t.Errorf("counts and events differ\n%s\n%s", got, want)
			}
			if got.MissingKeys != 3 || got.Refused[consumer.ReasonMissingKey] != 3 || got.MissingKeyRatio() != 3/float64(got.Received) {
				t.Errorf("%d missing keys of %d, a ratio of %v; want 3", got.MissingKeys, got.Received, got.MissingKeyRatio())
			}
			if observe == "" && (got.Replayed == 0 || got.Mismatched != 3 || got.Failed == 0 || got.Pending == 0 || got.Panicked != 3) {
				t.Errorf("the run was too poor for this test:\n%s", got)
			}
			if claims := got.Claimed + got.Replayed + got.Failed + got.Busy + got.Pending + got.Exhausted + got.Mismatched; got.MismatchRatio() != float64(got.Mismatched)/float64(claims) {
				t.Errorf("mismatch ratio %v, want %d of %d", got.MismatchRatio(), got.Mismatched, claims)
			}
			if observe != "" {
				return
			}
			for _, want := range []string{"replayed", "dead letter: idempotency_key_missing", "dead letter: idempotency_key_reuse", "%"} {
				if !strings.Contains(got.String(), want) {
					t.Errorf("the report lacks %q:\n%s", want, got)
				}
			}
		})
	}
}

func tally(n *consumer.Counts, e consumer.Event) {
	one := func(is bool, to *int64) {
		if is {
			*to++
		}
	}
	one(e.Disposition == consumer.Acked, &n.Acked)
	one(e.Disposition == consumer.Nacked, &n.Nacked)
	one(e.Disposition == consumer.Left, &n.Left)
	if e.Disposition == consumer.DeadLettered {
		n.DeadLettered[e.Reason]++
	}
	one(e.Ran, &n.Ran)
	one(e.Panicked, &n.Panicked)
	one(e.HandedBack, &n.HandedBack)
	one(e.Outcome == dedupe.OutcomeClaimed, &n.Claimed)
	one(e.Outcome == dedupe.OutcomeReplay, &n.Replayed)
	one(e.Outcome == dedupe.OutcomeMismatch, &n.Mismatched)
	one(e.Outcome == dedupe.OutcomePending, &n.Pending)
	one(e.Outcome == dedupe.OutcomeFailed, &n.Failed)
	one(e.Outcome == dedupe.OutcomeBusy, &n.Busy)
}

// A dead letter that could not be made is a nack in the counts, and the refusal is counted all the same.
func TestCountsOfWhatCouldNotBeDeadLettered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.faults.deadLetter = func(*consumer.Message) error { return consumer.ErrNoDeadLetter }
		r.queue.send(consumer.Message{ID: "m", Body: []byte(`{"amount":1}`)})
		w := r.start()
		elapse(time.Minute)
		w.stop()
		if n := w.Counts(); n.MissingKeys != 1 || n.Nacked != 1 || len(n.DeadLettered) != 0 {
			t.Errorf("counts %+v, want a missing key, a nack, no dead letter", n)
		}
	})
}

func TestRatiosOfNothing(t *testing.T) {
	t.Parallel()
	var n consumer.Counts
	if n.MissingKeyRatio() != 0 || n.ReplayRatio() != 0 || n.BusyRatio() != 0 || n.MismatchRatio() != 0 {
		t.Error("a ratio of nothing is not 0")
	}
	if !strings.Contains(n.String(), "deliveries 0") {
		t.Errorf("the report of nothing:\n%s", n)
	}
}

// A body that decodes and has no digest is refused as one that does not decode, once, whatever else is wrong with its message.
func TestCountsOfBodiesWithoutDigest(t *testing.T) {
	for _, observe := range []string{"", "a trial"} {
		inBubble(t, func(t *testing.T, r *rig) {
			r.cfg.ObserveOnly = observe
			const text = `{"amount":1,"amount":2}`
			old := message("old", text)
			sentAgo(8 * 24 * time.Hour)(&old)
			r.queue.send(message("k", text), old)
			w := r.start()
			elapse(5 * time.Second)
			w.stop()
			want := map[string]int64{consumer.ReasonMalformedBody: 1, consumer.ReasonOlderThanWindow: 1}
			if n := w.Counts(); !maps.Equal(n.Refused, want) {
				t.Errorf("observe only %q: refused %v, want %v", observe, n.Refused, want)
			}
		})
	}
}

// What goes back behind the head of a group, since that failed or takes long, made no claim: no share of claims changes by it.
func TestCountsOfWhatGoesBackBehindAHead(t *testing.T) {
	for name, head := range map[string]func(context.Context, int) error{
		"fails once": func(_ context.Context, run int) error {
			if run == 1 {
				return errPlain
			}
			return nil
		},
		"takes long": func(ctx context.Context, _ int) error { return wait(ctx, 30*time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
					if op.Key().ID == "a" {
						return "done", head(ctx, r.ran("a"))
					}
					return "done", nil
				}
				r.queue.send(grouped("g", "a", "b", "c", "d", "e")...)
				w := r.start()
				elapse(10 * time.Minute)
				w.stop()
				r.wantEmpty()
				n := w.Counts()
				if n.BusyRatio() != 0 || n.HandedBack < 4 || n.Claimed != n.Ran {
					t.Errorf("busy %d of %d claims answered, want none, and four that were handed back\n%s", n.Busy, n.Claimed+n.Busy, n)
				}
				for _, e := range r.told("m-b")[:1] {
					if !e.HandedBack || e.Outcome != 0 || e.Disposition != consumer.Nacked {
						t.Errorf("told %+v, want it handed back without a claim", e)
					}
				}
				if !strings.Contains(n.String(), "handed back unseen") {
					t.Errorf("the report does not tell of it:\n%s", n)
				}
			})
		})
	}
}

// A copy of what runs in this process is a claim's answer all the same: it says what the claim would.
func TestCountsOfCopiesOfWhatRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, 15*time.Second)
		}
		again := message("k", `{"amount":1}`)
		again.ID = "again"
		r.queue.send(message("k", `{"amount":1}`), again)
		w := r.start()
		elapse(time.Minute)
		w.stop()
		if n := w.Counts(); n.Busy != 1 || n.HandedBack != 0 {
			t.Errorf("%d busy and %d handed back, want the copy busy\n%s", n.Busy, n.HandedBack, n)
		}
	})
}
