package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

var errKilled = errors.New("killed by the test")

// mortal is a worker that can die like a process does: no call of it gets through any more, and its handlers do nothing more.
type mortal struct {
	*worker

	plug *plug
	dead chan struct{}
}

func startMortal(r *rig, handle func(context.Context, *dedupe.Operation, order) (string, error)) *mortal {
	r.t.Helper()
	own, p := r.cloud.plugged()
	m := &mortal{plug: p, dead: make(chan struct{})}
	alive := func(ctx context.Context, op *dedupe.Operation, o order) (string, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		go func() {
			select {
			case <-m.dead:
				cancel(errKilled)
			case <-ctx.Done():
			}
		}()
		return handle(ctx, op, o)
	}
	c, err := consumer.New(r.operation, own.source(), own.records(), consumer.JSON(alive), r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	m.worker = startWorker(r.t, c)
	return m
}

func (m *mortal) kill() {
	close(m.dead)
	m.plug.pull()
	m.cancel()
}

// Workers die at any moment, claims and deletes on their way. Of each group the effects are in the order of its messages; one whose
// worker died between the effect and its record, and none else, may take effect again, as it must with Rerun, before the next one does.
func TestFIFORandomCrashes(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inFIFOCloud(t, func(t *testing.T, r *rig) {
				o := &ordered{d: newDice(seed), effects: map[string][]string{}, running: map[string]int{}}
				r.cfg.Workers, r.cfg.Drain, r.cfg.Ledger.AttemptBound = 4, 5*time.Second, 1000
				want, _ := sendOrdered(r)
				var all []*mortal
				workers := make([]*mortal, 3)
				start := func(i int) {
					workers[i] = startMortal(r, o.handle)
					all = append(all, workers[i])
				}
				for i := range workers {
					start(i)
				}
				for i := range 15 {
					elapse(o.d.upTo(20 * time.Second))
					workers[i%3].kill()
					start(i % 3)
				}
				elapse(5 * time.Hour)
				for _, w := range workers {
					w.stop()
				}
				for _, w := range all[:len(all)-3] {
					if err := <-w.done; err != nil {
						t.Logf("a killed worker ended with %v", err)
					}
				}
				repeats := 0
				for group, ids := range want {
					got := o.effects[group]
					repeats += len(got) - len(ids)
					if got = slices.Compact(slices.Clone(got)); !slices.Equal(got, ids) {
						t.Errorf("group %s took effect as %q, want %q", group, o.effects[group], ids)
					}
				}
				if repeats > 15 {
					t.Errorf("%d effects were repeated by 15 deaths", repeats)
				}
				if left := r.cloud.left(); len(left) != 0 {
					t.Errorf("%d messages are left, the first %+v", len(left), left[0])
				}
			})
		})
	}
}
