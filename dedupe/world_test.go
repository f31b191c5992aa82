package dedupe_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A world is what a story happens in: one register, workers and reconcilers with a line of their own to it, a provider.
type world struct {
	t        *testing.T
	reg      *register
	cfg      dedupe.Config // of workers that appear from now on
	start    time.Time
	provider provider

	mu      sync.Mutex // guards what follows: workers speak from their own goroutines
	out     strings.Builder
	workers map[string]*worker
	names   map[string]string // tokens and downstream keys, as the story calls them
	shown   string            // revision of the record that was printed last
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, reg: newRegister(), start: time.Now(), workers: map[string]*worker{}, names: map[string]string{},
		provider: provider{seen: map[string]bool{}, void: map[string]bool{}},
	}
}

// say prints a line under a worker's name.
func (w *world) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.out, format+"\n", args...)
}

func (w *world) printed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.out.String()
	w.out.Reset()
	return s
}

// end lets every goroutine of the story return.
func (w *world) end() {
	for _, name := range slices.Sorted(maps.Keys(w.workers)) {
		w.workers[name].crash()
	}
	time.Sleep(time.Hour) // whatever was about to end has ended
}

func (w *world) worker(name string) *worker {
	if p, ok := w.workers[name]; ok {
		return p
	}
	if w.cfg.OnAbandoned == 0 {
		w.t.Fatal("say `config mode=…` first")
	}
	p := newWorker(w, name)
	w.workers[name] = p
	return p
}

// command runs one line of a story. See the cases for what there is.
func (w *world) command(words []string) {
	verb, args := words[0], words[1:]
	switch verb {
	case "config": // mode= bound= window= memory= provider=: for workers that appear from now on
		w.configure(args)
	case "advance": // lets time pass
		time.Sleep(w.duration(args[0]))
	case "delete": // the store's own deletion of an expired record
		w.reg.put(dedupe.Record{Key: key})
	case "provider": // forgets: every key it has seen
		w.provider.seen = map[string]bool{}
	case "operator":
		w.operator(args[0])
	case "fence":
		w.say("fence: the start + %d ms", w.reg.get(key).Fence-w.start.UnixMilli())
	default:
		w.worker(args[0]).command(verb, args[1:])
	}
}

func (w *world) configure(args []string) {
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "mode":
			mode, ok := dedupe.ParseMode(value)
			if !ok {
				w.t.Fatalf("mode %q", value)
			}
			w.cfg.OnAbandoned = mode
		case "bound":
			n, err := strconv.Atoi(value)
			if err != nil {
				w.t.Fatal(err)
			}
			w.cfg.AttemptBound = n
		case "window":
			w.cfg.Window = w.duration(value)
		case "memory":
			w.cfg.DownstreamMemory = w.duration(value)
		case "provider":
			w.provider.recognises = value == "recognises"
		default:
			w.t.Fatalf("config has no %q", name)
		}
	}
}

func (w *world) duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// operator decides by the ledger's calls for people.
func (w *world) operator(what string) {
	ledger := newLedger(w.t, w.reg, dedupe.Config{OnAbandoned: dedupe.Reconcile})
	ctx := context.Background()
	var err error
	if state, ok := dedupe.ParseState(what); ok {
		_, err = ledger.ResolveBy(ctx, lookedAt(ctx, ledger, key), "ann", "looked at the provider", state, nil)
	} else {
		action := map[string]dedupe.Action{"release": dedupe.ActionRelease, "forget": dedupe.ActionForget, "dismiss": dedupe.ActionDismiss}[what]
		_, err = ledger.Override(ctx, lookedAt(ctx, ledger, key), dedupe.Override{Action: action, Operator: "ann", Reason: "looked", Resend: "ann"})
	}
	w.say("operator: %s", result(err, "done"))
}

// result is what an error comes to for the story: the cause alone, since keys and hashes are the same in all.
func result(err error, fine string) string {
	if err == nil {
		return fine
	}
	if e, ok := errors.AsType[*dedupe.Error](err); ok {
		return "refused: " + e.Err.Error()
	}
	return "refused: " + err.Error()
}

// noteRecord prints the record if it was written since it was last printed.
func (w *world) noteRecord() {
	rec := w.reg.get(key)
	if rec.Revision == w.shown {
		return
	}
	w.shown = rec.Revision
	w.say("record: %s", w.describe(rec))
}

func (w *world) describe(r dedupe.Record) string {
	if r.State == dedupe.StateAbsent {
		return "absent"
	}
	parts := []string{r.State.String() + " " + w.name(r.Owner, "nobody"), fmt.Sprintf("attempt %d", r.Attempt)}
	add := func(on bool, format string, args ...any) {
		if on {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(r.Fingerprint == "", "no fingerprint")
	add(len(r.Marks) > 0, "marks %s", marksOf(r))
	add(r.Generation > 0, "generation %d", r.Generation)
	add(r.ReplyEpoch > 0, "reply epoch %d", r.ReplyEpoch)
	add(r.Doubtful, "doubtful")
	add(r.Troubled != 0, "troubled: %s", troubles(r.Troubled))
	add(r.State == dedupe.StateInProgress, "lease to %s", w.at(r.LockedUntil))
	add(r.TakenBy != "", "taken by %s to %s", w.name(r.TakenBy, "?"), w.at(r.TakenUntil))
	add(!r.AttentionAt.IsZero() && r.State != dedupe.StateInProgress, "listed at %s", w.at(r.AttentionAt))
	add(!r.ExpiresAt.IsZero(), "expires at %s", w.at(r.ExpiresAt))
	add(r.State == dedupe.StateCompleted, "result %s", resultOf(r))
	add(r.Reason != "", "reason %q", r.Reason)
	return strings.Join(parts, ", ")
}

func resultOf(r dedupe.Record) string {
	switch {
	case r.Result == nil:
		return "unknown"
	case r.Result.Omitted != "":
		return fmt.Sprintf("%d, body omitted: %s", r.Result.Status, r.Result.Omitted)
	}
	return strconv.Itoa(r.Result.Status)
}

// at is a time since the start of the story.
func (w *world) at(t time.Time) string { return short(t.Sub(w.start)) }

func (w *world) name(token, otherwise string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, ok := w.names[token]; ok {
		return n
	}
	return otherwise
}

// call gives a token its name in the story, if it has none.
func (w *world) call(token, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.names[token]; !ok && token != "" {
		w.names[token] = name
	}
}

// A provider is paid, once for each key if it recognises them.
type provider struct {
	recognises bool
	seen, void map[string]bool
	paid       int
}

func (p *provider) pay(key string) string {
	switch {
	case p.void[key]:
		return "refused by the provider: the key is void"
	case p.recognises && p.seen[key]:
		return fmt.Sprintf("recognised by the provider, paid %d in all", p.paid)
	}
	p.seen[key] = true
	p.paid++
	return fmt.Sprintf("paid, %d in all", p.paid)
}
