package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

var (
	errDeclined    = errors.New("declined: the charge was disputed")
	errTimeout     = errors.New("no answer in time")
	errUnreachable = errors.New("connection refused")
	errRejected    = errors.New("the provider's address is not configured")
	errVoid        = errors.New("the key was voided")
)

// providerTimeout is the longest that a request of this provider can be on its way.
const providerTimeout = 300 * time.Millisecond

// payment is one line of the provider's ledger: money that was paid back.
type payment struct {
	ID        string `json:"id"`
	Key       string `json:"key"`       // the downstream key that came with the request
	Operation string `json:"operation"` // who asked, as told by the caller
}

// provider stands for the payment provider. It keeps its own ledger of every refund that it pays and recognises no keys that it
// has paid: asked twice, it pays twice, so that its ledger is an independent count of what really happened. It can void a key,
// after which it refuses it. How a charge behaves is told by its id.
type provider struct {
	mu       sync.Mutex
	paid     []payment
	byKey    map[string]payment
	voided   map[string]bool
	attempts map[string]int // of a charge
	file     *os.File       // nil: in memory
}

// openProvider reads what an earlier run paid.
func openProvider(path string) (*provider, error) {
	p := &provider{byKey: map[string]payment{}, voided: map[string]bool{}, attempts: map[string]int{}}
	if path == "" {
		return p, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the provider's ledger: %w", err)
	}
	p.file = f
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var pay payment
		if err := json.Unmarshal(lines.Bytes(), &pay); err != nil {
			return nil, errors.Join(fmt.Errorf("the provider's ledger %s, line %d is no payment: %w", path, n, err), f.Close())
		}
		p.paid = append(p.paid, pay)
		p.byKey[pay.Key] = pay
	}
	return p, lines.Err()
}

func (p *provider) close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// reachable says whether a request can be sent at all.
func (p *provider) reachable(charge string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts[charge]++
	switch {
	case strings.HasPrefix(charge, "ch_flaky_") && p.attempts[charge] <= 2:
		return errUnreachable
	case strings.HasPrefix(charge, "ch_broken_"):
		return errRejected
	}
	return nil
}

// tries is how often a charge's refund was tried.
func (p *provider) tries(charge string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.attempts[charge]
}

// refund pays back, unless it declines; "late" charges are paid and then not answered.
func (p *provider) refund(ctx context.Context, key string, op dedupe.Key, r Refund) (id string, err error) {
	switch {
	case strings.HasPrefix(r.Charge, "ch_disputed_"):
		return "", errDeclined
	case strings.HasPrefix(r.Charge, "ch_lost_") && p.tries(r.Charge) == 1:
		return "", errTimeout // the request never arrived, which nobody but the provider can know
	case strings.HasPrefix(r.Charge, "ch_slow_"):
		if err := wait(ctx, providerTimeout); err != nil {
			return "", err
		}
	}
	id, err = p.pay(key, op)
	if err == nil && strings.HasPrefix(r.Charge, "ch_late_") {
		return "", errTimeout
	}
	return id, err
}

func (p *provider) pay(key string, op dedupe.Key) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.voided[key] {
		return "", errVoid
	}
	pay := payment{ID: fmt.Sprintf("re_%06d", len(p.paid)+1), Key: key, Operation: op.StoreID()}
	if p.file != nil {
		line, err := json.Marshal(pay)
		if err != nil {
			return "", err
		}
		if _, err := p.file.Write(append(line, '\n')); err != nil {
			return "", err
		}
	}
	p.paid = append(p.paid, pay)
	p.byKey[key] = pay
	return pay.ID, nil
}

// void makes sure that a key is never paid from now on, and tells what was paid for it before.
func (p *provider) void(key string) (pay payment, paid bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.voided[key] = true
	pay, paid = p.byKey[key]
	return pay, paid
}

// effects counts what was paid for a set of operations, and what was paid too often.
func (p *provider) effects(of map[string]bool) (effects, double int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	times := map[string]int{}
	for _, pay := range p.paid {
		if of[pay.Operation] {
			effects++
			times[pay.Operation]++
		}
	}
	for _, n := range times {
		double += n - 1
	}
	return effects, double
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
