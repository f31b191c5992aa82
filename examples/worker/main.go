// Command worker pays refunds that are asked for by messages, each of them once.
//
// Without flags everything runs in this process: an SQS queue, a DynamoDB table, a provider that can fail in every way, and a
// bundled file of refund requests with retries, duplicates, reused keys and garbage among them. By flags, or by the AWS
// SDK's usual environment, the same program does the same on a LocalStack-like server or on AWS.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := mainE(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// options are the command's flags.
type options struct {
	source, store   string
	queueURL, table string
	input           string
	workers         int
	json            bool
	label           string
	ledger          string
	fifo, sns       bool
}

// validate names what cannot be meant.
func (o options) validate() error {
	switch {
	case (o.fifo || o.sns) && o.source != "sqs":
		return fmt.Errorf("-fifo and -sns ask for an SQS queue, but -source is %q; leave one out", o.source)
	case o.queueURL != "" && strings.HasSuffix(o.queueURL, fifoSuffix) != o.fifo:
		return fmt.Errorf("-queue-url %s and -fifo do not agree: the name of a FIFO queue ends in %s, and no other does", o.queueURL, fifoSuffix)
	case o.ledger != "" && (o.store == "memory" || o.table == "" && !endpointSet("DYNAMODB")):
		return errors.New("-ledger keeps the provider's refunds over runs, but the records are in this process and end with it: " +
			"a second run would pay again; use -table or AWS_ENDPOINT_URL with it")
	}
	return nil
}

func mainE(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	fs := flag.NewFlagSet("worker", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.source, "source", "sqs", "where messages come from: sqs, or memory")
	fs.StringVar(&o.store, "store", "dynamo", "where records are kept: dynamo, or memory")
	fs.StringVar(&o.queueURL, "queue-url", "", "URL of the SQS queue; empty: the queue claimonce-refunds at AWS_ENDPOINT_URL, or one in this process if that is unset")
	fs.StringVar(&o.table, "table", "", "DynamoDB table; empty: the table claimonce at AWS_ENDPOINT_URL, or one in this process if that is unset")
	fs.StringVar(&o.input, "input", "", "file of requests, one JSON object a line; empty: the bundled one")
	fs.IntVar(&o.workers, "workers", 0, "handlers at a time; 0: 16")
	fs.BoolVar(&o.fifo, "fifo", false, "use an SQS FIFO queue, the refunds of one charge in order; its default name is claimonce-refunds.fifo")
	fs.BoolVar(&o.sns, "sns", false, "wrap each message as an SNS topic does that has no raw delivery, key and tenant inside the body")
	fs.BoolVar(&o.json, "json", false, "end with one line of JSON instead of a table")
	fs.StringVar(&o.label, "run", "", "label added to every key of the input; empty: a random one, so that a server that keeps its records starts anew; give the same label again to see every request answered as a duplicate")
	fs.StringVar(&o.ledger, "ledger", "", "file in which the provider keeps its refunds over runs; empty: in memory")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; all settings are flags, see -help", fs.Arg(0))
	}
	return run(ctx, o, stdout, stderr)
}
