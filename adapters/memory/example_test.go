package memory_test

import (
	"context"
	"fmt"

	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
)

func Example() {
	q := memory.New(memory.Config{})
	q.Send(memory.Message{Body: []byte(`{"amount":4200}`), Attributes: map[string]string{consumer.DefaultKeyAttribute: "refund-17"}})

	src := q.Source() // what consumer.New takes; here its calls are made by hand
	msgs, err := src.Receive(context.Background(), 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	key, _, err := msgs[0].Attribute("idempotency-key")
	fmt.Printf("%s %s receives=%d %v\n", key, msgs[0].Body, msgs[0].Receives, err)
	fmt.Println("waiting or held:", q.Len())
	fmt.Println(src.Ack(context.Background(), msgs[0]))
	fmt.Println("waiting or held:", q.Len())
	// Output:
	// refund-17 {"amount":4200} receives=1 <nil>
	// waiting or held: 1
	// <nil>
	// waiting or held: 0
}
