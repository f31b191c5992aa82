package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
)

// ordered is a world in which the order of effects is kept for each group: a key is its group's letter and a number.
type ordered struct {
	d       *dice
	mu      sync.Mutex
	effects map[string][]string
	running map[string]int
	beside  []string // keys that ran beside another one of their group
}

func (o *ordered) handle(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
	id := op.Key().ID
	group := id[:1]
	o.mu.Lock()
	if o.running[group]++; o.running[group] > 1 {
		o.beside = append(o.beside, id)
	}
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.running[group]--
	}()
	if err := wait(ctx, o.d.upTo(15*time.Second)); err != nil {
		return "", err
	}
	switch {
	case strings.HasSuffix(id, "-poison"):
		return "", dedupe.Permanent(errors.New("declined"))
	case o.d.roll(0.2):
		return "", errPlain
	case o.d.roll(0.1):
		panic("at random")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.effects[group] = append(o.effects[group], id)
	return "done", nil
}

// Groups, faults of every call, handlers that fail, and deployments, on the real adapter and store: the effects of each group are in the
// order of its messages, each once, and only what can never succeed is a dead letter.
func TestFIFORandomFaults(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inFIFOCloud(t, func(t *testing.T, r *rig) { fifoRandomFaults(t, r, seed) })
		})
	}
}

func fifoRandomFaults(t *testing.T, r *rig, seed uint64) {
	o := &ordered{d: newDice(seed), effects: map[string][]string{}, running: map[string]int{}}
	r.handle = o.handle
	r.cfg.Workers, r.cfg.Drain, r.cfg.Ledger.AttemptBound = 4, 5*time.Second, 1000
	want, poison := sendOrdered(r)
	workers := []*worker{r.start(), r.start(), r.start()}
	elapse(time.Second)
	for _, op := range []string{"PutItem", "GetItem", "ReceiveMessage", "DeleteMessageBatch", "ChangeMessageVisibilityBatch", "SendMessage"} {
		for _, f := range []awstest.Fault{
			awstest.FailBefore(op, 500, "InternalServerError"), awstest.DropAnswer(op), awstest.Throttle(op),
			awstest.Delay(op, 50*time.Millisecond, 50*time.Millisecond),
		} {
			f.Match = func(awstest.Call) bool { return o.d.roll(0.1) }
			r.cloud.server.Inject(f)
		}
	}
	for i := range 12 {
		elapse(o.d.upTo(20 * time.Second))
		workers[i%3].stop()
		workers[i%3] = r.start()
	}
	elapse(3 * time.Hour)
	for _, w := range workers {
		w.stop()
	}
	for group, ids := range want {
		if got := o.effects[group]; !slices.Equal(got, ids) {
			t.Errorf("group %s took effect as %q, want %q", group, got, ids)
		}
	}
	if len(o.beside) > 0 {
		t.Errorf("%q ran beside another of their group", o.beside)
	}
	if left := r.cloud.left(); len(left) != 0 {
		t.Errorf("%d messages are left, the first %+v", len(left), left[0])
	}
	dead := map[string]bool{} // there may be copies
	for _, m := range r.cloud.letters() {
		dead[m.Attributes["Idempotency-Key"]] = true
	}
	for _, id := range poison {
		if !dead[id] {
			t.Errorf("%s is no dead letter", id)
		}
	}
	if len(dead) != len(poison) {
		t.Errorf("dead letters %v, want %v", dead, poison)
	}
}

// sendOrdered fills five groups, and sends some keys again in their own group.
func sendOrdered(r *rig) (want map[string][]string, poison []string) {
	want = map[string][]string{}
	for i := range 10 {
		for _, group := range []string{"a", "b", "c", "d", "e"} {
			id := fmt.Sprint(group, i)
			if i == 4 {
				id += "-poison"
				poison = append(poison, id)
			} else {
				want[group] = append(want[group], id)
			}
			r.cloud.toGroup(group, id)
			if i%3 == 2 {
				r.cloud.toGroup(group, want[group][0])
			}
		}
	}
	return want, poison
}
