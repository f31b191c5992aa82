package memory_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
)

var (
	key  = dedupe.Key{Tenant: "t", Operation: "refund", ID: "k-1"}
	noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
)

func record(revision string, state dedupe.State) dedupe.Record {
	return dedupe.Record{
		Schema: dedupe.SchemaVersion, Key: key, State: state, Revision: revision,
		Marks:  []dedupe.Mark{{Step: "charge", At: noon}},
		Result: &dedupe.Result{Body: []byte("body"), Headers: map[string]string{"ETag": "1"}},
	}
}

func put(t *testing.T, s *memory.Store, expect dedupe.Expect, next dedupe.Record) {
	t.Helper()
	if _, err := s.Swap(t.Context(), next.Key, expect, next); err != nil {
		t.Fatalf("Swap: %v", err)
	}
}

func TestSwapWritesOnlyWhatWasExpected(t *testing.T) {
	t.Parallel()
	expired := record("r1", dedupe.StateCompleted)
	expired.ExpiresAt = noon
	for name, c := range map[string]struct {
		stored dedupe.Record
		expect dedupe.Expect
		ok     bool
	}{
		"absent, absence expected":   {dedupe.Record{}, dedupe.AbsentAt(noon), true},
		"absent, revision expected":  {dedupe.Record{}, dedupe.AtRevision("r1"), false},
		"there, absence expected":    {record("r1", dedupe.StateInProgress), dedupe.AbsentAt(noon), false},
		"there, its revision":        {record("r1", dedupe.StateInProgress), dedupe.AtRevision("r1"), true},
		"there, another revision":    {record("r1", dedupe.StateInProgress), dedupe.AtRevision("r0"), false},
		"expired now":                {expired, dedupe.AbsentAt(noon), true},
		"expires in the next second": {expired, dedupe.AbsentAt(noon.Add(-time.Second)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := memory.New()
			if c.stored.Revision != "" {
				put(t, s, dedupe.AbsentAt(noon), c.stored)
			}
			next := record("r2", dedupe.StateReleased)
			current, err := s.Swap(t.Context(), key, c.expect, next)
			if c.ok && err != nil || !c.ok && !errors.Is(err, dedupe.ErrConflict) {
				t.Fatalf("got error %v, want success %v", err, c.ok)
			}
			if !c.ok && !reflect.DeepEqual(current, c.stored) {
				t.Errorf("the conflict shows %+v, want what is stored: %+v", current, c.stored)
			}
			want := c.stored
			if c.ok {
				want = next
			}
			if got, err := s.Load(t.Context(), key); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("stored is %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestRecordsAreCopiedInAndOut(t *testing.T) {
	t.Parallel()
	s := memory.New()
	given := record("r1", dedupe.StateCompleted)
	put(t, s, dedupe.AbsentAt(noon), given)
	spoil := func(rec dedupe.Record) {
		rec.Marks[0].Undone = true
		rec.Result.Body[0] = 'X'
		rec.Result.Headers["ETag"] = "2"
	}
	spoil(given)
	loaded, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	spoil(loaded)
	conflict, err := s.Swap(t.Context(), key, dedupe.AtRevision("other"), given)
	if !errors.Is(err, dedupe.ErrConflict) {
		t.Fatalf("got %v, want a conflict", err)
	}
	spoil(conflict)
	for rec := range s.All() {
		spoil(rec)
	}
	got, err := s.Load(t.Context(), key)
	if want := record("r1", dedupe.StateCompleted); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want what was written first: %+v", got, err, want)
	}
}

func TestNewerSchemaIsNeverReadNorOverwritten(t *testing.T) {
	t.Parallel()
	s := memory.New()
	newer := record("r1", dedupe.StateCompleted)
	newer.Schema, newer.ExpiresAt = dedupe.SchemaVersion+1, noon
	put(t, s, dedupe.AbsentAt(noon), newer)
	if _, err := s.Load(t.Context(), key); !errors.Is(err, dedupe.ErrNewerSchema) {
		t.Errorf("Load: got %v, want ErrNewerSchema", err)
	}
	for name, expect := range map[string]dedupe.Expect{
		"its revision": dedupe.AtRevision("r1"), "another": dedupe.AtRevision("r0"), "expired": dedupe.AbsentAt(noon),
	} {
		if _, err := s.Swap(t.Context(), key, expect, record("r2", dedupe.StateReleased)); !errors.Is(err, dedupe.ErrNewerSchema) {
			t.Errorf("Swap expecting %s: got %v, want ErrNewerSchema", name, err)
		}
	}
}

func TestEndedContextWritesNothing(t *testing.T) {
	t.Parallel()
	s := memory.New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Swap(ctx, key, dedupe.AbsentAt(noon), record("r1", dedupe.StateInProgress)); !errors.Is(err, context.Canceled) {
		t.Errorf("Swap: got %v, want the context's error", err)
	}
	if _, err := s.Load(ctx, key); !errors.Is(err, context.Canceled) {
		t.Errorf("Load: got %v, want the context's error", err)
	}
	if n := len(slices.Collect(s.All())); n != 0 {
		t.Errorf("%d records were written, want none", n)
	}
}

func TestDeleteForgetsOneRecord(t *testing.T) {
	t.Parallel()
	s := memory.New()
	other := record("r1", dedupe.StateCompleted)
	other.Key.Tenant = "another"
	put(t, s, dedupe.AbsentAt(noon), record("r1", dedupe.StateCompleted))
	put(t, s, dedupe.AbsentAt(noon), other)
	s.Delete(key)
	if got, err := s.Load(t.Context(), key); err != nil || got.State != dedupe.StateAbsent {
		t.Errorf("got %+v, %v, want nothing", got, err)
	}
	if got := slices.Collect(s.All()); len(got) != 1 || got[0].Key != other.Key {
		t.Errorf("left is %+v, want the other tenant's record", got)
	}
}

func TestOneOfManySwapsWins(t *testing.T) {
	t.Parallel()
	s := memory.New()
	var wg sync.WaitGroup
	won := make(chan string, 32)
	for i := range 32 {
		wg.Go(func() {
			next := record(fmt.Sprint("r", i), dedupe.StateInProgress)
			if _, err := s.Swap(t.Context(), key, dedupe.AbsentAt(noon), next); err == nil {
				won <- next.Revision
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d claims won, want 1", len(won))
	}
	if got, err := s.Load(t.Context(), key); err != nil || got.Revision != <-won {
		t.Errorf("stored is %q, %v, want the winner's", got.Revision, err)
	}
}
