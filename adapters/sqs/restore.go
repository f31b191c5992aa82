package sqs

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// memberTaken is the member of AttributeAll with the message's attribute that it took in: {"name": {"Type": "…", "Value": "…"}}, a
// binary value in base64, as SNS writes attributes.
const memberTaken = "Attributes"

// Restore gives the attributes that a message had before it became a dead letter of this package, with their types: none of those that
// say why it is one, and again the one that [AttributeAll] took in. It is for programs that pass messages on to others: a [Source]
// puts back by itself, of what is moved back to its queue, the one that was taken in, and shows those that say why beside it. Such a
// message is best moved as it is, since it keeps the time of its sending ([AttributeSent]) so. What was no dead letter is returned itself. An error says that the attributes contradict each other or
// cannot be read.
func Restore(attributes map[string]types.MessageAttributeValue) (map[string]types.MessageAttributeValue, error) {
	p, err := readPast(attributes)
	if err != nil {
		return nil, fmt.Errorf("sqs: restore the attributes of a dead letter: %w", err)
	}
	return p.original, nil
}

// past is what a message was before it became a dead letter.
type past struct {
	original map[string]types.MessageAttributeValue
	taken    string    // the name of an attribute that was taken in
	sent     time.Time // zero if it does not say
}

// readPast leaves what it cannot read among the original. A dead letter that is made of such a message still has it, and so is refused
// again when it is moved back: else it would have forgotten how old it is, and run.
func readPast(attributes map[string]types.MessageAttributeValue) (p past, err error) {
	p.original = attributes
	if !marked(attributes) {
		return p, nil
	}
	p.original = maps.Clone(attributes)
	maps.DeleteFunc(p.original, func(name string, _ types.MessageAttributeValue) bool { return strings.HasPrefix(name, ownPrefix) })
	if stamp, ok := attributes[AttributeSent]; ok {
		if p.sent, err = readSent(aws.ToString(stamp.StringValue)); err != nil {
			p.original[AttributeSent] = stamp
		}
	}
	if folded, ok := attributes[AttributeAll]; ok {
		if e := p.unfold(aws.ToString(folded.StringValue)); e != nil {
			p.original[AttributeAll] = folded
			err = fmt.Errorf("its attribute %s cannot be read: %w", AttributeAll, e)
		}
	}
	return p, err
}

func readSent(stamp string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return time.Time{}, fmt.Errorf("its attribute %s is no time such as 2026-01-31T12:00:00.000Z", AttributeSent)
	}
	return t, nil
}

// marked: most messages never were dead letters.
func marked(attributes map[string]types.MessageAttributeValue) bool {
	for name := range attributes {
		if strings.HasPrefix(name, ownPrefix) {
			return true
		}
	}
	return false
}

// unfold puts back what foldIn took in, all or nothing. The time in it and one beside it count by the same rule as any two.
func (p *past) unfold(text string) error {
	o, err := readObject(text)
	if err != nil {
		return err
	}
	if o.has(AttributeSent) {
		stamp, err := o.text(AttributeSent)
		if err != nil {
			return err
		}
		sent, err := readSent(stamp)
		if err != nil {
			return err
		}
		p.sent = earlier(p.sent, sent)
	}
	if !o.has(memberTaken) {
		return nil
	}
	raw, err := o.one(memberTaken)
	if err != nil {
		return err
	}
	return p.putBack(raw)
}

func (p *past) putBack(raw json.RawMessage) error {
	list, err := readObject(string(raw))
	if err != nil || len(list) != 1 {
		return errors.New("its " + memberTaken + " are not one attribute")
	}
	name := list[0].name
	v, err := readValue(list[0].value)
	if err != nil {
		return err
	}
	if strings.HasPrefix(name, ownPrefix) { // none is ever taken in; a time of sending that came so would hide the true one
		return errors.New("the attribute in it is a dead letter's own")
	}
	if have, ok := p.original[name]; ok && !sameValue(have, v) {
		return errors.New("the attribute in it stands beside it too, with another value")
	}
	p.original[name], p.taken = v, name
	return nil
}

func readValue(raw json.RawMessage) (v types.MessageAttributeValue, err error) {
	fields, err := readObject(string(raw))
	if err != nil {
		return v, err
	}
	kind, err := fields.text("Type")
	if err != nil {
		return v, err
	}
	value, err := fields.text("Value")
	if err != nil {
		return v, err
	}
	v.DataType = &kind
	if !isBinary(kind) {
		v.StringValue = &value
		return v, nil
	}
	if v.BinaryValue, err = base64.StdEncoding.Strict().DecodeString(value); err != nil {
		return v, errors.New("its binary value is no base64")
	}
	return v, nil
}

func sameValue(a, b types.MessageAttributeValue) bool {
	return aws.ToString(a.DataType) == aws.ToString(b.DataType) && aws.ToString(a.StringValue) == aws.ToString(b.StringValue) &&
		bytes.Equal(a.BinaryValue, b.BinaryValue)
}

// foldIn makes one JSON text of own attributes, and of one of the message's unless its name is "".
func foldIn(own map[string]string, name string, v types.MessageAttributeValue) (string, error) {
	folded := map[string]any{}
	for n, value := range own {
		folded[n] = value
	}
	if name != "" {
		value := aws.ToString(v.StringValue)
		if isBinary(aws.ToString(v.DataType)) {
			value = base64.StdEncoding.EncodeToString(v.BinaryValue)
		}
		folded[memberTaken] = map[string]any{name: map[string]string{"Type": aws.ToString(v.DataType), "Value": value}}
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // each escape is five bytes more
	if err := e.Encode(folded); err != nil {
		return "", fmt.Errorf("the reason cannot be written as JSON: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
