package dedupe_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
)

// Logs and audit trails are JSON: a key that is part of what they are given shows its hash, as it does in every other text.
func TestOPS08_JSONShowsTheHashOfAKey(t *testing.T) {
	t.Parallel()
	said := &collector{}
	log := slog.New(slog.NewJSONHandler(said, nil))
	log.Info("x", "key", key, "observation", dedupe.Observation{Key: key}, "record", dedupe.Record{Key: key}, "pointer", &key)
	b, err := json.Marshal(map[string]any{"key": key, "keys": []dedupe.Key{key}})
	if err != nil {
		t.Fatal(err)
	}
	said.print(string(b))
	text := said.String()
	if strings.Contains(text, key.ID) {
		t.Errorf("the ID is in %s", text)
	}
	if n := strings.Count(text, key.Hash()); n != 6 {
		t.Errorf("the hash is there %d times, want 6: %s", n, text)
	}
}

// A key that was stored as JSON is lost: whoever does so must see it at the first read, not when the key is missing.
func TestKeyIsNotReadFromItsHash(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	var back dedupe.Key
	if err := json.Unmarshal(b, &back); !errors.Is(err, dedupe.ErrMalformedKey) || !strings.Contains(err.Error(), "fields of your own") {
		t.Errorf("got %v, %v, want an error that says what to do", back, err)
	}
	if err := json.Unmarshal([]byte(`{"Tenant":"acme","operation":"refund","ID":"refund-4711"}`), &back); err != nil || back != key {
		t.Errorf("from its fields: got %v, %v, want the key", back, err)
	}
	if err := json.Unmarshal([]byte(`{"ID":7}`), &back); err == nil {
		t.Error("a number passed for an ID")
	}
}
