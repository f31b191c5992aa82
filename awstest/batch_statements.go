package awstest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// partlyStatements applies a BatchExecuteStatement without some of its statements. Its answers are by position, so those of the
// failed ones are put between the others.
func partlyStatements(ctx context.Context, svc wire.Service, c Call, f Fault) (any, *wire.Error) {
	var in map[string]json.RawMessage
	var statements []json.RawMessage
	if json.Unmarshal(c.Body, &in) != nil || json.Unmarshal(in["Statements"], &statements) != nil {
		return nil, &wire.Error{
			Status: http.StatusBadRequest, Code: "InvalidFault",
			Message: "awstest: FailStatements is for BatchExecuteStatement; this " + c.Operation + " has no Statements",
		}
	}
	var kept []json.RawMessage
	for i, s := range statements {
		if !slices.Contains(f.entries, i) {
			kept = append(kept, s)
		}
	}
	out := map[string]any{}
	if len(kept) > 0 {
		if refusal := callWith(ctx, svc, c, in, kept, &out); refusal != nil {
			return nil, refusal
		}
	}
	answers, _ := out["Responses"].([]any)
	for i := range statements {
		if slices.Contains(f.entries, i) {
			failure := map[string]any{"Error": map[string]any{"Code": f.code, "Message": "injected"}}
			answers = slices.Insert(answers, min(i, len(answers)), any(failure))
		}
	}
	out["Responses"] = answers
	return out, nil
}

// callWith performs a call with other statements than it came with.
func callWith(ctx context.Context, svc wire.Service, c Call, in map[string]json.RawMessage, statements []json.RawMessage, out *map[string]any) *wire.Error {
	rest, err := json.Marshal(statements)
	if err == nil {
		in["Statements"] = rest
		rest, err = json.Marshal(in)
	}
	if err != nil {
		return &wire.Error{Status: http.StatusInternalServerError, Code: "InternalFailure", Message: err.Error()}
	}
	answer, refusal := svc.Call(ctx, c.Operation, rest)
	if refusal != nil {
		return refusal
	}
	data, err := json.Marshal(answer)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return &wire.Error{Status: http.StatusInternalServerError, Code: "InternalFailure", Message: err.Error()}
	}
	return nil
}
