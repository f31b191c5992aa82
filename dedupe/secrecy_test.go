package dedupe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

// OPS-08: whatever goes wrong, neither a raw key nor the payload is in an error or a log line.
func TestOPS08_NoKeyAndNoPayloadInErrorsAndLogs(t *testing.T) {
	t.Parallel()
	const secretID, card = "jane@example.com-4242", "4111111111111111"
	secret := dedupe.Key{Tenant: "acme", Operation: "refund", ID: secretID}
	body := `{"card":` + card + `,"card_text":"` + card + `"}`
	said := &collector{}
	cfg := dedupe.Config{
		OnAbandoned: dedupe.RerunUnlessBegun, AttemptBound: 2, KeyCharacters: "@.",
		Logger: slog.New(slog.NewJSONHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true})),
	}
	bubble(t, cfg, func(t *testing.T, ln *line, l *dedupe.Ledger) {
		ctx := t.Context()
		add := func(err error) {
			t.Helper()
			if err == nil {
				t.Error("an error was expected")
			}
			said.print(err, fmt.Sprintf("%+v", err))
		}
		// The key and the request.
		strict := newLedger(t, ln, dedupe.Config{OnAbandoned: dedupe.Rerun})
		add(strict.ValidateKey(secret))
		_, err := strict.Claim(ctx, dedupe.Request{Key: secret, Digest: "x"})
		add(err)
		_, err = l.Claim(ctx, dedupe.Request{Key: secret})
		add(err)
		_, err = l.Request(secret, []byte(body+card))
		add(err)
		_, err = dedupe.Do(ctx, l, secret, failing{card}, func(context.Context, *dedupe.Operation) (int, error) { return 0, nil })
		add(err)

		// The store, a mismatch, another owner.
		ln.fail(neverArrives, neverArrives, neverArrives, neverArrives)
		_, err = l.Claim(ctx, request(t, l, secret, body))
		add(err)
		op := claimKey(t, l, secret, body).Operation
		for _, b := range []string{body, `{"card":1}`} {
			a := claimKey(t, l, secret, b)
			add(a.Err(secret))
			if a.Outcome == dedupe.OutcomeMismatch {
				said.print(a)
			}
		}

		// A panic, a bad step, a lost lease, an exhausted operation.
		_, err = op.Begin(ctx, card+" "+secretID)
		_ = err // a step's name is the application's own word
		s := op.Run(ctx, func(context.Context, *dedupe.Operation) (dedupe.Result, error) { panic(body) }, dedupe.RunOptions{})
		add(s.HandlerErr)
		op = claimKey(t, l, secret, body).Operation
		ln.set(neverArrives)
		time.Sleep(66 * time.Second)
		ln.set(noFault)
		add(claimKey(t, l, secret, body).Err(secret))
		_, err = op.Begin(ctx, "charge")
		add(err)
		s = op.Run(ctx, returning(nil), dedupe.RunOptions{})
		add(s.Err)
		add(s.HandlerErr)

		// Reconcilers, operators, a replay that does not fit.
		_, err = l.Take(ctx, secret, dedupe.TakeOptions{})
		add(err)
		_, err = l.ResolveBy(ctx, lookedAt(ctx, l, secret), "ann", "looked", dedupe.StateReleased, nil)
		add(err)
		_, err = l.Override(ctx, lookedAt(ctx, l, secret), dedupe.Override{})
		add(err)
		_, err = dedupe.Do(ctx, l, secret, json.RawMessage(body), func(context.Context, *dedupe.Operation) (json.Number, error) { return card, nil })
		if err != nil {
			t.Error(err)
		}
		_, err = dedupe.Do(ctx, l, secret, json.RawMessage(body), func(context.Context, *dedupe.Operation) (int8, error) { return 0, nil })
		add(err)
		_, err = dedupe.Do(ctx, l, secret, json.RawMessage(body), func(context.Context, *dedupe.Operation) ([]bool, error) { return nil, nil })
		add(err)
		ln.skew = time.Hour
		ln.set(neverArrives)
		_, err = l.Load(ctx, secret)
		add(err)

		// A key in a log line of the application's.
		said.print(secret, fmt.Sprintf("%v %+v %#v %s %q", secret, secret, secret, secret, secret), fmt.Sprintf("%+v", ln.get(secret)), ln.get(secret).Key)
		slog.New(slog.NewJSONHandler(said, nil)).Info("x", "key", secret, "group", slog.GroupValue(slog.Any("key", secret)))
	})
	text := said.String()
	for _, private := range []string{secretID, "jane", card} {
		if i := strings.Index(text, private); i >= 0 {
			t.Errorf("%q is in what was said: …%q…", private, text[max(i-200, 0):min(i+50, len(text))])
		}
	}
	if !strings.Contains(text, secret.Hash()) {
		t.Error("the key's hash is nowhere: errors cannot be found in logs")
	}
	if strings.Count(text, "\n") < 20 || !strings.Contains(text, "lease passed without an outcome") {
		t.Errorf("the test collected too little: %s", text)
	}
}

// A request whose encoding fails with a text that quotes it.
type failing struct{ card string }

func (f failing) MarshalJSON() ([]byte, error) { return nil, errors.New("bad card " + f.card) }

type collector struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *collector) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

func (c *collector) print(vs ...any) {
	for _, v := range vs {
		fmt.Fprintf(c, "%v\n", v)
	}
}

func (c *collector) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

// The texts of the errors' causes are part of what is promised: clients see them as codes.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"idempotency_key_missing": dedupe.ErrMissingKey, "idempotency_key_malformed": dedupe.ErrMalformedKey, "idempotency_key_reuse": dedupe.ErrKeyReuse,
		"request_in_progress": dedupe.ErrInProgress, "outcome_pending": dedupe.ErrOutcomePending, "attempts_exhausted": dedupe.ErrExhausted,
		"older_than_window": dedupe.ErrOlderThanWindow,
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if _, ok := errors.AsType[*fingerprint.Error](&dedupe.Error{Op: "claim", Key: key, Err: &fingerprint.Error{}}); !ok {
		t.Error("an *Error hides its cause")
	}
}
