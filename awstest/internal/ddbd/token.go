package ddbd

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"time"
)

// tokenWindow is how long a ClientRequestToken makes a transaction idempotent.
const tokenWindow = 10 * time.Minute

const maxToken = 36

type transactWriteInput struct {
	TransactItems               []transactItem
	ClientRequestToken          string
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string

	// digest tells whether a token comes back with another request.
	digest [sha256.Size]byte
}

// UnmarshalJSON implements [json.Unmarshaler].
func (in *transactWriteInput) UnmarshalJSON(b []byte) error {
	type plain transactWriteInput
	if err := json.Unmarshal(b, (*plain)(in)); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var all map[string]any
	if err := dec.Decode(&all); err != nil {
		return err
	}
	delete(all, "ClientRequestToken")
	canonical, err := json.Marshal(all)
	in.digest = sha256.Sum256(canonical)
	return err
}

func (in *transactWriteInput) check() error {
	if err := checkTransactCount(len(in.TransactItems)); err != nil {
		return err
	}
	if len(in.ClientRequestToken) > maxToken {
		return badValue("'"+in.ClientRequestToken+"'", "clientRequestToken", "Member must have length less than or equal to 36")
	}
	if err := oneOf(in.ReturnItemCollectionMetrics, "returnItemCollectionMetrics", "SIZE", "NONE"); err != nil {
		return err
	}
	return checkCapacityMode(in.ReturnConsumedCapacity)
}

// receipts remembers the transactions of the last window. SDKs send a token with every
// transaction, so forgetting must not cost a walk over all of them.
type receipts struct {
	byToken map[string]receipt
	order   []string // oldest first, which is also the order of expiry
}

func (r *receipts) forget(now time.Time) {
	for len(r.order) > 0 && !now.Before(r.byToken[r.order[0]].expires) {
		delete(r.byToken, r.order[0])
		r.order = r.order[1:]
	}
}

// receipt remembers a transaction that went through.
type receipt struct {
	digest  [sha256.Size]byte
	expires time.Time
	places  []place
}

// place is where a transaction wrote.
type place struct {
	table *table
	key   rowKey
}

// replay answers a transaction whose token already went through; nil, nil means that it
// has to run. A cancelled one left no receipt, so its token may be used again.
func (s *Server) replay(in *transactWriteInput) (any, error) {
	s.tokens.forget(time.Now())
	r, ok := s.tokens.byToken[in.ClientRequestToken]
	if !ok || in.ClientRequestToken == "" {
		return nil, nil
	}
	if r.digest != in.digest {
		return nil, refuse(codeMismatch, "The provided request parameters do not match the parameters of the previous request with the same client token")
	}
	// The service answers the repeat from a read of the items and bills it so.
	var all bills
	for _, p := range r.places {
		all.of(p.table).addRead(p.table.rows.get(p.key).Size(), true, nil)
	}
	all.scale(transactFactor)
	all.charge()
	return &transactOutput{ConsumedCapacity: all.report(in.ReturnConsumedCapacity, true)}, nil
}

func (s *Server) keepReceipt(in *transactWriteInput, tx *transaction) {
	if in.ClientRequestToken == "" {
		return
	}
	r := receipt{digest: in.digest, expires: time.Now().Add(tokenWindow)}
	for _, st := range tx.steps {
		r.places = append(r.places, place{st.table, st.key})
	}
	s.tokens.byToken[in.ClientRequestToken] = r
	s.tokens.order = append(s.tokens.order, in.ClientRequestToken)
}
