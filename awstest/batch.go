package awstest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// partly applies a batch without some of its entries and reports those as failed.
func partly(ctx context.Context, svc wire.Service, c Call, f Fault) (any, *wire.Error) {
	var in map[string]json.RawMessage
	var entries []json.RawMessage
	if json.Unmarshal(c.Body, &in) != nil || json.Unmarshal(in["Entries"], &entries) != nil {
		return nil, &wire.Error{
			Status: http.StatusBadRequest, Code: "InvalidFault",
			Message: "awstest: FailEntries is for the batch calls of SQS; this " + c.Operation + " has no Entries",
		}
	}
	code := "InternalError"
	if f.sender {
		code = "InvalidParameterValue"
	}
	var kept []json.RawMessage
	var failed []map[string]any
	for i, e := range entries {
		if !slices.Contains(f.entries, i) {
			kept = append(kept, e)
			continue
		}
		var id struct{ Id string } //nolint:revive // the field's name on the wire
		_ = json.Unmarshal(e, &id)
		failed = append(failed, map[string]any{
			"Id": id.Id, "SenderFault": f.sender, "Code": code, "Message": "injected",
		})
	}
	out := map[string]any{}
	if len(kept) > 0 {
		rest, err := json.Marshal(kept)
		if err != nil {
			return nil, &wire.Error{Status: 500, Code: "InternalFailure", Message: err.Error()}
		}
		in["Entries"] = rest
		body, err := json.Marshal(in)
		if err != nil {
			return nil, &wire.Error{Status: 500, Code: "InternalFailure", Message: err.Error()}
		}
		res, refusal := svc.Call(ctx, c.Operation, body)
		if refusal != nil {
			return nil, refusal
		}
		if data, err := json.Marshal(res); err == nil {
			_ = json.Unmarshal(data, &out)
		}
	}
	more, _ := out["Failed"].([]any)
	for _, e := range failed {
		more = append(more, e)
	}
	out["Failed"] = more
	return out, nil
}
