package awstest

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type faults struct {
	matching sync.Mutex // held while Match functions run, one at a time
	mu       sync.Mutex // not held then, so that a Match function can remove a fault
	active   []*Fault
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

func (fs *faults) removeLocked(p *Fault) bool {
	i := slices.Index(fs.active, p)
	if i >= 0 {
		fs.active = slices.Delete(slices.Clone(fs.active), i, i+1) // snapshot's callers still read the old one
	}
	return i >= 0
}

func (fs *faults) snapshot() []*Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.Clip(fs.active)
}

// hit gives the fault of a call, and counts it.
func (fs *faults) hit(c Call) Fault {
	fs.matching.Lock()
	defer fs.matching.Unlock()
	for _, f := range fs.snapshot() {
		if f.Operation != "" && f.Operation != c.Operation || f.Match != nil && !f.Match(c) {
			continue
		}
		if hit, ok := fs.use(f); ok {
			return hit
		}
	}
	return Fault{}
}

// use counts a hit; ok is false if the fault was removed meanwhile.
func (fs *faults) use(f *Fault) (hit Fault, ok bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if !slices.Contains(fs.active, f) {
		return Fault{}, false
	}
	if f.Times > 0 {
		if f.Times--; f.Times == 0 {
			fs.removeLocked(f)
		}
	}
	return *f, true
}

// around performs a call with whatever fault it meets.
func (fs *faults) around(ctx context.Context, svc wire.Service, c Call) (any, *wire.Error) {
	f := fs.hit(c)
	f.pause(ctx, c, f.Before, f.before)
	refusal := f.refusal(c.Service)
	if (f.drop || refusal != nil) && !f.apply {
		f.cut(f.drop)
		return nil, refusal
	}
	out, own := f.perform(ctx, svc, c)
	f.pause(ctx, c, f.After, f.after)
	f.cut(f.drop)
	if refusal != nil {
		return nil, refusal
	}
	return out, own
}

func (f Fault) perform(ctx context.Context, svc wire.Service, c Call) (any, *wire.Error) {
	switch {
	case f.code != "":
		return partlyStatements(ctx, svc, c, f)
	case len(f.entries) > 0:
		return partly(ctx, svc, c, f)
	}
	return svc.Call(ctx, c.Operation, c.Body)
}

// pause goes no further for a client that gave up meanwhile.
func (f Fault) pause(ctx context.Context, c Call, do func(context.Context, Call), d time.Duration) {
	if do != nil {
		do(ctx, c)
		f.cut(ctx.Err() != nil)
	}
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			f.cut(true)
		}
	}
}

// cut ends the connection without an answer.
func (Fault) cut(now bool) {
	if now {
		panic(http.ErrAbortHandler)
	}
}
