package dynamo_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
)

// Several workers write one record again and again, each time with a sale beside it, while answers and requests are lost and
// repeats come late. Whatever was stored of the record, by its writer's or by others' word, has one sale, and nothing else has any.
func TestEveryRecordHasTheWritesBesideItOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newTill(t)
				_, rec, _ := r.claimed(t, "completed")
				lossy(r, seed)
				var mu sync.Mutex
				sent, stored := map[string]bool{}, map[string]bool{} // revisions
				var workers sync.WaitGroup
				for w := range 3 {
					workers.Go(func() {
						random := rand.New(rand.NewPCG(seed, uint64(w)))
						current := dedupe.Record{Revision: "rev-B"}
						for i := range 12 {
							next := rec.Clone()
							next.Revision = fmt.Sprintf("rev-%d-%d", w, i)
							current = r.insist(t, random, dedupe.AtRevision(current.Revision), next)
							mu.Lock()
							sent[next.Revision], stored[current.Revision] = true, true
							mu.Unlock()
						}
					})
				}
				workers.Wait()
				for revision := range sent {
					want := "0"
					if stored[revision] {
						want = "1"
					}
					if n, fresh := r.count(t, revision), r.count(t, revision+"-new"); n != want || fresh != want {
						t.Errorf("%s: stored: %v, but it has %s and %s sales", revision, stored[revision], n, fresh)
					}
				}
				if len(stored) < 4 || len(stored) >= len(sent) {
					t.Errorf("%d of %d were stored, want some and not all", len(stored), len(sent))
				}
			})
		})
	}
}

// lossy makes transactions meet faults at random.
func lossy(r till, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 99))
	for _, f := range []awstest.Fault{
		awstest.DropAnswer("TransactWriteItems"), awstest.DropRequest("TransactWriteItems"),
		awstest.FailAfter("TransactWriteItems", 500, "InternalServerError"), awstest.Throttle("TransactWriteItems"),
	} {
		f.Match = func(awstest.Call) bool { return random.IntN(5) == 0 }
		r.server.Inject(f)
	}
}

// insist repeats one write until the record says what became of it, as the ledger does, now and then only after the token is forgotten.
// It gives the record as it is then.
func (r till) insist(t *testing.T, random *rand.Rand, expect dedupe.Expect, next dedupe.Record) (current dedupe.Record) {
	t.Helper()
	with := []types.TransactWriteItem{r.add(next.Revision), r.sold(next.Revision + "-new")}
	for range 100 {
		current, err := r.store.SwapWith(t.Context(), next.Key, expect, next, with)
		switch {
		case err == nil || errors.Is(err, dedupe.ErrConflict):
			return current
		case errors.Is(err, dedupe.ErrRejected) || errors.Is(err, dedupe.ErrSetup):
			t.Errorf("%s: %v", next.Revision, err)
		}
		pass(time.Duration(random.IntN(100)) * time.Millisecond)
		if random.IntN(4) == 0 {
			pass(11 * time.Minute)
		}
	}
	t.Errorf("%s: it was never told what became of it", next.Revision)
	return current
}
