package sqs

import (
	"context"
	"encoding/json"
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
	maxReceives           int // after which SQS itself moves a message; 0: never
	deadLetterURL         string
	deadLetterRetention   time.Duration
	deadLetterSize        int // bytes that a message may have there
}

// What counts where a queue cannot be asked, or a server does not say: the longest retention and the largest message that SQS has.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
const (
	defaultVisibility = 30 * time.Second
	longestRetention  = 14 * 24 * time.Hour
	largestMessage    = 1 << 20
)

// known asks for the facts once; a failed try is repeated by the next caller.
func (s *Source) known(ctx context.Context) (facts, error) {
	s.mu.Lock()
	f := s.facts
	s.mu.Unlock()
	if f != nil {
		return *f, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
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
		visibility: seconds(attrs, types.QueueAttributeNameVisibilityTimeout, defaultVisibility),
		retention:  seconds(attrs, types.QueueAttributeNameMessageRetentionPeriod, longestRetention),
	}
	if f.visibility < minVisibility && s.cfg.Visibility == 0 {
		return facts{}, fmt.Errorf("sqs: %w: %s hides a received message for %v only; set its visibility timeout, or Config.Visibility, to at least %v",
			consumer.ErrSetup, nameOf(s.url), f.visibility, minVisibility)
	}
	err = s.askDeadLetters(ctx, &f, attrs[string(types.QueueAttributeNameRedrivePolicy)])
	return f, err
}

func (s *Source) attributes(ctx context.Context, url string) (map[string]string, error) {
	out, err := s.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return nil, s.explainOf("ask for the attributes of", nameOf(url), err)
	}
	return out.Attributes, nil
}

// seconds is a setting; of one that the server does not name the default counts, never zero.
func seconds(attrs map[string]string, name types.QueueAttributeName, unknown time.Duration) time.Duration {
	n, err := strconv.Atoi(attrs[string(name)])
	if err != nil {
		return unknown
	}
	return time.Duration(n) * time.Second
}

// askDeadLetters finds the dead-letter queue. One that does not exist is an error; one that only cannot be asked is not.
func (s *Source) askDeadLetters(ctx context.Context, f *facts, policy string) error {
	target, err := s.readPolicy(f, policy)
	if f.deadLetterURL = s.cfg.DeadLetterURL; f.deadLetterURL == "" {
		if err == nil && target != "" {
			f.deadLetterURL, err = s.urlOf(ctx, target)
		}
		if err != nil || f.deadLetterURL == "" {
			return err
		}
	}
	if err := s.checkKind(f); err != nil {
		return err
	}
	dead, err := s.attributes(ctx, f.deadLetterURL)
	if strings.HasPrefix(codeOf(err), "AccessDenied") {
		s.cfg.Logger.WarnContext(ctx, "the dead-letter queue's settings cannot be read, so the longest retention is assumed; allow sqs:GetQueueAttributes on it",
			"queue", nameOf(f.deadLetterURL), "err", err)
		dead, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("the dead-letter queue of %s: %w", nameOf(s.url), err)
	}
	f.deadLetterRetention = seconds(dead, types.QueueAttributeNameMessageRetentionPeriod, longestRetention)
	if f.deadLetterSize, err = strconv.Atoi(dead[string(types.QueueAttributeNameMaximumMessageSize)]); err != nil {
		f.deadLetterSize = largestMessage
	}
	return nil
}

// readPolicy gives the ARN that a redrive policy names, "" if there is none.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
func (s *Source) readPolicy(f *facts, policy string) (target string, err error) {
	if policy == "" {
		return "", nil
	}
	var p struct {
		Target string      `json:"deadLetterTargetArn"`
		Max    json.Number `json:"maxReceiveCount"` // a number or its text
	}
	if err := json.Unmarshal([]byte(policy), &p); err != nil {
		return "", fmt.Errorf("sqs: %w: the redrive policy of %s cannot be read; set Config.DeadLetterURL: %w", consumer.ErrSetup, nameOf(s.url), err)
	}
	f.maxReceives, _ = strconv.Atoi(p.Max.String())
	return p.Target, nil
}

// urlOf finds a queue by its ARN: arn:aws:sqs:region:account:name.
func (s *Source) urlOf(ctx context.Context, arn string) (string, error) {
	parts := strings.Split(arn, ":")
	if len(parts) != 6 {
		return "", fmt.Errorf("sqs: %w: the redrive policy of %s names %q, which is no queue's ARN; set Config.DeadLetterURL", consumer.ErrSetup, nameOf(s.url), arn)
	}
	out, err := s.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &parts[5], QueueOwnerAWSAccountId: &parts[4]})
	if err != nil {
		return "", s.explainOf("look for the dead-letter queue of "+nameOf(s.url)+",", parts[5], err)
	}
	return aws.ToString(out.QueueUrl), nil
}

func (s *Source) visibility(ctx context.Context) (time.Duration, error) {
	if s.cfg.Visibility > 0 {
		return s.cfg.Visibility, nil
	}
	f, err := s.known(ctx)
	return f.visibility, err
}
