package fingerprint_test

import (
	"fmt"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

func Example() {
	d, err := fingerprint.New(fingerprint.Config{
		Volatile: []string{"/sent_at", "/items/*/updated"},
		Version:  "1",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _ := d.Digest(fingerprint.Request{
		Tenant: "acme", Operation: "refund",
		Body: []byte(`{"amount": 4200, "items": [{"sku": "x", "updated": 1}], "sent_at": "10:00"}`),
	})
	retry, _ := d.Digest(fingerprint.Request{
		Tenant: "acme", Operation: "refund",
		Body: []byte(`{"sent_at":"10:05","items":[{"updated":2,"sku":"x"}],"amount":4.2e3}`),
	})
	other, _ := d.Digest(fingerprint.Request{
		Tenant: "acme", Operation: "refund",
		Body: []byte(`{"sent_at":"10:05","items":[{"updated":2,"sku":"x"}],"amount":4300}`),
	})
	fmt.Println(first == retry, first == other)
	// Output: true false
}

// A record is compared by the rules that it was made by.
func ExampleDigester_DigestAs() {
	before := fingerprint.Config{Version: "1"}
	old, _ := fingerprint.New(before)
	request := fingerprint.Request{Operation: "refund", Body: []byte(`{"amount":1,"trace":"a"}`)}
	stored, _ := old.Digest(request)

	d, _ := fingerprint.New(fingerprint.Config{
		Volatile: []string{"/trace"},
		Version:  "2",
		Previous: []fingerprint.Config{before},
	})
	digest, err := d.DigestAs(fingerprint.SchemeOf(stored), request)
	fmt.Println(digest == stored, err)
	// Output: true <nil>
}

func ExampleError() {
	d, _ := fingerprint.New(fingerprint.Config{})
	_, err := d.Digest(fingerprint.Request{Operation: "refund", Body: []byte(`{"amount":1,"amount":900}`)})
	fmt.Println(err)
	// Output: fingerprint: malformed body at byte 12: member name occurs twice in one object
}
