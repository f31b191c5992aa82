package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

//go:embed refunds.jsonl
var bundled []byte

// request is one line of the input: a message as a producer would send it.
type request struct {
	Attributes map[string]string `json:"attributes"`
	Body       json.RawMessage   `json:"body"` // sent as it stands
	Text       string            `json:"text"` // instead of Body: for bodies that are no JSON
}

func (r request) payload() []byte {
	if r.Text != "" {
		return []byte(r.Text)
	}
	return r.Body
}

// readInput reads the requests and adds the run's label to their keys.
func readInput(path, label string) ([]request, error) {
	data := bundled
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("the input: %w", err)
		}
	}
	var reqs []request
	made := time.Now().UTC().Format(time.RFC3339)
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("the input, line %d: %w; each line is an object with attributes and body", n, err)
		}
		if len(r.payload()) == 0 {
			return nil, fmt.Errorf("the input, line %d has neither body nor text", n)
		}
		if key, ok := r.Attributes[consumer.DefaultKeyAttribute]; ok {
			r.Attributes[consumer.DefaultKeyAttribute] = key + "-" + label
		}
		if r.Attributes == nil {
			r.Attributes = map[string]string{}
		}
		if _, ok := r.Attributes[consumer.DefaultCreatedAtAttribute]; !ok {
			r.Attributes[consumer.DefaultCreatedAtAttribute] = made // once, before the first attempt to send
		}
		reqs = append(reqs, r)
	}
	if len(reqs) == 0 {
		return nil, errors.New("the input is empty")
	}
	return reqs, lines.Err()
}
