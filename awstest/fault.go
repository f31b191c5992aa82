package awstest

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// A Fault is something that goes wrong with calls that it matches. Make one with [FailBefore], [DropAnswer], [Delay], [Throttle] or
// [FailEntries], and change Match and Times as needed.
type Fault struct {
	// Operation is the name of the calls, for example PutItem; "": all.
	Operation string
	// Match, if not nil, picks among the calls of that operation.
	Match func(Call) bool
	// Times is how many calls it hits; 0: all, until it is removed.
	Times int

	before  time.Duration // waits, then applies
	after   time.Duration // applies, then waits
	refuse  *wire.Error   // is not applied
	drop    bool          // is applied, and the answer lost
	entries []int         // of a batch: not applied, and reported as failed
	sender  bool          // as the sender's fault
}

// FailBefore refuses calls without applying them, as a service does: with an HTTP status and an error code, for example 500 and
// InternalServerError.
func FailBefore(operation string, status int, code string) Fault {
	return Fault{Operation: operation, refuse: &wire.Error{Status: status, Code: code, Message: "injected: " + code}}
}

// Throttle refuses calls as a service under too much load does; the SDK tries again.
func Throttle(operation string) Fault {
	return FailBefore(operation, http.StatusBadRequest, "ThrottlingException")
}

// DropAnswer applies calls and cuts the connection instead of answering.
func DropAnswer(operation string) Fault { return Fault{Operation: operation, drop: true} }

// Delay makes calls wait: before they are applied, and after that before they are answered. A client that gives up in the first wait
// leaves nothing applied.
func Delay(operation string, before, after time.Duration) Fault {
	return Fault{Operation: operation, before: before, after: after}
}

// FailEntries reports entries of a batch call, by their position, as failed, without applying them. sender says whose fault it is.
func FailEntries(operation string, sender bool, positions ...int) Fault {
	return Fault{Operation: operation, sender: sender, entries: positions}
}

// Once makes a fault hit one call only.
func (f Fault) Once() Fault {
	f.Times = 1
	return f
}

// Inject adds a fault. Of several that match a call the oldest hits it.
func (s *Server) Inject(f Fault) (remove func()) { return s.faults.add(f) }

type faults struct {
	mu     sync.Mutex
	active []*Fault
}

func (fs *faults) add(f Fault) (remove func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	p := &f
	fs.active = append(fs.active, p)
	return func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.removeLocked(p)
	}
}

func (fs *faults) removeLocked(p *Fault) {
	for i, f := range fs.active {
		if f == p {
			fs.active = append(fs.active[:i:i], fs.active[i+1:]...)
			return
		}
	}
}

// hit gives the fault of a call, and counts it.
func (fs *faults) hit(c Call) Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.active {
		if f.Operation != "" && f.Operation != c.Operation || f.Match != nil && !f.Match(c) {
			continue
		}
		hit := *f
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				fs.removeLocked(f)
			}
		}
		return hit
	}
	return Fault{}
}

// around performs a call with whatever fault it meets.
func (fs *faults) around(ctx context.Context, svc wire.Service, c Call) (any, *wire.Error) {
	f := fs.hit(c)
	if !wait(ctx, f.before) {
		panic(http.ErrAbortHandler) // the client is gone
	}
	if f.refuse != nil {
		return nil, f.refuse
	}
	var out any
	var refusal *wire.Error
	if len(f.entries) > 0 {
		out, refusal = partly(ctx, svc, c, f)
	} else {
		out, refusal = svc.Call(ctx, c.Operation, c.Body)
	}
	if f.drop || !wait(ctx, f.after) {
		panic(http.ErrAbortHandler)
	}
	return out, refusal
}

func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
