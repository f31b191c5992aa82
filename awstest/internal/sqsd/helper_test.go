package sqsd_test

import (
	"encoding/json"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/sqsd"
	"github.com/claimonce/claimonce/awstest/internal/wire"
)

const url = "http://host/000000000000/"

type fields = map[string]any

// rig calls a server as the front server does, with what no SDK would send too.
type rig struct {
	*testing.T

	server *sqsd.Server
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return &rig{t, sqsd.New("us-east-1", "000000000000")}
}

func (r *rig) try(op string, in fields) (fields, *wire.Error) {
	r.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		r.Fatal(err)
	}
	out, refusal := r.server.At("host").Call(r.Context(), op, body)
	if refusal != nil {
		return nil, refusal
	}
	return r.decoded(out), nil
}

func (r *rig) decoded(out any) fields {
	r.Helper()
	data, err := json.Marshal(out)
	if err != nil {
		r.Fatal(err)
	}
	var f fields
	if err := json.Unmarshal(data, &f); err != nil {
		r.Fatal(err)
	}
	return f
}

func (r *rig) call(op string, in fields) fields {
	r.Helper()
	out, err := r.try(op, in)
	if err != nil {
		r.Fatalf("%s %v: %v", op, in, err)
	}
	return out
}

// wantCode: the call is refused with a code.
func (r *rig) wantCode(op string, in fields, want string) {
	r.Helper()
	_, err := r.try(op, in)
	if err == nil || err.Code != want || err.Status != 400 {
		r.Errorf("%s %.200v: got %v, want status 400 and code %s", op, in, err, want)
	}
}

func (r *rig) handles(in fields) []string {
	r.Helper()
	list, _ := r.call("ReceiveMessage", in)["Messages"].([]any)
	var out []string
	for _, m := range list {
		out = append(out, m.(fields)["ReceiptHandle"].(string))
	}
	return out
}
