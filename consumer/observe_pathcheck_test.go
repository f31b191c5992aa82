package consumer_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// refuses makes the store refuse one kind of call.
func (r *rig) refuses(refused string) {
	r.store.script(func(call, _ string, _ dedupe.Record) error {
		if call == refused {
			return errBroken
		}
		return nil
	}, nil)
}

// A path check whose answer cannot be written gives its slot to handlers, and is answered when the store takes writes again.
func TestObserveOnlyPathCheckHoldsNoSlot(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 1
		r.refuses("swap completed")
		check := newCheck(t, consumer.PathCheckConfig{})
		r.queue.send(checkMessage(check))
		w := r.start()
		elapse(time.Second / 2)
		r.queue.send(message("k", `{"amount":1}`))
		elapse(2 * time.Second) // the bounds of the check's completion and of the handler's
		r.wantRuns("k", 1)
		elapse(20 * time.Minute) // many attempts
		r.store.script(nil, nil)
		elapse(2 * time.Minute) // beyond the lease of the last
		if a, err := await(t, check, r.store); err != nil || !a.OK() {
			t.Errorf("got %v and %v, want the answer", a, err)
		}
		elapse(time.Second)
		w.stop()
		r.wantEmpty()
	})
}

// Like a handler's, a check's claim waits a second at most, and is not made while the store is known to be out.
func TestObserveOnlyPathChecksPassAStoreThatHangs(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 1
		r.store.takes = time.Hour
		for i := range 10 {
			m := checkMessage(newCheck(t, consumer.PathCheckConfig{}))
			m.ID = fmt.Sprint("check", i)
			r.queue.send(m)
		}
		w := r.start()
		elapse(time.Millisecond) // the checks come first
		r.queue.send(message("k", `{"amount":1}`))
		elapse(3100 * time.Millisecond)
		r.wantRuns("k", 1)
		w.stop()
	})
}

// A check whose claim is answered too late leaves no record that would make its next delivery wait for a lease.
func TestObserveOnlyPathCheckGivesALateClaimBack(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		first := true
		r.store.script(nil, func(call, _ string, _ dedupe.Record) error {
			if call == "swap in_progress" && first {
				first = false
				elapse(1200 * time.Millisecond) // the next delivery is half a second after the first at the earliest
			}
			return nil
		})
		check := newCheck(t, consumer.PathCheckConfig{})
		r.queue.send(checkMessage(check))
		w := r.start()
		elapse(10 * time.Second) // a lease is a minute
		w.stop()
		r.wantEmpty()
		if a, err := await(t, check, r.store); err != nil || !a.OK() {
			t.Errorf("got %v and %v, want the answer", a, err)
		}
	})
}

// A check that cannot be answered is dropped for the sake of what is behind it in its group, whatever the store refuses, and the
// log says so.
func TestObserveOnlyPathCheckHoldsNoGroup(t *testing.T) {
	for _, refused := range []string{"", "swap in_progress", "swap completed"} {
		t.Run(refused, func(t *testing.T) {
			observing(t, func(t *testing.T, r *rig) {
				log := &page{}
				r.cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
				r.refuses(refused)
				if refused == "" {
					r.store.fail(errBroken)
				}
				check := newCheck(t, consumer.PathCheckConfig{})
				r.queue.send(inGroup("g", checkMessage(check)), inGroup("g", message("k", `{"amount":1}`)))
				w := r.start()
				elapse(5 * time.Second)
				w.stop()
				r.wantRuns("k", 1)
				r.wantEmpty()
				if n := r.queue.count("nack"); n != 0 {
					t.Errorf("%d nacks, want none: they count as deliveries", n)
				}
				if got := strings.Count(log.String(), "path check could not be answered"); got != 1 {
					t.Errorf("the log tells of it %d times, want once:\n%s", got, log)
				}
				if e := r.first("check"); !e.PathCheck || e.Disposition != consumer.Acked || e.Err == nil {
					t.Errorf("told %+v, want a check that was acked, and why it was not answered", e)
				}
			})
		})
	}
}

// At a stop nothing waits behind a check, and the next worker may answer it.
func TestObserveOnlyPathCheckGoesBackAtAStop(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.store.takes = time.Hour
		check := newCheck(t, consumer.PathCheckConfig{})
		r.queue.send(inGroup("g", checkMessage(check)))
		w := r.start()
		elapse(time.Second / 2)
		w.stop()
		if n := r.queue.left(); n != 1 {
			t.Errorf("%d messages are left, want the check", n)
		}
	})
}
