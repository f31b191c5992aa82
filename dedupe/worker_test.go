package dedupe_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A worker of a story is a process with a line to the register. Its handler does what it is told, step by step.
type worker struct {
	world  *world
	name   string
	line   *line
	ledger *dedupe.Ledger
	taken  *dedupe.Case

	run  *handlerRun // of its latest claim
	runs []*handlerRun
}

// handlerRun is one claim and the run of its handler.
type handlerRun struct {
	steps   chan func(context.Context, *dedupe.Operation) (over bool, res dedupe.Result, err error)
	cancel  context.CancelCauseFunc
	abandon chan struct{}
	gone    atomic.Bool // the process is no more: nothing is heard of it
	over    atomic.Bool // the handler returned
	step    dedupe.Step
}

func newWorker(w *world, name string) *worker {
	p := &worker{world: w, name: name, line: &line{register: w.reg}}
	p.line.before = func(next dedupe.Record) { w.call(next.TakenBy, name) }
	cfg := w.cfg
	cfg.Observe = func(_ context.Context, o dedupe.Observation) {
		if n := notes(o.Note); n != "" {
			w.say("people are told: %s", n)
		}
	}
	p.ledger = newLedger(w.t, p.line, cfg)
	return p
}

func (p *worker) command(verb string, args []string) {
	switch verb {
	case "claim": // for another request: claim w1 other
		p.claim(len(args) > 0 && args[0] == "other")
	case "giveup": // the claim's context ends
		p.run.cancel(context.Canceled)
	case "begin", "undone", "pay", "return":
		p.tell(verb, args)
	case "crash":
		p.crash()
	case "drain":
		p.run.cancel(dedupe.ErrDraining)
	case "fault": // what happens to the next write, or to the next n
		p.fault(args)
	case "slow": // the next answer comes that late
		p.line.mu.Lock()
		p.line.slow = p.world.duration(args[0])
		p.line.mu.Unlock()
	case "cut":
		p.line.set(neverArrives)
	case "heal":
		p.line.set(noFault)
	case "arrive":
		for _, err := range p.line.arrive() {
			p.say("delayed write: %s", result(err, "lands"))
		}
	case "take", "resolve", "void", "ask":
		p.reconcile(verb, args)
	default:
		p.world.t.Fatalf("no command %q", verb)
	}
}

func (p *worker) say(format string, args ...any) {
	p.world.say("%s: %s", p.name, fmt.Sprintf(format, args...))
}

func (p *worker) fault(args []string) {
	f, ok := map[string]fault{"none": noFault, "lose-answer": loseAnswer, "never-arrives": neverArrives, "delayed": delayed, "too-large": tooLarge, "repeated-by-sdk": repeatedSDK}[args[0]]
	if !ok {
		p.world.t.Fatalf("no fault %q", args[0])
	}
	n := 1
	if len(args) > 1 {
		if _, err := fmt.Sscan(args[1], &n); err != nil {
			p.world.t.Fatal(err)
		}
	}
	for range n {
		p.line.fail(f)
	}
}

// claim claims on a goroutine of its own, and runs the handler if the operation is to be run.
func (p *worker) claim(other bool) {
	name := p.name
	if n := len(p.runs) + 1; n > 1 {
		name = fmt.Sprintf("%s#%d", p.name, n)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	run := &handlerRun{
		steps: make(chan func(context.Context, *dedupe.Operation) (bool, dedupe.Result, error)), cancel: cancel, abandon: make(chan struct{}),
	}
	p.run, p.runs = run, append(p.runs, run)
	p.line.before = func(next dedupe.Record) {
		p.world.call(next.Owner, name) // a token not yet known is that of the claim on its way
		p.world.call(next.TakenBy, name)
	}
	say := func(format string, args ...any) {
		if !run.gone.Load() {
			p.say(format, args...)
		}
	}
	go func() {
		a, err := p.ledger.Claim(ctx, p.request(other))
		if err != nil {
			say("claim: %s", result(err, ""))
			return
		}
		p.answer(ctx, run, a, say)
	}()
}

func (p *worker) request(other bool) dedupe.Request {
	body := `{"amount":100}`
	if other {
		body = `{"amount":900}`
	}
	req, err := p.ledger.Request(key, []byte(body))
	if err != nil {
		p.world.t.Error(err)
	}
	return req
}

func (p *worker) answer(ctx context.Context, run *handlerRun, a dedupe.Answer, say func(string, ...any)) {
	switch a.Outcome {
	case dedupe.OutcomeClaimed:
		say("claimed, attempt %d", a.Operation.Attempt())
		s := a.Operation.Run(ctx, run.handle(say), dedupe.RunOptions{Abandon: run.abandon})
		run.over.Store(true)
		if s.Err != nil {
			say("%s: %s", s.Event, result(s.Err, ""))
			return
		}
		say("%s: %s, %s", s.Event, s.Outcome, s.State)
	case dedupe.OutcomeBusy:
		say("busy, come back after %s", short(a.RetryAfter))
	case dedupe.OutcomeReplay:
		say("replay of result %s", resultOf(a.Record))
	default:
		say("%s", a.Outcome)
	}
}

// handle is a handler that waits to be told. It ignores its context, as a handler in a blocking call does.
func (r *handlerRun) handle(say func(string, ...any)) dedupe.Handler {
	return func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
		stop := context.AfterFunc(ctx, func() {
			if !r.over.Load() {
				say("the handler is told to stop: %v", context.Cause(ctx))
			}
		})
		defer stop()
		for step := range r.steps {
			if over, res, err := step(ctx, op); over {
				r.over.Store(true)
				return res, err
			}
		}
		runtime.Goexit() // crashed
		panic("unreachable")
	}
}

// tell makes the handler do something.
func (p *worker) tell(verb string, args []string) {
	run := p.run
	step := func(ctx context.Context, op *dedupe.Operation) (bool, dedupe.Result, error) {
		switch verb {
		case "begin":
			p.begin(ctx, run, op, args[0])
		case "undone":
			op.Undone(run.step)
		case "pay":
			p.say("%s", p.world.provider.pay(run.step.Key()))
		case "return":
			return p.returns(args)
		}
		return false, dedupe.Result{}, nil
	}
	select {
	case run.steps <- step:
	default:
		p.say("no handler waits to be told: %s", verb)
	}
}

// begin goes on although the handler was told to stop: as handlers must not, but as a blocked one does.
func (p *worker) begin(ctx context.Context, run *handlerRun, op *dedupe.Operation, name string) {
	step, err := op.Begin(context.WithoutCancel(ctx), name)
	if err != nil {
		p.say("begin: %s", result(err, ""))
		return
	}
	run.step = step
	p.world.call(step.Key(), fmt.Sprintf("key %d", p.world.keyNumber()))
	p.say("may perform %s under %s", step.Name(), p.world.name(step.Key(), "?"))
}

func (p *worker) returns(args []string) (bool, dedupe.Result, error) {
	err := errors.New("boom")
	switch args[0] {
	case "ok":
		return true, dedupe.Result{Status: 200}, nil
	case "error":
		return true, dedupe.Result{}, err
	case "not-committed":
		return true, dedupe.Result{}, dedupe.NotCommitted(err)
	case "permanent":
		return true, dedupe.Result{}, dedupe.Permanent(err)
	case "unknown":
		return true, dedupe.Result{}, dedupe.Unknown(err)
	}
	return true, dedupe.Result{}, fmt.Errorf("no such return: %v", args)
}

// crash ends the process: nothing it sent is still on its way, and nothing is heard of it.
func (p *worker) crash() {
	p.line.set(neverArrives)
	for _, run := range p.runs {
		if !run.gone.Swap(true) {
			close(run.abandon)
			close(run.steps)
			run.cancel(context.Canceled)
		}
	}
}

func (p *worker) reconcile(verb string, args []string) {
	ctx := context.Background()
	switch verb {
	case "take":
		c, err := p.ledger.Take(ctx, key, dedupe.TakeOptions{For: time.Minute, Voids: len(args) > 0 && args[0] == "voids"})
		p.say("take: %s", result(err, "taken"))
		if err == nil {
			p.taken = c
		}
	case "ask": // from when the provider's answer can be trusted
		p.say("may ask from %s on", p.world.at(p.taken.AskFrom(p.world.duration(args[0]))))
	case "void": // the provider never executes the keys of older generations
		for _, k := range p.taken.Record.DownstreamKeys(args[0])[1:] {
			p.world.provider.void[k] = true
		}
		p.say("voided, paid %d in all", p.world.provider.paid)
	case "resolve":
		state, _ := dedupe.ParseState(args[0])
		var res *dedupe.Result
		if state == dedupe.StateCompleted {
			res = &dedupe.Result{Status: 299}
		}
		_, err := p.taken.Resolve(ctx, state, res, "asked the provider")
		p.say("resolve: %s", result(err, "done"))
	}
}

// keyNumber is the number of the next downstream key that the story has not seen.
func (w *world) keyNumber() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 1
	for _, name := range w.names {
		if len(name) > 4 && name[:4] == "key " {
			n++
		}
	}
	return n
}
