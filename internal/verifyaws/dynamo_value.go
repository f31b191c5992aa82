package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// dated: a clock further off than this would stop takeovers everywhere, so it is told here as what it is.
func dated(h http.Header) error {
	at, err := http.ParseTime(h.Get("Date"))
	switch {
	case err != nil:
		return fmt.Errorf("has the Date %q", h.Get("Date"))
	case h.Get("Age") != "":
		return fmt.Errorf("came from a cache: its Age is %q", h.Get("Age"))
	}
	if off := time.Since(at); off < -time.Minute || off > time.Minute {
		return fmt.Errorf("has a Date that is %v from this machine's clock: one of the two is wrong", off.Round(time.Second))
	}
	return nil
}

// exactNumbers: whole numbers of 64 bits come back digit for digit.
func exactNumbers(ctx context.Context, w *world) error {
	for _, want := range []string{"0", "9007199254740993", "9223372036854775807", "-9223372036854775808", "1700000000000"} {
		it, err := w.roundTrip(ctx, number(want))
		if err != nil {
			return err
		}
		if got := value(it, "v"); got != want {
			return seen("%s came back as %s", want, got)
		}
	}
	return nil
}

// exactTexts: text of any UTF-8 and bytes of any value come back exactly, the id too.
func exactTexts(ctx context.Context, w *world) error {
	odd := "é 日本 😀 \x00\x01\u007f \"'\\/ \u2028\ufffd"
	it, err := w.roundTrip(ctx, text(odd))
	if err != nil {
		return err
	}
	if got := value(it, "v"); got != odd {
		return seen("%q came back as %q", odd, got)
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	if it, err = w.roundTrip(ctx, bytesOf(all)); err != nil {
		return err
	}
	if got, _ := it["v"].(*types.AttributeValueMemberB); got == nil || !bytes.Equal(got.Value, all) {
		return seen("bytes of every value came back as %v", it["v"])
	}
	id := w.next() + "/é😀\x01:é" // the last letter composed of two: another id than with one
	if err := w.put(ctx, item{"id": text(id)}); err != nil {
		return err
	}
	if it, err = w.get(ctx, id); err == nil && value(it, "id") != id {
		return seen("the id %q came back as %q", id, value(it, "id"))
	}
	return err
}

// emptyValues: empty text, bytes, lists and maps may be stored, and are not absent afterwards.
func emptyValues(ctx context.Context, w *world) error {
	for name, v := range map[string]types.AttributeValue{
		"text": text(""), "bytes": bytesOf([]byte{}),
		"a list": &types.AttributeValueMemberL{Value: []types.AttributeValue{}}, "a map": &types.AttributeValueMemberM{Value: item{}},
		"bytes in a map": &types.AttributeValueMemberM{Value: item{"body": bytesOf([]byte{})}},
	} {
		it, err := w.roundTrip(ctx, v)
		if err != nil {
			return fmt.Errorf("empty %s: %w", name, err)
		}
		if it["v"] == nil {
			return seen("empty %s came back as absent", name)
		}
	}
	return nil
}

func (w *world) roundTrip(ctx context.Context, v types.AttributeValue) (item, error) {
	id := w.next()
	if err := w.put(ctx, item{"id": text(id), "v": v}); err != nil {
		return nil, err
	}
	return w.get(ctx, id)
}

const (
	unit      = 1024
	itemLimit = 400 << 10
	idLimit   = 2048
)

// sized is an item of that many bytes by the documented rules: names and values count.
func sized(id string, size int) item {
	return item{"id": text(id), "body": bytesOf(make([]byte, size-len("id")-len(id)-len("body")))}
}

// itemOf400K: an item of 409,600 bytes by these rules is stored.
func itemOf400K(ctx context.Context, w *world) error {
	if err := w.put(ctx, sized(w.next(), itemLimit)); err != nil {
		if codeOf(err) == "ValidationException" {
			return seen("an item of %d bytes was refused: %v", itemLimit, err)
		}
		return err
	}
	return nil
}

// itemTooLarge: one byte more is a ValidationException whose text says what the store looks for.
func itemTooLarge(ctx context.Context, w *world) error {
	err := w.put(ctx, sized(w.next(), itemLimit+1))
	if e := refused("an item of 409,601 bytes", err, "ValidationException"); e != nil {
		return e
	}
	if !strings.Contains(err.Error(), "maximum allowed size") {
		return seen("the text of the refusal is %q: the store looks for \"maximum allowed size\"", err)
	}
	return nil
}

// unitsByKilobyte: a write is billed one unit for each 1,024 bytes begun.
func unitsByKilobyte(ctx context.Context, w *world) error {
	for _, c := range []struct {
		size int
		want float64
	}{{unit, 1}, {unit + 1, 2}, {2 * unit, 2}, {2*unit + 1, 3}} {
		got, err := w.billed(ctx, sized(w.next(), c.size))
		if err != nil {
			return err
		}
		if got != c.want {
			return seen("a write of %d bytes was billed %g units, not %g", c.size, got, c.want)
		}
	}
	return nil
}

// nestedSizes: a list or map counts 3 bytes, and 1 for each element.
func nestedSizes(ctx context.Context, w *world) error {
	const elements = 10
	for _, kind := range []string{"list", "map"} {
		for over, want := range []float64{1, 2} {
			id := w.next()
			names, v := nested(kind, elements)
			size := len("id") + len(id) + len("v") + 3 + elements + names + len("body")
			got, err := w.billed(ctx, item{"id": text(id), "v": v, "body": bytesOf(make([]byte, unit-size+over))})
			if err != nil {
				return err
			}
			if got != want {
				return seen("an item with a %s, by the rules %d bytes, was billed %g units, not %g", kind, unit+over, got, want)
			}
		}
	}
	return nil
}

// nested is a list or map of elements of one byte each; size is that of names and values.
func nested(kind string, elements int) (size int, v types.AttributeValue) {
	list, m := []types.AttributeValue{}, item{}
	for i := range elements {
		list = append(list, text("x"))
		m[string(rune('a'+i))] = text("x")
	}
	if kind == "list" {
		return elements, &types.AttributeValueMemberL{Value: list}
	}
	return 2 * elements, &types.AttributeValueMemberM{Value: m}
}

func (w *world) billed(ctx context.Context, it item) (float64, error) {
	out, err := w.dynamo.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &w.table.name, Item: it, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return 0, err
	}
	if out.ConsumedCapacity == nil {
		return 0, seen("the answer does not say what was billed")
	}
	return aws.ToFloat64(out.ConsumedCapacity.CapacityUnits), nil
}

// longIDs: a partition key has up to 2,048 bytes.
func longIDs(ctx context.Context, w *world) error {
	id := w.next() + "é"
	id += strings.Repeat("x", idLimit-len(id))
	if err := w.put(ctx, item{"id": text(id)}); codeOf(err) == "ValidationException" {
		return seen("an id of %d bytes was refused: %v", idLimit, err)
	} else if err != nil {
		return err
	}
	return refused("an id of 2,049 bytes", w.put(ctx, item{"id": text(id + "x")}), "ValidationException")
}
