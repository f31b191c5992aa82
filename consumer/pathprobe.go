package consumer

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// pathProbe is the body of a path check. Its members stand in the order of their names, so that a bridge that writes JSON anew with
// sorted names leaves the marker first.
type pathProbe struct {
	Token     string `json:"claimonce-path-check"`
	CreatedAt string `json:"created-at"`
	Key       string `json:"key"`
	Operation string `json:"operation"`
	Tenant    string `json:"tenant"`
}

const probeMarker = `"claimonce-path-check"`

// probeIn gives the check that a body is; nil: it is an ordinary message. It looks at each message, so the first byte that is not a
// check's ends it.
func probeIn(body []byte) *pathProbe {
	rest, ok := bytes.CutPrefix(body, []byte("{"))
	if !ok {
		return nil
	}
	if !bytes.HasPrefix(bytes.TrimLeft(rest[:min(len(rest), 128)], " \t\r\n"), []byte(probeMarker)) {
		return nil
	}
	var members map[string]string // strings only, and each is asked for: a struct would let a missing one pass
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&members); err != nil || len(members) != 5 {
		return nil
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	p := &pathProbe{}
	for name, to := range map[string]*string{
		"claimonce-path-check": &p.Token, "created-at": &p.CreatedAt, "key": &p.Key, "operation": &p.Operation, "tenant": &p.Tenant,
	} {
		if *to, ok = members[name]; !ok {
			return nil
		}
	}
	if _, err := time.Parse(time.RFC3339, p.CreatedAt); err != nil || !isProbeToken(p.Token) || !isProbeToken(p.Key) || p.Operation == "" {
		return nil
	}
	return p
}

func isProbeToken(s string) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(b) == 16
}

// probeOperation is in no application's scope: a check must not meet an operation's own keys.
const probeOperation = "claimonce-path-check"

// record is where the workers of an operation write their answer. Of the message only the token makes it, since nothing else is sure to
// arrive; of a fan-out, each operation has its own.
func (p *pathProbe) record(operation string) dedupe.Key {
	sum := sha256.Sum256([]byte(operation))
	return dedupe.Key{Operation: probeOperation, ID: p.Token + "_" + hex.EncodeToString(sum[:8])}
}

// newCheckLedger: the answers are worth nothing after a day. It is silent: no application's operation happens in it. An attempt of
// a check has no effect, so none is the last: it would make the check an incident for operators, and never answered.
func newCheckLedger(store dedupe.Store) (*dedupe.Ledger, error) {
	return dedupe.NewLedger(store, dedupe.Config{
		OnAbandoned: dedupe.Rerun, Window: 24 * time.Hour, SettleFor: 5 * time.Second, AttemptBound: math.MaxInt32,
	})
}
