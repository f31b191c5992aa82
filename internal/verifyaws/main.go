package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the clean-up too
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "verifyaws:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	opts, err := parse(args, stderr)
	if err != nil {
		return err
	}
	list, err := loadKnown(opts.known)
	if err != nil {
		return err
	}
	cfg, err := opts.aws(ctx)
	if err != nil {
		return err
	}
	s, d := opts.clients(cfg)
	announce(stdout, opts, cfg.Region)
	if !opts.yes && !agreed(stdin, stdout) {
		return errors.New("nothing was created: it takes the answer yes, or -yes")
	}
	return verify(ctx, opts, plan{facts(), list}, s, d, stdout)
}

func announce(stdout io.Writer, o options, region string) {
	where := "AWS, with the account of the current credentials"
	switch {
	case o.endpoint != "":
		where = o.endpoint
	case !o.onAWS():
		where = "the endpoint that the environment names"
	}
	fmt.Fprintf(stdout, "This creates one DynamoDB table (on demand, with an index and TTL) and about 60 SQS queues, all named %s…, in %s\n"+
		"on %s. It makes some hundreds of calls and takes a minute or two.\n"+
		"On AWS that costs less than 0.01 USD. Everything is deleted at the end", o.prefix, region, where)
	if o.keep {
		fmt.Fprint(stdout, ", but not with -keep")
	}
	fmt.Fprintln(stdout, ".")
}

func agreed(stdin io.Reader, stdout io.Writer) bool {
	fmt.Fprint(stdout, "Go on? [yes/no] ")
	line, _ := bufio.NewReader(stdin).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(line), "yes")
}

// plan is what a run looks at.
type plan struct {
	facts []fact
	known differences
}

// verify runs the checks and cleans up in any case.
func verify(ctx context.Context, o options, p plan, s *sqs.Client, d *dynamodb.Client, stdout io.Writer) error {
	w := newWorld(s, d, o.prefix, o.onAWS())
	if err := w.reachable(ctx); err != nil {
		return err
	}
	verdicts := runAll(ctx, w, p)
	if ctx.Err() != nil {
		fmt.Fprintln(stdout, "Interrupted: deleting what was created; another interrupt leaves it.")
	}
	left := w.finish(ctx, o.keep, stdout)
	printReport(stdout, verdicts)
	switch {
	case left != nil:
		return fmt.Errorf("delete by hand what is tagged %s=%s: %w", tagName, tagValue, left)
	case ctx.Err() != nil:
		return errors.New("interrupted; what was created is deleted")
	case !acceptable(verdicts):
		return errors.New("not every fact holds here: see docs/aws-facts.md for what relies on those that do not")
	}
	return nil
}

// finish goes on after an interrupt, for a bounded time.
func (w *world) finish(ctx context.Context, keep bool, stdout io.Writer) error {
	if keep {
		fmt.Fprintf(stdout, "Kept: everything whose name begins with %s\n", w.prefix)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	return w.cleanUp(ctx)
}
