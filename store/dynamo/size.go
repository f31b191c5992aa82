package dynamo

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// itemSize is what an item counts for billing and for the limit, by
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

// numberSize is of whole numbers: one byte for two significant digits, and one more. The documentation says "approximately": pairs
// of digits are counted from the decimal point, so that an even number of them may take part in one pair more, and a sign takes
// a byte.
func numberSize(s string) int {
	digits, negative := strings.CutPrefix(s, "-")
	digits = strings.TrimLeft(digits, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return 1
	}
	n := (len(significant)+1)/2 + 1
	if zeros := len(digits) - len(significant); len(significant)%2 == 0 && zeros%2 == 1 {
		n++
	}
	if negative {
		n++
	}
	return n
}
