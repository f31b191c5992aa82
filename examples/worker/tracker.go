package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// tracker counts what the consumer reports, and knows when everything is done with.
type tracker struct {
	show  *progress
	label string // of this run's keys: a server may hold messages of others

	mu       sync.Mutex
	counts   counts
	keys     map[dedupe.Key]bool
	waiting  map[string]bool // messages sent and not done with
	finished map[string]bool // done with, maybe before the sender heard of its id
	open     map[dedupe.Key]bool
	sending  bool
	unknown  chan dedupe.Key
	done     chan struct{}
	isDone   bool
}

type counts struct {
	deliveries, runs, replayed, mismatched, deadLettered int
}

func newTracker(label string, reqs []request, show *progress) *tracker {
	return &tracker{
		show: show, label: label, keys: map[dedupe.Key]bool{}, waiting: map[string]bool{}, finished: map[string]bool{}, open: map[dedupe.Key]bool{},
		sending: true, unknown: make(chan dedupe.Key, len(reqs)*8), done: make(chan struct{}),
	}
}

// delivery is told what became of each message.
func (t *tracker) delivery(_ context.Context, e consumer.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.deliveries++
	if e.Ran {
		t.counts.runs++
	}
	if e.Replayed {
		t.counts.replayed++
	}
	if e.Outcome == dedupe.OutcomeMismatch {
		t.counts.mismatched++
	}
	final := e.Disposition == consumer.Acked && e.Err == nil
	if e.Disposition == consumer.DeadLettered {
		t.counts.deadLettered++
		final = true
	}
	if e.Outcome != 0 && strings.HasSuffix(e.Key.ID, "-"+t.label) {
		t.keys[e.Key] = true
	}
	if final {
		t.finished[e.MessageID] = true
		delete(t.waiting, e.MessageID)
	}
	t.progressed()
}

// transition is told what became of each record. An unknown outcome can be one that an earlier run left behind.
func (t *tracker) transition(_ context.Context, o dedupe.Observation) {
	if o.Err != nil || o.To != dedupe.StateUnknown {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.open[o.Key] {
		t.open[o.Key] = true
		select {
		case t.unknown <- o.Key:
		default: // more than every message can cause; the summary would show it as unknown
		}
	}
}

func (t *tracker) settled(key dedupe.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, key)
	t.progressed()
}

func (t *tracker) sent(ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		if !t.finished[id] {
			t.waiting[id] = true
		}
	}
}

func (t *tracker) allSent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sending = false
	t.progressed()
}

// progressed is called with mu held.
func (t *tracker) progressed() {
	t.show.set(len(t.finished), t.counts, len(t.open))
	if !t.isDone && !t.sending && len(t.waiting) == 0 && len(t.open) == 0 {
		t.isDone = true
		close(t.done)
	}
}

func (t *tracker) snapshot() (c counts, keys []dedupe.Key, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts, slices.Collect(maps.Keys(t.keys)), len(t.waiting)
}
