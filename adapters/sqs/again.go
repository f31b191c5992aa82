package sqs

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// answer is what a batch call says of its entries, by their ids.
type answer struct {
	done   []string
	failed []types.BatchResultErrorEntry
}

// batchCall sends the entries at these positions; an entry's id is its place among them.
type batchCall func(ctx context.Context, open []int) (answer, error)

// entryTries is how often an entry is sent, beside what the SDK repeats of a call.
const entryTries = 5

// eachUntilDone sends the entries that failed through no fault of theirs again, and no others. A batch can be answered with status
// 200 and failed entries in it.
func (s *Source) eachUntilDone(ctx context.Context, handles []string, report func(int, error), call batchCall) {
	errs := make([]error, len(handles))
	open := make([]int, len(handles))
	for i := range open {
		open[i] = i
	}
	for try := 1; len(open) > 0; try++ {
		tryBatch(ctx, handles, open, errs, call)
		var again []int
		for _, i := range open {
			if try < entryTries && worthAgain(errs[i]) {
				again = append(again, i)
			} else {
				report(i, errs[i])
			}
		}
		if len(again) > 0 {
			s.cfg.Logger.WarnContext(ctx, "entries of a batch failed; sending them again", "queue", nameOf(s.url),
				"entries", len(again), "of", len(open), "try", try, "err", errs[again[0]])
			if !pause(ctx, try) {
				for _, i := range again {
					report(i, errs[i])
				}
				return
			}
		}
		open = again
	}
}

// tryBatch sends the open entries once and notes what became of each.
func tryBatch(ctx context.Context, handles []string, open []int, errs []error, call batchCall) {
	a, err := call(ctx, open)
	if err != nil && len(open) > 1 && handleIsOver(err) {
		// A server that refuses a batch for one handle's sake. The others are held, and to take them for lost would end their handlers.
		for _, i := range open {
			tryBatch(ctx, handles, []int{i}, errs, call)
		}
		return
	}
	for _, i := range open {
		if errs[i] = veil(err, handles); err == nil {
			errs[i] = errUnconfirmed
		}
	}
	for _, id := range a.done {
		if p, ok := place(id, open); ok {
			errs[open[p]] = nil
		}
	}
	for _, f := range a.failed {
		if p, ok := place(aws.ToString(f.Id), open); ok {
			i, code := open[p], aws.ToString(f.Code)
			errs[i] = &entryError{
				code: code, message: strings.ReplaceAll(aws.ToString(f.Message), handles[i], "…"),
				again: !f.SenderFault || strings.Contains(code, "Throttl"),
			}
		}
	}
}

// errUnconfirmed: an ack counts once the queue has confirmed it, not when it has said nothing against it.
var errUnconfirmed = errors.New("the answer says nothing of this entry")

func place(id string, open []int) (p int, ok bool) {
	p, err := strconv.Atoi(id)
	return p, err == nil && p >= 0 && p < len(open)
}

func worthAgain(err error) bool {
	if e, ok := errors.AsType[*entryError](err); ok {
		return e.again
	}
	return errors.Is(err, errUnconfirmed) || retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err).Bool()
}

// pause doubles with each try, give or take a half, so that workers which failed together do not come back together.
func pause(ctx context.Context, try int) bool {
	d := 100 * time.Millisecond << (try - 1)
	t := time.NewTimer(d/2 + rand.N(d)) //nolint:gosec // spreads load, guards nothing
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
