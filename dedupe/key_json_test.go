package dedupe_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
)

// Logs are JSON: a key that is part of what they are given shows its hash, as it does in every other text.
func TestOPS08_JSONLogsShowTheHashOfAKey(t *testing.T) {
	t.Parallel()
	said := &collector{}
	log := slog.New(slog.NewJSONHandler(said, nil))
	rec := dedupe.Record{Key: key, Result: &dedupe.Result{Body: []byte(`"secret"`)}}
	log.Info("x", "key", key, "observation", dedupe.Observation{Key: key}, "record", rec, "pointers", slog.GroupValue(slog.Any("key", &key), slog.Any("record", &rec)))
	text := said.String()
	if strings.Contains(text, key.ID) || strings.Contains(text, "secret") {
		t.Errorf("the ID or the result is in %s", text)
	}
	if n := strings.Count(text, key.Hash()); n != 5 {
		t.Errorf("the hash is there %d times, want 5: %s", n, text)
	}
}

// A key is data too: as part of an application's values it survives JSON, whether it is a field or embedded.
func TestKeySurvivesJSON(t *testing.T) {
	t.Parallel()
	type refund struct {
		dedupe.Key

		Amount int
		Other  dedupe.Key
	}
	want := refund{key, 5, key}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got refund
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
