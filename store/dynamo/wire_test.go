package dynamo_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/store/dynamo"
)

// wire gives an item as DynamoDB's API writes it, for golden files.
func wire(tb testing.TB, it dynamo.Item) []byte {
	tb.Helper()
	b, err := json.MarshalIndent(wireMap(tb, it), "", "\t")
	if err != nil {
		tb.Fatal(err)
	}
	return append(b, '\n')
}

func wireMap(tb testing.TB, it dynamo.Item) map[string]any {
	tb.Helper()
	out := map[string]any{}
	for name, v := range it {
		out[name] = wireValue(tb, v)
	}
	return out
}

func wireValue(tb testing.TB, v types.AttributeValue) any {
	tb.Helper()
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": v.Value}
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": wireMap(tb, v.Value)}
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, e := range v.Value {
			list = append(list, wireValue(tb, e))
		}
		return map[string]any{"L": list}
	}
	tb.Fatalf("no kind of value that is written here: %T", v)
	return nil
}

// unwire is the inverse of wire.
func unwire(tb testing.TB, data []byte) dynamo.Item {
	tb.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		tb.Fatal(err)
	}
	it := dynamo.Item{}
	for name, r := range raw {
		v, err := unwireValue(r)
		if err != nil {
			tb.Fatalf("attribute %s: %v", name, err)
		}
		it[name] = v
	}
	return it
}

func unwireValue(data []byte) (types.AttributeValue, error) {
	var v struct {
		S, N *string
		B    *[]byte
		BOOL *bool
		M    map[string]json.RawMessage
		L    []json.RawMessage
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	switch {
	case v.S != nil:
		return &types.AttributeValueMemberS{Value: *v.S}, nil
	case v.N != nil:
		return &types.AttributeValueMemberN{Value: *v.N}, nil
	case v.B != nil:
		return &types.AttributeValueMemberB{Value: *v.B}, nil
	case v.BOOL != nil:
		return &types.AttributeValueMemberBOOL{Value: *v.BOOL}, nil
	case v.M != nil:
		m := dynamo.Item{}
		for name, r := range v.M {
			e, err := unwireValue(r)
			if err != nil {
				return nil, err
			}
			m[name] = e
		}
		return &types.AttributeValueMemberM{Value: m}, nil
	case v.L != nil:
		var l []types.AttributeValue
		for _, r := range v.L {
			e, err := unwireValue(r)
			if err != nil {
				return nil, err
			}
			l = append(l, e)
		}
		return &types.AttributeValueMemberL{Value: l}, nil
	}
	return nil, fmt.Errorf("no kind of value: %s", data)
}
