package keys_test

import (
	"context"
	"fmt"
	"os"

	"github.com/claimonce/claimonce/keys"
)

func Example() {
	for _, maker := range []keys.Maker{keys.New, keys.UUIDv7, keys.ULID, keys.Token} {
		key, err := maker()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(key))
	}
	// Output:
	// 36
	// 36
	// 26
	// 22
}

// A producer asks for the key before each attempt and gets the same one, after
// a restart too.
func ExampleFor() {
	dir, err := os.MkdirTemp("", "pending")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	attempt := func() (string, error) {
		saver, err := keys.File(dir)
		if err != nil {
			return "", err
		}
		return keys.For(context.Background(), saver, "refund-order-4711", keys.New)
	}
	first, err := attempt()
	if err != nil {
		fmt.Println(err) // nothing may be sent
		return
	}
	second, err := attempt()
	fmt.Println(first == second, err)
	// Output: true <nil>
}
