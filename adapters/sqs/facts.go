package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

// facts are a queue's own settings.
type facts struct {
	visibility, retention time.Duration
	deadLetterURL         string // "": none
	deadLetterRetention   time.Duration
}

// defaultVisibility is what SQS gives a queue: used only where the queue cannot be asked.
const defaultVisibility = 30 * time.Second

// known asks for the facts once; a failed try is repeated by the next caller.
func (s *Source) known(ctx context.Context) (facts, error) {
	s.mu.Lock()
	f := s.facts
	s.mu.Unlock()
	if f != nil {
		return *f, nil
	}
	found, err := s.ask(ctx)
	if err != nil {
		return facts{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts = &found
	return found, nil
}

func (s *Source) ask(ctx context.Context) (facts, error) {
	attrs, err := s.attributes(ctx, s.url)
	if err != nil {
		return facts{}, err
	}
	f := facts{
		visibility: seconds(attrs, types.QueueAttributeNameVisibilityTimeout), retention: seconds(attrs, types.QueueAttributeNameMessageRetentionPeriod),
		deadLetterURL: s.cfg.DeadLetterURL,
	}
	if attrs[string(types.QueueAttributeNameFifoQueue)] == "true" {
		return facts{}, fmt.Errorf("sqs: %w: %s is a FIFO queue, which is not supported yet; use a standard queue", consumer.ErrSetup, nameOf(s.url))
	}
	if f.deadLetterURL == "" {
		if f.deadLetterURL, err = s.target(ctx, attrs[string(types.QueueAttributeNameRedrivePolicy)]); err != nil {
			return facts{}, err
		}
	}
	if f.deadLetterURL != "" {
		dead, err := s.attributes(ctx, f.deadLetterURL)
		if err != nil {
			return facts{}, fmt.Errorf("the dead-letter queue: %w", err)
		}
		f.deadLetterRetention = seconds(dead, types.QueueAttributeNameMessageRetentionPeriod)
	}
	return f, nil
}

func (s *Source) attributes(ctx context.Context, url string) (map[string]string, error) {
	out, err := s.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return nil, s.explain("ask for the attributes of", err)
	}
	return out.Attributes, nil
}

// target finds the queue that a redrive policy names by its ARN: arn:aws:sqs:region:account:name.
func (s *Source) target(ctx context.Context, policy string) (string, error) {
	if policy == "" {
		return "", nil
	}
	var p struct {
		Target string `json:"deadLetterTargetArn"`
	}
	parts := []string{}
	if err := json.Unmarshal([]byte(policy), &p); err == nil {
		parts = strings.Split(p.Target, ":")
	}
	if len(parts) != 6 {
		return "", fmt.Errorf("sqs: the redrive policy of %s cannot be read; set Config.DeadLetterURL", nameOf(s.url))
	}
	out, err := s.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &parts[5], QueueOwnerAWSAccountId: &parts[4]})
	if err != nil {
		return "", s.explain("look for the dead-letter queue "+parts[5]+" of", err)
	}
	return aws.ToString(out.QueueUrl), nil
}

func seconds(attrs map[string]string, name types.QueueAttributeName) time.Duration {
	n, _ := strconv.Atoi(attrs[string(name)])
	return time.Duration(n) * time.Second
}

func (s *Source) visibility(ctx context.Context) (time.Duration, error) {
	if s.cfg.Visibility > 0 {
		return s.cfg.Visibility, nil
	}
	f, err := s.known(ctx)
	return f.visibility, err
}

// Visibility implements [consumer.Extender].
func (s *Source) Visibility() time.Duration {
	if s.cfg.Visibility > 0 {
		return s.cfg.Visibility
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.facts == nil || s.facts.visibility < minVisibility {
		return defaultVisibility
	}
	return s.facts.visibility
}

// DefaultWindow implements [consumer.Windower]: a day more than the longest retention that SQS has.
func (s *Source) DefaultWindow() time.Duration { return 15 * 24 * time.Hour }

// MaxRedelivery implements [consumer.Redeliverer]. On a standard queue a message that is moved to a dead-letter queue keeps the time
// of its first sending, so the longer of the two retentions counts, not their sum.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
func (s *Source) MaxRedelivery(ctx context.Context) (time.Duration, error) {
	f, err := s.known(ctx)
	return max(f.retention, f.deadLetterRetention), err
}

// Check implements [consumer.Checker].
func (s *Source) Check(ctx context.Context) error {
	f, err := s.known(ctx)
	if err != nil {
		return err
	}
	if f.visibility < minVisibility && s.cfg.Visibility == 0 {
		return fmt.Errorf("sqs: %w: %s hides a received message for %v only; set its visibility timeout, or Config.Visibility, to at least %v",
			consumer.ErrSetup, nameOf(s.url), f.visibility, minVisibility)
	}
	if f.deadLetterURL == "" {
		s.cfg.Logger.WarnContext(ctx, "the queue has no dead-letter queue: messages that can never run stay until they expire; "+
			"give it a redrive policy or set Config.DeadLetterURL", "queue", nameOf(s.url))
	}
	return nil
}

var errNoDeadLetters = errors.New("the queue has no dead-letter queue, so the message is kept: give it a redrive policy or set Config.DeadLetterURL")
