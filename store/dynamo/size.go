package dynamo

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// itemSize is the size of an item by DynamoDB's rules, rounded up where they say "approximately".
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func itemSize(it item) int {
	n := 0
	for name, v := range it {
		n += len(name) + valueSize(v)
	}
	return n
}

// Of a list or map: 3 bytes, and 1 for each element.
const (
	documentOverhead = 3
	elementOverhead  = 1
)

func valueSize(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberL:
		n := documentOverhead
		for _, e := range v.Value {
			n += elementOverhead + valueSize(e)
		}
		return n
	case *types.AttributeValueMemberM:
		n := documentOverhead
		for name, e := range v.Value {
			n += elementOverhead + len(name) + valueSize(e)
		}
		return n
	}
	return 1 // BOOL and NULL; sets are never written here
}

// numberSize: one byte for two significant digits, and one more; a sign takes another.
func numberSize(s string) int {
	digits := strings.TrimRight(strings.TrimLeft(strings.TrimPrefix(s, "-"), "0"), "0")
	n := (len(digits)+1)/2 + 1
	if strings.HasPrefix(s, "-") {
		n++
	}
	return n
}
