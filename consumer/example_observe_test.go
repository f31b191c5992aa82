package consumer_test

import (
	"context"
	"fmt"
	"time"

	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
	store "github.com/claimonce/claimonce/store/memory"
)

// A team that wants to know what claimonce would do stands it before the handlers that run today.
func ExampleConsumer_Counts() {
	queue := memory.New(memory.Config{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	left := 2
	refund := func(_ context.Context, _ *dedupe.Operation, _ order) (string, error) {
		fmt.Println("the handler runs")
		return "done", nil
	}
	w, err := consumer.New("refund", queue.Source(), store.New(), consumer.JSON(refund), consumer.Config{
		OnAbandoned: dedupe.Reconcile, Workers: 1,
		ObserveOnly: "a trial until the end of the month",
		Observe: func(_ context.Context, e consumer.Event) {
			fmt.Printf("%v; the usual mode: %v %s\n", e.Disposition, e.WouldHave.Disposition, e.WouldHave.Reason)
			if left--; left == 0 {
				stop()
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := memory.Message{Body: []byte(`{"amount":1}`), Group: "account 7"} // their producer sends no keys
	queue.Send(m, m)
	if err := w.Run(ctx); err != nil {
		fmt.Println(err)
	}
	n := w.Counts()
	fmt.Printf("%.0f %% without a key, %d withheld for it\n", 100*n.MissingKeyRatio(), n.WouldHave.Withheld[consumer.ReasonMissingKey])
	// Output:
	// the handler runs
	// acked; the usual mode: dead-lettered idempotency_key_missing
	// the handler runs
	// acked; the usual mode: dead-lettered idempotency_key_missing
	// 100 % without a key, 2 withheld for it
}

// A bridge that forwards the body alone is found out.
func ExamplePathCheck() {
	queue, records := memory.New(memory.Config{}), store.New()
	refund := func(context.Context, *dedupe.Operation, order) (string, error) { return "", nil }
	w, err := consumer.New("refund", queue.Source(), records, consumer.JSON(refund), consumer.Config{OnAbandoned: dedupe.Reconcile})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()

	check, err := consumer.NewPathCheck("refund", consumer.PathCheckConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	queue.Send(memory.Message{Body: check.Body()}) // what the bridge left of it
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	arrival, err := check.Await(waiting, records)
	cancel()
	fmt.Println(arrival.OK(), err)
	fmt.Println("key:", arrival.Key.State)
	stop()
	fmt.Println(<-ended)
	// Output:
	// false <nil>
	// key: missing
	// <nil>
}
