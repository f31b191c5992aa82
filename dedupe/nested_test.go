package dedupe_test

import (
	"context"
	"errors"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
)

// A handler that runs another operation inside and returns that one's error has proved nothing of its own effect: it must be neither
// run again nor called failed.
func TestVerdictOfAnInnerOperationIsNotTheOuters(t *testing.T) {
	for name, verdict := range map[string]func(error) error{"not committed": dedupe.NotCommitted, "permanent": dedupe.Permanent} {
		t.Run(name, func(t *testing.T) {
			bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
				inner := dedupe.Key{Operation: "mail", ID: "inner"}
				_, err := dedupe.Do(t.Context(), l, key, refund{100}, func(ctx context.Context, op *dedupe.Operation) (receipt, error) {
					if _, err := op.Begin(ctx, "charge"); err != nil {
						return receipt{}, err
					}
					_, err := dedupe.Do(ctx, l, inner, refund{1}, func(context.Context, *dedupe.Operation) (receipt, error) {
						return receipt{}, verdict(errors.New("mail server says no"))
					})
					return receipt{}, err
				})
				if !errors.Is(err, dedupe.ErrOutcomePending) {
					t.Errorf("got %v, want the outer outcome to be pending", err)
				}
				if rec, _ := l.Load(t.Context(), key); rec.State != dedupe.StateUnknown {
					t.Errorf("the outer operation is %v, want unknown: it had begun", rec.State)
				}
			})
		})
	}
}

// A person decided on what the record said then. Changed meanwhile, the decision is void.
func TestOperatorDecidesOnWhatWasSeen(t *testing.T) {
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		ctx := t.Context()
		charge := func(ctx context.Context, op *dedupe.Operation) (receipt, error) {
			_, err := op.Begin(ctx, "charge")
			return receipt{}, errors.Join(err, errors.New("no answer"))
		}
		_, _ = dedupe.Do(ctx, l, key, refund{100}, charge)
		old := lookedAt(ctx, l, key)
		if _, err := l.ResolveBy(ctx, old, "ann", "looked", dedupe.StateReleased, nil); err != nil {
			t.Fatal(err)
		}
		_, _ = dedupe.Do(ctx, l, key, refund{100}, charge) // unknown again, and this time it may have charged
		for name, err := range map[string]error{
			"resolve":  second(l.ResolveBy(ctx, old, "bob", "looked yesterday", dedupe.StateReleased, nil)),
			"override": second(l.Override(ctx, old, dedupe.Override{Action: dedupe.ActionRelease, Operator: "bob", Reason: "old", Resend: "bob"})),
		} {
			if !errors.Is(err, dedupe.ErrConflict) {
				t.Errorf("%s on an old view: got %v, want ErrConflict", name, err)
			}
		}
		if rec := lookedAt(ctx, l, key); rec.State != dedupe.StateUnknown {
			t.Errorf("the record is %v, want unknown", rec.State)
		}
	})
}

type angry struct{}

func (angry) MarshalJSON() ([]byte, error) { panic("no") }

// The effect has happened: a result that cannot be encoded is left out, whatever way it fails.
func TestResultWhoseEncodingPanicsIsOmitted(t *testing.T) {
	t.Parallel()
	if res := dedupe.JSONResult(angry{}); res.Omitted != dedupe.OmittedNotEncodable || res.Body != nil {
		t.Errorf("got %+v, want an omitted result", res)
	}
}
