package dynamo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

// Parts of a result: in the record's item, or in an item of its own to which the record points.
const (
	resStatus      = "status"
	resContentType = "content_type"
	resHeaders     = "headers"
	resBody        = "body"
	resOmitted     = "omitted"
	resItem        = "item"   // id of the second item
	resDigest      = "digest" // SHA-256 of the second item's result
)

const (
	// inlineLimit: a duplicate is billed by the item that refuses it, a unit for each 1,024 bytes begun.
	inlineLimit = 1024
	// itemLimit: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html#limits-items
	itemLimit = 400 << 10
)

// resultID is the id of the second item. It holds the owner token, so that a former owner who wakes up late cannot replace the result
// that its successor's completion points to. No record's id begins so: those begin with a digit.
func resultID(rec dedupe.Record) string { return "result#" + rec.Owner + "#" + rec.Key.StoreID() }

func encodeResult(res dedupe.Result) item {
	e := encoder{item{}}
	e.number(resStatus, int64(res.Status))
	e.text(resContentType, res.ContentType)
	e.text(resOmitted, res.Omitted)
	if len(res.Headers) > 0 {
		h := item{}
		for name, v := range res.Headers {
			h[name] = &types.AttributeValueMemberS{Value: v}
		}
		e.item[resHeaders] = &types.AttributeValueMemberM{Value: h}
	}
	if res.Body != nil {
		e.item[resBody] = &types.AttributeValueMemberB{Value: res.Body}
	}
	return e.item
}

// items are the record's item and, if its result does not fit, the second one.
func items(rec dedupe.Record) (record, second item, err error) {
	record = encode(rec)
	if rec.Result != nil {
		res := encodeResult(*rec.Result)
		record[attrResult] = &types.AttributeValueMemberM{Value: res}
		if itemSize(record) > inlineLimit && movable(*rec.Result) {
			second = secondItem(rec, res)
			record[attrResult] = &types.AttributeValueMemberM{Value: pointer(rec, res)}
		}
	}
	for _, it := range []item{record, second} {
		if n := itemSize(it); n > itemLimit {
			return nil, nil, fmt.Errorf("%w: an item of %d bytes, DynamoDB holds %d", dedupe.ErrTooLarge, n, itemLimit)
		}
	}
	return record, second, nil
}

func movable(res dedupe.Result) bool { return len(res.Body) > 0 || len(res.Headers) > 0 }

// secondItem carries the record's own expiry, computed once for both: neither outlives the other.
func secondItem(rec dedupe.Record, res item) item {
	e := encoder{item{}}
	e.text(attrID, resultID(rec))
	e.number(attrSchema, int64(rec.Schema))
	e.item[attrResult] = &types.AttributeValueMemberM{Value: res}
	if !rec.ExpiresAt.IsZero() {
		e.number(attrExpiresAt, rec.ExpiresAt.Unix())
	}
	return e.item
}

func pointer(rec dedupe.Record, res item) item {
	e := encoder{item{}}
	e.text(resItem, resultID(rec))
	e.item[resDigest] = &types.AttributeValueMemberB{Value: digestOf(res)}
	if n, ok := res[resStatus]; ok {
		e.item[resStatus] = n
	}
	return e.item
}

// digestOf covers every part, each with its name and length, in a fixed order.
func digestOf(res item) []byte {
	h := sha256.New()
	put := func(b []byte) { _, _ = fmt.Fprintf(h, "%d:%s", len(b), b) }
	for _, name := range slices.Sorted(maps.Keys(res)) {
		put([]byte(name))
		switch v := res[name].(type) {
		case *types.AttributeValueMemberS:
			put([]byte(v.Value))
		case *types.AttributeValueMemberN:
			put([]byte(v.Value))
		case *types.AttributeValueMemberB:
			put(v.Value)
		case *types.AttributeValueMemberM:
			put(digestOf(v.Value))
		}
	}
	return h.Sum(nil)
}

// result reads the result of a record's item, fetching the second item if there is one.
func (s *Store) result(ctx context.Context, it item) (*dedupe.Result, error) {
	v, ok := it[attrResult]
	if !ok {
		return nil, nil
	}
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return nil, &ItemError{Attribute: attrResult, Problem: "is no map"}
	}
	d := &decoder{item: m.Value}
	id := d.text(resItem)
	if d.err != nil || id == "" {
		return decodeResult(m.Value)
	}
	want, _ := m.Value[resDigest].(*types.AttributeValueMemberB)
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		Key: item{attrID: &types.AttributeValueMemberS{Value: id}},
	})
	if err != nil {
		return nil, fmt.Errorf("reading the result's item: %w", err)
	}
	found, ok := out.Item[attrResult].(*types.AttributeValueMemberM)
	if !ok || want == nil || !bytes.Equal(digestOf(found.Value), want.Value) {
		return &dedupe.Result{Status: int(d.number(resStatus)), Unavailable: true}, nil
	}
	return decodeResult(found.Value)
}

func decodeResult(m item) (*dedupe.Result, error) {
	d := &decoder{item: m}
	res := &dedupe.Result{Status: int(d.number(resStatus)), ContentType: d.text(resContentType), Omitted: d.text(resOmitted)}
	if h, ok := m[resHeaders].(*types.AttributeValueMemberM); ok {
		hd := &decoder{item: h.Value}
		res.Headers = map[string]string{}
		for name := range h.Value {
			res.Headers[name] = hd.text(name)
		}
		if hd.err != nil {
			d.fail(resHeaders, "holds something other than strings")
		}
	}
	switch b := m[resBody].(type) {
	case nil:
	case *types.AttributeValueMemberB:
		res.Body = bytes.Clone(b.Value)
		if res.Body == nil {
			res.Body = []byte{}
		}
	default:
		d.fail(resBody, "is no binary, but a "+strconv.Quote(fmt.Sprintf("%T", b)))
	}
	return res, d.err
}
