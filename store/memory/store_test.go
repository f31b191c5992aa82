package memory_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
	"github.com/claimonce/claimonce/store/storetest"
)

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	s := memory.New()
	storetest.Run(t, storetest.Rig{Open: func() (dedupe.Store, error) { return s, nil }})
}

func record(id string) dedupe.Record {
	return dedupe.Record{
		Schema: dedupe.SchemaVersion, Key: dedupe.Key{Tenant: "t", Operation: "refund", ID: id}, State: dedupe.StateCompleted,
		Revision: "r1", ExpiresAt: time.Date(2001, 12, 1, 12, 0, 0, 0, time.UTC),
		Marks:  []dedupe.Mark{{Step: "charge"}},
		Result: &dedupe.Result{Body: []byte("body"), Headers: map[string]string{"ETag": "1"}},
	}
}

// filled holds records whose ids are in this order.
func filled(t *testing.T, ids ...string) *memory.Store {
	t.Helper()
	s := memory.New()
	for _, id := range ids {
		if _, err := s.Swap(t.Context(), record(id).Key, dedupe.AbsentAt(time.Unix(0, 0)), record(id)); err != nil {
			t.Fatalf("Swap: %v", err)
		}
	}
	return s
}

func TestAllGivesEveryRecordInOrder(t *testing.T) {
	t.Parallel()
	s := filled(t, "k-2", "k-1", "k-3")
	all := s.All()
	s.Delete(record("k-3").Key) // All is of the moment of its call
	want := []dedupe.Record{record("k-1"), record("k-2"), record("k-3")}
	if got := slices.Collect(all); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAllGivesCopies(t *testing.T) {
	t.Parallel()
	s := filled(t, "k-1")
	for rec := range s.All() {
		rec.Marks[0].Undone = true
		rec.Result.Body[0] = 'X'
		rec.Result.Headers["ETag"] = "2"
	}
	if got, want := slices.Collect(s.All()), []dedupe.Record{record("k-1")}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want what was written: %+v", got, want)
	}
}

func TestDeleteForgetsOneRecord(t *testing.T) {
	t.Parallel()
	s := filled(t, "k-1", "k-2")
	s.Delete(record("k-1").Key)
	s.Delete(record("k-3").Key)
	if got, err := s.Load(t.Context(), record("k-1").Key); err != nil || got.State != dedupe.StateAbsent {
		t.Errorf("got %+v, %v, want nothing", got, err)
	}
	if got, want := slices.Collect(s.All()), []dedupe.Record{record("k-2")}; !reflect.DeepEqual(got, want) {
		t.Errorf("left is %+v, want the other record", got)
	}
}
