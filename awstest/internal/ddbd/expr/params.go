package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// Error is a ValidationException's message.
type Error struct{ Message string }

// Error returns the message alone: clients see it word for word.
func (e *Error) Error() string { return e.Message }

func errorf(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// Params holds the placeholders of one request. Its parse methods mark what they use, so
// that [Params.Unused] can refuse the rest. It serves one request and is not safe for
// concurrent use.
type Params struct {
	names      map[string]string
	values     map[string]attr.Value
	usedNames  map[string]bool
	usedValues map[string]bool
}

// NewParams checks the placeholders' spelling. A nil map means "not given"; an empty one
// is refused, as the service does.
func NewParams(names map[string]string, values map[string]attr.Value) (*Params, error) {
	if names != nil && len(names) == 0 {
		return nil, errorf("ExpressionAttributeNames must not be empty")
	}
	if values != nil && len(values) == 0 {
		return nil, errorf("ExpressionAttributeValues must not be empty")
	}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		if !placeholder(key, '#') {
			return nil, errorf("ExpressionAttributeNames contains invalid key: Syntax error; key: %q", key)
		}
		if names[key] == "" {
			return nil, errorf("ExpressionAttributeNames contains invalid value: Empty attribute name for key %s", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !placeholder(key, ':') {
			return nil, errorf("ExpressionAttributeValues contains invalid key: Syntax error; key: %q", key)
		}
	}
	return &Params{
		names: names, values: values,
		usedNames: map[string]bool{}, usedValues: map[string]bool{},
	}, nil
}

func placeholder(key string, mark byte) bool {
	return len(key) > 1 && key[0] == mark && span(key[1:], isWordPart) == len(key)-1
}

// Unused refuses placeholders that no parsed expression used.
func (p *Params) Unused() error {
	if keys := missing(p.names, p.usedNames); keys != "" {
		return errorf("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", keys)
	}
	if keys := missing(p.values, p.usedValues); keys != "" {
		return errorf("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", keys)
	}
	return nil
}

func missing[V any](given map[string]V, used map[string]bool) string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !used[key] {
			keys = append(keys, key)
		}
	}
	return strings.Join(keys, ", ")
}
