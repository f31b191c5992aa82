package storetest_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
	"github.com/claimonce/claimonce/store/storetest"
)

// A mutant is a store that is broken in one way. What it does not do itself it leaves to a healthy one.
type mutant struct {
	*memory.Store

	load func(ctx context.Context, key dedupe.Key) (dedupe.Record, error)
	swap func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error)
}

func (m mutant) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	if m.load == nil {
		return m.Store.Load(ctx, key)
	}
	return m.load(ctx, key)
}

func (m mutant) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if m.swap == nil {
		return m.Store.Swap(ctx, key, expect, next)
	}
	return m.swap(ctx, key, expect, next)
}

// breakage makes a broken store and names rules that must notice.
type breakage struct {
	make  func() func() (dedupe.Store, error)
	rules []string
}

// broken breaks one store that all handles share.
func broken(rule string, change func(m *mutant)) breakage {
	return breakage{rules: []string{rule}, make: func() func() (dedupe.Store, error) {
		m := mutant{Store: memory.New()}
		change(&m)
		return shared(m)
	}}
}

// all lists every mutant.
func all() map[string]breakage {
	list := map[string]breakage{}
	for _, part := range []map[string]breakage{
		registerMutants(), expiryMutants(), fieldMutants(), resultMutants(), copyMutants(), idMutants(), schemaMutants(), contextMutants(), workerMutants(),
		raceMutants(), goroutineMutants(),
	} {
		maps.Copy(list, part)
	}
	return list
}

func TestEachMutantFailsTheRuleThatItBreaks(t *testing.T) {
	t.Parallel()
	for name, b := range all() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig := storetest.Rig{Open: b.make(), Artifacts: t.TempDir()}
			for _, name := range b.rules {
				err := ruleNamed(t, name).Check(t.Context(), rig)
				if f, ok := errors.AsType[*storetest.Failure](err); !ok || f.Rule.Name != name {
					t.Errorf("got %v, want a failure of %q", err, name)
				}
			}
		})
	}
}

func ruleNamed(t *testing.T, name string) storetest.Rule {
	t.Helper()
	for _, r := range storetest.Rules() {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("there is no rule %q", name)
	return storetest.Rule{}
}

// A rule that no mutant breaks may be one that cannot fail.
func TestEachRuleHasAMutant(t *testing.T) {
	t.Parallel()
	var named []string
	for _, b := range all() {
		named = append(named, b.rules...)
	}
	named = append(named, "unavailable results") // see TestUnavailableResults: it needs more than a store
	for _, rule := range storetest.Rules() {
		if !slices.Contains(named, rule.Name) {
			t.Errorf("no mutant breaks %q", rule.Name)
		}
	}
}

// storing changes records before they are written.
func storing(rule string, change func(rec *dedupe.Record)) breakage {
	return broken(rule, func(m *mutant) {
		m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
			next = next.Clone()
			change(&next)
			return m.Store.Swap(ctx, key, expect, next)
		}
	})
}

// answering changes what a swap answers.
func answering(rule string, change func(current dedupe.Record, err error, next dedupe.Record) (dedupe.Record, error)) breakage {
	return broken(rule, func(m *mutant) {
		m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
			current, err := m.Store.Swap(ctx, key, expect, next)
			return change(current, err, next)
		}
	})
}

// judging replaces the test of the expectation. It is not atomic; the rules of one worker do not notice.
func judging(rule string, met func(expect dedupe.Expect, stored dedupe.Record) bool) breakage {
	return broken(rule, func(m *mutant) {
		m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
			stored, err := m.Store.Load(ctx, key)
			switch {
			case err != nil:
				return dedupe.Record{}, err
			case !met(expect, stored):
				return stored, dedupe.ErrConflict
			}
			return dedupe.Record{}, overwrite(ctx, m.Store, stored, next)
		}
	})
}

// overwrite puts next in the place of stored, whatever is expected.
func overwrite(ctx context.Context, s dedupe.Store, stored, next dedupe.Record) error {
	expect := dedupe.AbsentAt(never)
	if stored.State != dedupe.StateAbsent {
		expect = dedupe.AtRevision(stored.Revision)
	}
	_, err := s.Swap(ctx, next.Key, expect, next)
	if errors.Is(err, dedupe.ErrConflict) {
		stored, err = s.Load(ctx, next.Key)
		if err == nil {
			return overwrite(ctx, s, stored, next)
		}
	}
	return err
}

func zeroField(rec *dedupe.Record, path ...string) {
	v := reflect.ValueOf(rec).Elem()
	for _, name := range path {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return
			}
			v = v.Elem()
		}
		v = v.FieldByName(name)
	}
	v.SetZero()
}
