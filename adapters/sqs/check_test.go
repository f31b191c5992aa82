package sqs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// wantError fails unless err contains all texts, and wraps ErrSetup or not.
func wantError(t *testing.T, err error, setup bool, texts ...string) {
	t.Helper()
	if err == nil || errors.Is(err, consumer.ErrSetup) != setup {
		t.Errorf("got %v, want an error; that it wraps ErrSetup: %v", err, setup)
		return
	}
	for _, want := range texts {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want it to contain %q", err, want)
		}
	}
}

// withAttributes makes a queue of a rig with settings of its own; "" takes one of the rig's away.
func withAttributes(t *testing.T, attributes map[string]string, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newRig(t, attributes)) })
}

func TestCheckIsContentWithAGoodQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		if err := r.open(adapter.Config{}).Check(t.Context()); err != nil {
			t.Error(err)
		}
		if got := r.log.String(); got != "" {
			t.Errorf("it logged %q, want nothing", got)
		}
	})
}

func TestCheckOfAMissingQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue = strings.Replace(r.queue, "work", "miss", 1)
		wantError(t, r.open(adapter.Config{}).Check(t.Context()), true, "miss", "eu-west-1", "does not exist", "check its URL")
	})
}

func TestCheckOfAMissingDeadLetterQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		err := r.open(adapter.Config{DeadLetterURL: r.dead + "-missing"}).Check(t.Context())
		wantError(t, err, true, "dead-letter queue of work", "work-dead-missing", "does not exist")
		// The redrive policy outlives its queue.
		if _, err := r.client.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &r.dead}); err != nil {
			t.Fatal(err)
		}
		wantError(t, r.open(adapter.Config{}).Check(t.Context()), true, "dead-letter queue of work", "work-dead", "does not exist")
	})
}

func TestCheckOfAShortVisibility(t *testing.T) {
	withAttributes(t, map[string]string{"VisibilityTimeout": "2"}, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		wantError(t, s.Check(t.Context()), true, "work hides a received message for 2s only", "Config.Visibility", "at least 3s")
		if _, err := s.Receive(t.Context(), 1); !errors.Is(err, consumer.ErrSetup) {
			t.Errorf("got %v of a receive without a check, want the same error", err)
		}
		if err := r.open(adapter.Config{Visibility: 30 * time.Second}).Check(t.Context()); err != nil {
			t.Errorf("got %v although the configuration names a visibility", err)
		}
	})
}

func TestCheckWarnsWithoutDeadLetters(t *testing.T) {
	withAttributes(t, map[string]string{"RedrivePolicy": ""}, func(t *testing.T, r *rig) {
		if err := r.open(adapter.Config{}).Check(t.Context()); err != nil {
			t.Error(err)
		}
		for _, want := range []string{"WARN", "no dead-letter queue", "redrive policy or set Config.DeadLetterURL", "queue=work"} {
			if got := r.log.String(); !strings.Contains(got, want) {
				t.Errorf("got log %q, want it to contain %q", got, want)
			}
		}
	})
	withAttributes(t, map[string]string{"RedrivePolicy": ""}, func(t *testing.T, r *rig) {
		if err := r.open(adapter.Config{DeadLetterURL: r.dead}).Check(t.Context()); err != nil || r.log.String() != "" {
			t.Errorf("got %v and log %q, want none where the configuration names the dead-letter queue", err, r.log.String())
		}
	})
}

func TestCheckWarnsOfFewReceives(t *testing.T) {
	for receives, want := range map[int]bool{9: true, 10: false} {
		inBubble(t, func(t *testing.T, r *rig) {
			s := r.openAt(r.makeQueue("own", map[string]string{"RedrivePolicy": r.policy(r.dead, receives)}))
			if err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if got := strings.Contains(r.log.String(), "max_receive_count=9"); got != want {
				t.Errorf("%d receives: got log %q, want a warning: %v", receives, r.log.String(), want)
			}
		})
	}
}

func (r *rig) openAt(url string) *adapter.Source {
	r.t.Helper()
	kept := r.queue
	defer func() { r.queue = kept }()
	r.queue = url
	return r.open(adapter.Config{})
}

// OPS-03: what only a person can mend says so, and what to do; the rest does not.
func TestOPS03_CheckTellsWhatAPersonMustMend(t *testing.T) {
	for code, want := range map[string]string{
		"AccessDeniedException":          "allow sqs:ReceiveMessage",
		"AccessDenied":                   "sqs:GetQueueUrl on the dead-letter queue",
		"InvalidClientTokenId":           "AWS_PROFILE",
		"UnrecognizedClientException":    "AWS_PROFILE",
		"SignatureDoesNotMatch":          "AWS_PROFILE",
		"InvalidAddress":                 "region",
		"ExpiredTokenException":          "sign in again",
		"com.amazonaws.sqs#AccessDenied": "allow sqs:ReceiveMessage",
		"InternalError":                  "",
		"ThrottlingException":            "",
		"RequestExpired":                 "",
	} {
		t.Run(code, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				status := http.StatusForbidden
				if want == "" {
					status = http.StatusServiceUnavailable
				}
				s := r.open(adapter.Config{})
				remove := r.server.Inject(awstest.FailBefore("GetQueueAttributes", status, code))
				wantError(t, s.Check(t.Context()), want != "", "ask for the attributes of work", want)
				_, err := s.MaxRedelivery(t.Context())
				wantError(t, err, want != "", want)
				// A failed question is asked again.
				remove()
				if err := s.Check(t.Context()); err != nil {
					t.Errorf("got %v after it was mended", err)
				}
			})
		})
	}
}

func TestTheQueueIsAskedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.server.ResetCalls()
		r.send("body")
		for range 2 {
			if err := s.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.MaxRedelivery(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r.take(s, 1)
		if got := r.server.Count("GetQueueAttributes"); got != 2 {
			t.Errorf("got %d questions, want one of the queue and one of its dead-letter queue", got)
		}
	})
}

func TestAQuestionThatIsNeverAnsweredEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		remove := r.server.Inject(awstest.Delay("GetQueueAttributes", 24*time.Hour, 0))
		defer remove()
		before := time.Now()
		_, err := s.Receive(t.Context(), 1)
		wantError(t, err, false, "work")
		if got := time.Since(before); got > time.Minute {
			t.Errorf("it took %v, want it bounded", got)
		}
	})
}

func TestMaxRedeliveryIsTheLongerRetention(t *testing.T) {
	const days = 24 * time.Hour
	for _, c := range []struct {
		queue, dead string
		policy      bool
		want        time.Duration
	}{
		{"345600", "1209600", true, 14 * days},
		{"864000", "86400", true, 10 * days},
		{"60", "", false, time.Minute},
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			attributes := map[string]string{"MessageRetentionPeriod": c.queue}
			if c.policy {
				attributes["RedrivePolicy"] = r.policy(r.makeQueue("own-dead", map[string]string{"MessageRetentionPeriod": c.dead}), 1000)
			}
			s := r.openAt(r.makeQueue("own", attributes))
			if got, err := s.MaxRedelivery(t.Context()); err != nil || got != c.want {
				t.Errorf("%+v: got %v, %v", c, got, err)
			}
			if got := s.DefaultWindow(); got != 15*days {
				t.Errorf("got window %v, want 15 days", got)
			}
		})
	}
}

// The longest retention is assumed of a dead-letter queue that may not be asked: too short a guess would let late copies run.
func TestADeadLetterQueueThatMayNotBeAsked(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		deny := awstest.FailBefore("GetQueueAttributes", http.StatusForbidden, "AccessDeniedException")
		deny.Match = func(c awstest.Call) bool { return bytes.Contains(c.Body, []byte("work-dead")) }
		r.server.Inject(deny)
		s := r.open(adapter.Config{})
		if got, err := s.MaxRedelivery(t.Context()); err != nil || got != 14*24*time.Hour {
			t.Errorf("got %v, %v, want 14 days", got, err)
		}
		if got := r.log.String(); !strings.Contains(got, "WARN") || !strings.Contains(got, "sqs:GetQueueAttributes") {
			t.Errorf("got log %q, want a warning that says what to allow", got)
		}
	})
}

// answering changes what a server answers.
type answering struct {
	base   *http.Client
	change func(body string) string
}

func (a answering) Do(r *http.Request) (*http.Response, error) {
	resp, err := a.base.Do(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	text := a.change(string(body))
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	return resp, nil
}

func (r *rig) answer(change func(body string) string) {
	r.client = sqs.New(r.client.Options(), func(o *sqs.Options) { o.HTTPClient = answering{r.server.Client(), change} })
}

func TestAServerThatSaysLittle(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.answer(func(body string) string {
			for _, name := range []string{"VisibilityTimeout", "MessageRetentionPeriod", "MaximumMessageSize"} {
				body = strings.ReplaceAll(body, `"`+name+`"`, `"X`+name+`"`)
			}
			return body
		})
		s := r.open(adapter.Config{})
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if got, err := s.MaxRedelivery(t.Context()); err != nil || got != 14*24*time.Hour {
			t.Errorf("got %v, %v, want the longest retention that SQS has", got, err)
		}
		if got := s.Visibility(); got != 30*time.Second {
			t.Errorf("got %v, want the 30 s that SQS gives a queue", got)
		}
	})
}

func TestARedrivePolicyThatCannotBeRead(t *testing.T) {
	for _, policy := range []string{`{\"deadLetterTargetArn\":\"work-dead\"}`, `{`} {
		inBubble(t, func(t *testing.T, r *rig) {
			r.answer(func(body string) string {
				i := strings.Index(body, `"RedrivePolicy":"`)
				if i < 0 {
					return body
				}
				i += len(`"RedrivePolicy":"`)
				return body[:i] + policy + body[strings.Index(body[i:], `}"`)+i+1:]
			})
			wantError(t, r.open(adapter.Config{}).Check(t.Context()), true, "redrive policy of work", "set Config.DeadLetterURL")
			if err := r.open(adapter.Config{DeadLetterURL: r.dead}).Check(t.Context()); err != nil {
				t.Errorf("got %v although the configuration names the dead-letter queue", err)
			}
		})
	}
}

func TestCheckWithoutCredentials(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.client = sqs.New(r.client.Options(), func(o *sqs.Options) {
			o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{}, errors.New("no provider")
			})
		})
		s := r.open(adapter.Config{})
		wantError(t, s.Check(t.Context()), true, "no credentials", "AWS_PROFILE")
		_, err := s.Receive(t.Context(), 1)
		wantError(t, err, true, "no credentials", "AWS_PROFILE")
	})
}
