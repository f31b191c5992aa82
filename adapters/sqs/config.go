package sqs

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Config are the settings of a [Source]; the zero value of each field means its default.
type Config struct {
	// DeadLetterURL is the queue for dead letters, FIFO if the queue itself is and standard else. Default: the one of the queue's
	// redrive policy.
	DeadLetterURL string
	// Envelope is what bodies are wrapped in, for example [SNS]. Default: nothing.
	Envelope Envelope
	// Visibility is how long a received message stays hidden; whole seconds, 3 s to 12 h. Default: the queue's own, read once.
	Visibility time.Duration
	// WaitTime is how long a poll waits for a message; whole seconds, at most 20 s. Default 20 s.
	WaitTime time.Duration
	// GatherTime is how long deletes and visibility changes are gathered while another batch is under way. Default 200 ms.
	GatherTime time.Duration
	// CloseWait is how long Close waits for a poll that is under way before it cuts the connection. A message that the queue answers
	// to a cut connection stays hidden for its visibility although nobody has it. Default 1 s; as long as WaitTime, none is.
	CloseWait time.Duration
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
	if c.CloseWait == 0 {
		c.CloseWait = time.Second
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
	bad(!isURL(queueURL), "the queue's URL %q names no queue; it looks like https://sqs.eu-west-1.amazonaws.com/123456789012/refunds", queueURL)
	bad(c.DeadLetterURL != "" && !isURL(c.DeadLetterURL), "DeadLetterURL %q names no queue; it looks like the queue's own URL", c.DeadLetterURL)
	if err := sameKind(queueURL, c.DeadLetterURL); err != nil {
		errs = append(errs, fmt.Errorf("DeadLetterURL: %w", err))
	}
	bad(c.DeadLetterURL != "" && c.DeadLetterURL == queueURL, "DeadLetterURL is the queue itself: dead letters would come back for ever")
	bad(c.Envelope != 0 && c.Envelope != SNS, "Envelope is %d, which is none; leave it out, or set it to sqs.SNS", c.Envelope)
	bad(c.Visibility != 0 && (c.Visibility < minVisibility || c.Visibility > maxVisibility || c.Visibility%time.Second != 0),
		"Visibility is %v; SQS takes whole seconds, here from %v to %v", c.Visibility, minVisibility, maxVisibility)
	bad(c.WaitTime < 0 || c.WaitTime > maxWait || c.WaitTime%time.Second != 0, "WaitTime is %v; SQS takes whole seconds up to %v", c.WaitTime, maxWait)
	bad(c.GatherTime < 0, "GatherTime is %v; it must be positive (0 means the default)", c.GatherTime)
	bad(c.CloseWait < 0, "CloseWait is %v; it must be positive (0 means the default)", c.CloseWait)
	return errors.Join(errs...)
}

// validateClient refuses what would make every call fail, or every poll of an empty queue.
func (c Config) validateClient(o sqs.Options, queueURL string) error {
	var errs []error
	region := regionOf(queueURL)
	switch {
	case o.Region == "" && (o.BaseEndpoint != nil || region == ""):
		errs = append(errs, errors.New("the client has no region; set AWS_REGION or the client's Region"))
	case o.BaseEndpoint == nil && region != "" && region != o.Region:
		// The SDK would ask the client's region for this name, and at best be told that there is no such queue.
		errs = append(errs, fmt.Errorf("the queue is in region %s, but the client is set to %q; set AWS_REGION or the client's Region", region, o.Region))
	}
	if limit := timeoutOf(o.HTTPClient); limit > 0 && limit <= c.WaitTime {
		errs = append(errs, fmt.Errorf("the HTTP client ends calls after %v, but a poll waits %v for messages; raise its timeout or lower WaitTime", limit, c.WaitTime))
	}
	return errors.Join(errs...)
}

func timeoutOf(client sqs.HTTPClient) time.Duration {
	switch c := client.(type) {
	case *http.Client:
		return c.Timeout
	case *awshttp.BuildableClient:
		limit := c.GetTimeout()
		if read, ok := c.GetReadTimeout(); ok && read > 0 && (limit == 0 || read < limit) {
			limit = read
		}
		return limit
	}
	return 0
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && nameOf(s) != "" && nameOf(s) != u.Host
}

// nameOf is the queue's name: the last part of its URL.
func nameOf(queueURL string) string { return queueURL[strings.LastIndexByte(queueURL, '/')+1:] }

// regionOf is the region that a queue's URL on AWS names, "" if it names none.
// https://docs.aws.amazon.com/general/latest/gr/sqs-service.html
func regionOf(queueURL string) string {
	u, err := url.Parse(queueURL)
	if err != nil {
		return ""
	}
	region, ok := strings.CutPrefix(u.Hostname(), "sqs.")
	if !ok {
		return ""
	}
	for _, domain := range []string{".amazonaws.com", ".amazonaws.com.cn"} {
		if r, ok := strings.CutSuffix(region, domain); ok {
			return r
		}
	}
	return ""
}
