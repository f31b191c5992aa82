package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// world is what the checks of one run share: the clients, and the names of all that was created. It is safe for concurrent use.
type world struct {
	sqs    *sqs.Client
	dynamo *dynamodb.Client
	prefix string // of this run
	aws    bool   // the real one, not a server like it
	table  table
	serial atomic.Int64

	mu     sync.Mutex
	queues []string // names, written down before they are created: an answer may be lost
	tables []string
}

// newWorld draws the names: two runs in one account never meet.
func newWorld(s *sqs.Client, d *dynamodb.Client, prefix string, onAWS bool) *world {
	w := &world{sqs: s, dynamo: d, prefix: prefix + strings.ToLower(rand.Text()[:10]) + "-", aws: onAWS}
	w.table = table{name: w.prefix + "records", ready: make(chan struct{})}
	return w
}

// tag marks what this program creates, so that a person can find what an ended machine left behind.
const (
	tagName  = "created-by"
	tagValue = "claimonce-verifyaws"
)

// next is a name that no other check of the run has.
func (w *world) next() string { return fmt.Sprintf("%s%d", w.prefix, w.serial.Add(1)) }

func (w *world) noteQueue(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queues = append(w.queues, name)
}

func (w *world) noteTable(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tables = append(w.tables, name)
}

// created gives names of all that may exist.
func (w *world) created() (queues, tables []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.queues...), append([]string(nil), w.tables...)
}

// pause waits. It reports an error if ctx ended first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// within repeats a look until it finds the fact to hold or the time is over: for what AWS calls eventually consistent.
func within(ctx context.Context, limit time.Duration, look func() error) error {
	end := time.Now().Add(limit)
	for {
		err := look()
		if err == nil || time.Now().After(end) {
			return err
		}
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}
