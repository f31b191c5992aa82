package ddbd

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

// valueMap is ExpressionAttributeValues: a bad value's message names its placeholder.
type valueMap map[string]attr.Value

// UnmarshalJSON implements [json.Unmarshaler].
func (m *valueMap) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil || raw == nil {
		return err
	}
	*m = make(valueMap, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		var v attr.Value
		if err := v.UnmarshalJSON(raw[key]); err != nil {
			if e, ok := err.(*attr.Error); ok {
				return &attr.Error{Message: "ExpressionAttributeValues contains invalid value: " + e.Message + " for key " + key}
			}
			return err
		}
		(*m)[key] = v
	}
	return nil
}

// placeholders is the part that all requests with expressions share.
type placeholders struct {
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues valueMap
}

// expression is an expression parameter by name; Text is nil where it was not given.
type expression struct {
	name string
	text *string
}

// params checks that placeholders come with an expression that can use them.
func (p placeholders) params(expressions ...expression) (*expr.Params, error) {
	given, withValues := false, []string{}
	for _, e := range expressions {
		given = given || e.text != nil
		if e.name == "ProjectionExpression" {
			continue
		}
		if e.text != nil {
			withValues = nil
		} else if withValues != nil {
			withValues = append(withValues, e.name)
		}
	}
	if p.ExpressionAttributeNames != nil && !given {
		return nil, invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	if p.ExpressionAttributeValues != nil && withValues != nil {
		verb := " is null"
		if len(withValues) > 1 {
			verb = " are null"
		}
		return nil, invalid("ExpressionAttributeValues can only be specified when using expressions: %s%s", strings.Join(withValues, " and "), verb)
	}
	return expr.NewParams(p.ExpressionAttributeNames, p.ExpressionAttributeValues)
}

// legacy catches the parameters from before expressions, so that a client still using
// them gets an error and not a write without its condition.
type legacy struct {
	Expected, AttributeUpdates, AttributesToGet, ConditionalOperator json.RawMessage
	KeyConditions, QueryFilter, ScanFilter                           json.RawMessage
}

func (l legacy) check() error {
	for name, given := range map[string]json.RawMessage{
		"Expected": l.Expected, "AttributeUpdates": l.AttributeUpdates, "AttributesToGet": l.AttributesToGet,
		"ConditionalOperator": l.ConditionalOperator, "KeyConditions": l.KeyConditions,
		"QueryFilter": l.QueryFilter, "ScanFilter": l.ScanFilter,
	} {
		if given != nil && string(given) != "null" {
			return unsupported("the legacy parameter " + name + " (use an expression)")
		}
	}
	return nil
}
