package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "emulcheck:", err)
		os.Exit(1)
	}
}

func run() error {
	name := flag.String("name", "server", "name printed with the counts")
	sqsURL := flag.String("sqs", "", "endpoint of SQS; without it no SQS case runs")
	dynamoURL := flag.String("dynamo", "", "endpoint of DynamoDB; without it no DynamoDB case runs")
	knownFile := flag.String("known", "", "file of expected failures: a case and its reason a line")
	filter := flag.String("filter", "", "run only cases whose name contains this")
	flag.Parse()
	if *sqsURL == "" && *dynamoURL == "" {
		return errors.New("nothing to ask: give -sqs URL, -dynamo URL or both")
	}
	expected, err := readKnown(*knownFile)
	if err != nil {
		return err
	}
	s := &suite{filter: *filter, known: expected}
	from := time.Now()
	if *dynamoURL != "" {
		t := newTables(*dynamoURL)
		s.inOrder(t.cases())
	}
	if *sqsURL != "" {
		q := newQueues(*sqsURL)
		s.inOrder(slices.Concat(q.adminCases(), q.attributesCases()))
		s.together(slices.Concat(q.pollCases(), q.visibilityCases(), q.handlesCases(), q.limitsCases(), q.rulesCases(), q.deadletterCases(), q.fifoCases()))
		s.inOrder(q.raceCases())
	}
	if *filter == "" {
		s.unasked(*sqsURL != "", *dynamoURL != "")
	}
	fmt.Fprintf(os.Stdout, "%s: %s in %.0f s\n", *name, s.counts(), time.Since(from).Seconds())
	return s.err()
}

// testCase is one question; a nil error is the answer that AWS documents.
type testCase struct {
	name string
	run  func(context.Context) error
}

// note is an answer that is neither right nor wrong.
type note struct{ text string }

func (n note) Error() string { return n.text }
