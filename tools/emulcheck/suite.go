package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	caseTimeout = 30 * time.Second
	// Most SQS cases wait for a timeout of a second or two, each on queues of its own.
	atOnce = 6
)

// sometimes begins the reason of a case that a server fails now and then, such as a race that it loses; it may pass.
const sometimes = "sometimes "

// The words that a case's line begins with.
const (
	passed   = "pass"
	failed   = "FAIL"
	informed = "info"
	expected = "known"
	passes   = "PASSES"
	absent   = "UNKNOWN"
)

type suite struct {
	filter string
	known  map[string]string

	mu    sync.Mutex
	asked map[string]bool
	count map[string]int
}

func (s *suite) inOrder(cases []testCase) {
	for _, c := range cases {
		s.ask(c)
	}
}

func (s *suite) together(cases []testCase) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, c := range cases {
		slots <- struct{}{}
		wg.Go(func() {
			s.ask(c)
			<-slots
		})
	}
	wg.Wait()
}

func (s *suite) ask(c testCase) {
	if !strings.Contains(c.name, s.filter) {
		return
	}
	from := time.Now()
	err := attempt(c)
	reason, listed := s.known[c.name]
	n, noted := errors.AsType[note](err)
	switch {
	case noted:
		s.report(informed, c.name, from, n.text)
	case err == nil && listed && !strings.HasPrefix(reason, sometimes):
		s.report(passes, c.name, from, "remove it from the list of known failures: "+reason)
	case err == nil:
		s.report(passed, c.name, from, "")
	case listed:
		s.report(expected, c.name, from, reason)
	default:
		s.report(failed, c.name, from, short(err))
	}
}

// attempt turns a panic into a failure: an answer without the fields that a case reads is one.
func attempt(c testCase) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), caseTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.run(ctx)
}

// wait lets a server's clock go on; the context ends it early, and the case's next call then fails.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (s *suite) report(word, name string, from time.Time, detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked, s.count = map[string]bool{}, map[string]int{}
	}
	s.asked[name] = true
	s.count[word]++
	fmt.Fprintln(os.Stdout, strings.TrimSpace(fmt.Sprintf("%-6s %-45s %7.0f ms  %s", word, name, float64(time.Since(from).Microseconds())/1000, detail)))
}

// unasked reports lines of the known list that name no case.
func (s *suite) unasked(sqs, dynamo bool) {
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		ours := sqs && strings.HasPrefix(name, "sqs.") || dynamo && strings.HasPrefix(name, "ddb.")
		if ours && !s.asked[name] {
			s.report(absent, name, time.Now(), "the list of known failures names a case that does not exist")
		}
	}
}

func (s *suite) counts() string {
	return fmt.Sprintf("%d passed, %d failed, %d known failures, %d passed unexpectedly, %d informative",
		s.count[passed], s.count[failed], s.count[expected], s.count[passes], s.count[informed])
}

func (s *suite) err() error {
	if s.count[failed]+s.count[passes]+s.count[absent] > 0 {
		return errors.New("not as expected: see the lines with FAIL, PASSES or UNKNOWN")
	}
	if s.count[passed] == 0 {
		return errors.New("nothing passed")
	}
	return nil
}
