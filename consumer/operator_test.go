package consumer_test

import (
	"testing"

	"github.com/claimonce/claimonce/dedupe"
)

// seen is the record as a person looks at it before deciding.
func seen(t *testing.T, l *dedupe.Ledger, key dedupe.Key) dedupe.Record {
	t.Helper()
	rec, err := l.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}
