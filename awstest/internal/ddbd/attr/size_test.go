package attr_test

import (
	"encoding/json"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{"a":{"S":"hello"}}`:                         1 + 5,
		`{"a":{"S":"é日"}}`:                            1 + 5,
		`{"a":{"B":"AQID"}}`:                          1 + 3,
		`{"a":{"BOOL":true},"b":{"NULL":true}}`:       2 + 2,
		`{"a":{"N":"0"}}`:                             1 + 1,
		`{"a":{"N":"1700000000"}}`:                    1 + 2,
		`{"a":{"N":"123"}}`:                           1 + 3,
		`{"a":{"N":"-123"}}`:                          1 + 4,
		`{"a":{"SS":["ab","c"]}}`:                     1 + 3,
		`{"a":{"L":[]}}`:                              1 + 3,
		`{"a":{"L":[{"S":"xy"},{"BOOL":true}]}}`:      1 + 3 + (1 + 2) + (1 + 1),
		`{"a":{"M":{"key":{"S":"xy"},"b":{"L":[]}}}}`: 1 + 3 + (1 + 3 + 2) + (1 + 1 + 3),
	} {
		var i attr.Item
		if err := json.Unmarshal([]byte(text), &i); err != nil {
			t.Fatal(err)
		}
		if got := i.Size(); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}
