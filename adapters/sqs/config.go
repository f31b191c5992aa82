package sqs

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Config are the settings of a [Source]; the zero value of each field means its default.
type Config struct {
	// DeadLetterURL is the queue for dead letters. Default: the one of the queue's redrive policy.
	DeadLetterURL string
	// Visibility is how long a received message stays hidden; whole seconds, 3 s to 12 h. Default: the queue's own.
	Visibility time.Duration
	// WaitTime is how long a poll waits for a message; whole seconds, at most 20 s. Default 20 s.
	WaitTime time.Duration
	// GatherTime is how long deletes and visibility changes are gathered while another batch is under way. Default 200 ms.
	GatherTime time.Duration
	// Logger gets what a person should hear of. Default: none.
	Logger *slog.Logger
}

const (
	maxWait       = 20 * time.Second
	maxVisibility = 12 * time.Hour
	minVisibility = 3 * time.Second
)

func (c Config) withDefaults() Config {
	if c.WaitTime == 0 {
		c.WaitTime = maxWait
	}
	if c.GatherTime == 0 {
		c.GatherTime = 200 * time.Millisecond
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate(queueURL string) error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(queueURL == "", "the queue's URL is empty")
	bad(strings.HasSuffix(queueURL, ".fifo"), "%s is a FIFO queue, which is not supported yet; use a standard queue", nameOf(queueURL))
	bad(c.Visibility != 0 && (c.Visibility < minVisibility || c.Visibility > maxVisibility || c.Visibility%time.Second != 0),
		"Visibility is %v; SQS takes whole seconds, here from %v to %v", c.Visibility, minVisibility, maxVisibility)
	bad(c.WaitTime < 0 || c.WaitTime > maxWait || c.WaitTime%time.Second != 0, "WaitTime is %v; SQS takes whole seconds up to %v", c.WaitTime, maxWait)
	bad(c.GatherTime < 0, "GatherTime is %v; it must be positive (0 means the default)", c.GatherTime)
	return errors.Join(errs...)
}

// nameOf is the queue's name: the last part of its URL.
func nameOf(queueURL string) string { return queueURL[strings.LastIndexByte(queueURL, '/')+1:] }
