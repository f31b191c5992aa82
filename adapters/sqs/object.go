package sqs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// object is a JSON object as it stands: members in their order, equal names and all.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// readObject gives the members as far as they can be read.
func readObject(text string) (o object, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return o, errors.New("it is no valid JSON")
		}
		m := member{}
		m.name, _ = name.(string) // a name is nothing else
		if err := d.Decode(&m.value); err != nil {
			return o, errors.New("it is no valid JSON")
		}
		o = append(o, m)
	}
	if _, err := d.Token(); err != nil {
		return o, errors.New("it is no valid JSON")
	}
	if strings.TrimLeft(text[d.InputOffset():], " \t\r\n") != "" {
		return o, errors.New("there is more after its end")
	}
	return o, nil
}

func (o object) has(name string) bool {
	for _, m := range o {
		if m.name == name {
			return true
		}
	}
	return false
}

func (o object) one(name string) (value json.RawMessage, err error) {
	n := 0
	for _, m := range o {
		if m.name == name {
			value = m.value
			n++
		}
	}
	if n != 1 {
		return nil, fmt.Errorf("it has %d members %s, want one", n, name)
	}
	return value, nil
}

// anyText: a member of that name is this text, or any but the empty one if want is "".
func (o object) anyText(name, want string) bool {
	for _, m := range o {
		var s string
		if m.name != name || m.value[0] != '"' || json.Unmarshal(m.value, &s) != nil {
			continue
		}
		if s == want && want != "" || s != "" && want == "" {
			return true
		}
	}
	return false
}

func (o object) text(name string) (s string, err error) {
	raw, err := o.one(name)
	if err != nil {
		return "", err
	}
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", fmt.Errorf("its %s is no text", name)
	}
	if replaced := strings.Count(s, "\ufffd"); replaced > 0 && replaced > replacements(string(raw)) {
		return "", fmt.Errorf("its %s is no valid Unicode", name)
	}
	return s, nil
}

// replacements is how many U+FFFD a JSON string asks for. Go makes one of each half of a surrogate pair too, and so reads different
// messages as one. Escaped backslashes are taken out first: what follows one is no escape.
func replacements(raw string) int {
	escapes := strings.ToLower(strings.ReplaceAll(raw, `\\`, "  "))
	return strings.Count(raw, "\ufffd") + strings.Count(escapes, `\ufffd`)
}
