package dynamo

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

// Members of the attribute result. A result apart is kept whole in an item of its own; the record then holds status, content type and
// omitted, and the last two.
const (
	resStatus      = "status"       // N
	resContentType = "content_type" // S
	resOmitted     = "omitted"      // S
	resHeaders     = "headers"      // L of S: name, value, name, value, … by name; a map could not hold every name
	resBody        = "body"         // B
	resApart       = "apart"        // S, the id of the other item
	resDigest      = "digest"       // B, SHA-256 of the whole result: see digestOf
)

const (
	// inlineLimit: a duplicate is billed by the item that refuses it, a unit for each 1,024 bytes begun.
	inlineLimit = 1024
	// itemLimit: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
	itemLimit = 400 << 10
	// idLimit of a partition key, in bytes: same page.
	idLimit = 2048
)

// pointer says where a result apart is.
type pointer struct {
	id     string
	digest []byte
}

// partID is the id of a result apart. No record's id begins with r, and owner and digest are delimited. With the owner token a former
// owner who wakes up late cannot replace what its successor's completion points to; with the digest neither can the owner
// itself, where a reconciler settles the record with another result at the same time.
func partID(rec dedupe.Record, digest []byte) string {
	return "r" + strconv.Itoa(len(rec.Owner)) + ":" + rec.Owner + base64.RawURLEncoding.EncodeToString(digest[:16]) + rec.Key.StoreID()
}

// items are the record's item and, if its result is kept apart, the other one.
func items(rec dedupe.Record) (record, part item, err error) {
	if record, err = encode(rec); err != nil {
		return nil, nil, err
	}
	if rec.Result != nil {
		record[attrResult] = &types.AttributeValueMemberM{Value: encodeResult(*rec.Result)}
		if part, err = moveApart(record, rec); err != nil {
			return nil, nil, err
		}
	}
	for _, it := range []item{record, part} {
		if n := itemSize(it); n > itemLimit {
			return nil, nil, fmt.Errorf("%w: an item of %d bytes with its names, where DynamoDB holds %d", dedupe.ErrTooLarge, n, itemLimit)
		}
	}
	return record, part, nil
}

// moveApart takes the result out of a record's item that is larger than a unit, unless that would make it no cheaper: with a long
// key the pointer may be larger than what it points to.
func moveApart(record item, rec dedupe.Record) (part item, err error) {
	inline := itemSize(record)
	if inline <= inlineLimit || len(rec.Result.Body)+len(rec.Result.Headers) == 0 {
		return nil, nil
	}
	whole := record[attrResult]
	digest := digestOf(*rec.Result)
	id := partID(rec, digest)
	small := encoder{encodeResult(dedupe.Result{
		Status: rec.Result.Status, ContentType: rec.Result.ContentType, Omitted: rec.Result.Omitted,
	})}
	small.text(resApart, id)
	small.item[resDigest] = &types.AttributeValueMemberB{Value: digest}
	record[attrResult] = &types.AttributeValueMemberM{Value: small.item}
	if units(itemSize(record)) >= units(inline) {
		record[attrResult] = whole
		return nil, nil
	}
	if len(id) > idLimit {
		return nil, fmt.Errorf("the id of the result's item has %d bytes, DynamoDB allows %d", len(id), idLimit)
	}
	e := encoder{item{}}
	if err := e.identity(rec); err != nil { // the record's own expiry, computed once for both: neither outlives the other
		return nil, err
	}
	e.text(attrID, id)
	e.item[attrResult] = whole
	return e.item, nil
}

func units(size int) int { return (size + inlineLimit - 1) / inlineLimit }

func encodeResult(res dedupe.Result) item {
	e := encoder{item{}}
	e.number(resStatus, int64(res.Status))
	e.text(resContentType, res.ContentType)
	e.text(resOmitted, res.Omitted)
	if res.Headers != nil {
		list := make([]types.AttributeValue, 0, 2*len(res.Headers))
		for _, name := range slices.Sorted(maps.Keys(res.Headers)) {
			list = append(list, textValue(name), textValue(res.Headers[name]))
		}
		e.item[resHeaders] = &types.AttributeValueMemberL{Value: list}
	}
	if res.Body != nil {
		e.item[resBody] = &types.AttributeValueMemberB{Value: res.Body}
	}
	return e.item
}

// result reads the attribute result; nil where there is none.
func (d *decoder) result() (*dedupe.Result, *pointer) {
	v, ok := d.item[attrResult]
	if !ok {
		return nil, nil
	}
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		d.fail(attrResult, "is no map")
		return nil, nil
	}
	for name := range m.Value {
		if !slices.Contains([]string{resStatus, resContentType, resOmitted, resHeaders, resBody, resApart, resDigest}, name) {
			// Of a later release, for example of a compressed body: replayed without it, the result would be wrong.
			d.err = fmt.Errorf("%w: the result has the member %s", dedupe.ErrNewerSchema, name)
			return nil, nil
		}
	}
	in := &decoder{item: m.Value}
	res := &dedupe.Result{
		Status: int(in.number(resStatus)), ContentType: in.text(resContentType), Omitted: in.text(resOmitted),
		Headers: in.headers(), Body: in.bytes(resBody),
	}
	where := in.pointer()
	if e, ok := in.err.(*ItemError); ok { //nolint:errorlint // made by fail, never wrapped
		d.fail(attrResult+"."+e.Attribute, e.Problem)
		return nil, nil
	}
	return res, where
}

func (d *decoder) headers() map[string]string {
	v, ok := d.item[resHeaders]
	if !ok {
		return nil
	}
	list, ok := v.(*types.AttributeValueMemberL)
	if !ok || len(list.Value)%2 != 0 {
		d.fail(resHeaders, "is no list of names and values")
		return nil
	}
	headers := make(map[string]string, len(list.Value)/2)
	for pair := range slices.Chunk(list.Value, 2) {
		name, ok := textOf(pair[0])
		value, also := textOf(pair[1])
		if !ok || !also {
			d.fail(resHeaders, "is no list of names and values")
		}
		headers[name] = value
	}
	return headers
}

// bytes tells an empty value from a missing one: only the latter is nil.
func (d *decoder) bytes(name string) []byte {
	v, ok := d.item[name]
	if !ok {
		return nil
	}
	b, ok := v.(*types.AttributeValueMemberB)
	if !ok {
		d.fail(name, "is no binary")
		return nil
	}
	if b.Value == nil {
		return []byte{}
	}
	return b.Value
}

func (d *decoder) pointer() *pointer {
	id := d.text(resApart)
	if id == "" {
		return nil
	}
	return &pointer{id: id, digest: d.bytes(resDigest)}
}

// digestOf covers every part of a result, each with its length, so that no two results have one digest. It is made from the result
// and not from its attributes: servers may write one number in several ways.
func digestOf(res dedupe.Result) []byte {
	h := sha256.New()
	put(h, strconv.Itoa(res.Status))
	put(h, res.ContentType)
	put(h, res.Omitted)
	put(h, strconv.FormatBool(res.Headers == nil), strconv.Itoa(len(res.Headers)))
	for _, name := range slices.Sorted(maps.Keys(res.Headers)) {
		put(h, name, res.Headers[name])
	}
	put(h, strconv.FormatBool(res.Body == nil))
	_, _ = h.Write(res.Body) // the last one needs no length
	return h.Sum(nil)
}

func put(h hash.Hash, parts ...string) {
	for _, p := range parts {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		_, _ = h.Write([]byte(p))
	}
}
