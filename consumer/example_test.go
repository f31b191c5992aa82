package consumer_test

import (
	"context"
	"fmt"

	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
	records "github.com/claimonce/claimonce/store/memory"
)

type refundRequest struct {
	Charge string `json:"charge"`
	Amount int    `json:"amount"`
}

type refundReceipt struct {
	ID string `json:"refund_id"`
}

// One request that was sent twice is paid once; the second message is answered from the stored result. With sqs.Open and dynamo.Open in
// place of the two memory packages it is a worker for AWS.
func Example() {
	queue := memory.New(memory.Config{})
	request := memory.Message{
		Attributes: map[string]string{"Idempotency-Key": "7d1f00c0-ffee-4bad-8bad-c0ffee0ddba1"},
		Body:       []byte(`{"charge":"ch_42","amount":4200}`),
	}
	queue.Send(request, request)

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	pay := func(ctx context.Context, op *dedupe.Operation, r refundRequest) (refundReceipt, error) {
		step, err := op.Begin(ctx, "pay-back")
		if err != nil {
			return refundReceipt{}, err
		}
		fmt.Printf("paying %d back for %s, with a key of %d characters\n", r.Amount, r.Charge, len(step.Key()))
		return refundReceipt{ID: "re_1"}, nil
	}
	left := 2
	w, err := consumer.New("refund", queue.Source(), records.New(), consumer.JSON(pay), consumer.Config{
		OnAbandoned: dedupe.RerunUnlessBegun,
		Observe: func(_ context.Context, e consumer.Event) {
			fmt.Printf("%v, replayed: %v\n", e.Disposition, e.Replayed)
			if left--; left == 0 {
				stop()
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// paying 4200 back for ch_42, with a key of 36 characters
	// acked, replayed: false
	// acked, replayed: true
}
