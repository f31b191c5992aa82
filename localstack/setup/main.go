package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// patience bounds the whole run: a table on AWS takes seconds to appear, an endpoint that is not there should not hang.
const patience = 3 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "setup:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	opts, err := parse(args, stderr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	cfg, err := opts.aws(ctx)
	if err != nil {
		return err
	}
	var found report
	err = ensure(ctx, cfg, opts, &found)
	found.print(stdout) // what was made before a failure, too
	if err != nil {
		return err
	}
	return found.err()
}

func ensure(ctx context.Context, cfg aws.Config, opts options, found *report) error {
	if opts.queue != "" {
		if err := ensureQueues(ctx, opts.sqs(cfg), opts, found); err != nil {
			return err
		}
	}
	if opts.table != "" {
		return ensureTable(ctx, opts.dynamo(cfg), opts.table, found)
	}
	return nil
}
