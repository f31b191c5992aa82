package storetest_test

import (
	"context"
	"errors"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
)

func schemaMutants() map[string]breakage {
	return map[string]breakage{
		"a newer schema is read":        bareOf("newer schema is not read", func(*bare) {}),
		"a newer schema is overwritten": bareOf("newer schema is not overwritten", func(*bare) {}),
		"a newer schema is a conflict": answering("newer schema is not read", func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
			if errors.Is(err, dedupe.ErrNewerSchema) {
				err = errors.Join(err, dedupe.ErrConflict)
			}
			return current, err
		}),
		"a newer schema is absent": broken("newer schema is not read", func(m *mutant) {
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				rec, err := m.Store.Load(ctx, key)
				if errors.Is(err, dedupe.ErrNewerSchema) {
					err = nil
				}
				return rec, err
			}
		}),
		"a newer schema is another error": {rules: []string{"newer schema is not read", "newer schema is not overwritten"}, make: func() func() (dedupe.Store, error) {
			m := mutant{Store: memory.New()}
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				rec, err := m.Store.Load(ctx, key)
				if errors.Is(err, dedupe.ErrNewerSchema) {
					err = errors.New("connection reset")
				}
				return rec, err
			}
			return shared(m)
		}},
		"an expired newer schema is replaced": broken("newer schema is not overwritten", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				_, err := m.Store.Load(ctx, key)
				if _, ok := expect.Revision(); errors.Is(err, dedupe.ErrNewerSchema) && !ok && expect.ExpiredBy() > time.Now().Unix() {
					m.Delete(key)
				}
				return m.Store.Swap(ctx, key, expect, next)
			}
		}),
	}
}

func contextMutants() map[string]breakage {
	return map[string]breakage{
		"contexts are ignored": broken("ended context", func(m *mutant) {
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				return m.Store.Load(context.WithoutCancel(ctx), key)
			}
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				return m.Store.Swap(context.WithoutCancel(ctx), key, expect, next)
			}
		}),
		"an ended context has no cause": answering("ended context", func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
			if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				err = errors.New("request failed")
			}
			return current, err
		}),
		"an ended context is a conflict": broken("ended context", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				current, err := m.Store.Swap(ctx, key, expect, next)
				if err != nil && ctx.Err() != nil {
					err = errors.Join(dedupe.ErrConflict, ctx.Err())
				}
				return current, err
			}
		}),
		"a context that ends is a conflict": broken("context ends during a call", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				current, err := m.Store.Swap(ctx, key, expect, next)
				if next.Result != nil && len(next.Result.Body) == 5000 && ended(ctx) {
					return dedupe.Record{}, errors.Join(dedupe.ErrConflict, ctx.Err())
				}
				return current, err
			}
		}),
		"an ended context writes all the same": broken("ended context", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				current, err := m.Store.Swap(context.WithoutCancel(ctx), key, expect, next)
				if ctx.Err() != nil {
					return dedupe.Record{}, ctx.Err()
				}
				return current, err
			}
		}),
		"a context that ends leaves half": broken("context ends during a call", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				if ctx.Done() == nil || next.Result == nil || len(next.Result.Body) != 5000 {
					return m.Store.Swap(ctx, key, expect, next)
				}
				half := next.Clone()
				half.Result = nil
				if current, err := m.Store.Swap(ctx, key, expect, half); err != nil {
					return current, err
				}
				if ended(ctx) {
					return dedupe.Record{}, ctx.Err()
				}
				return m.Store.Swap(ctx, key, dedupe.AtRevision(half.Revision), next)
			}
		}),
		"a context that ends is another error": broken("context ends during a call", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				current, err := m.Store.Swap(ctx, key, expect, next)
				if err == nil && next.Result != nil && len(next.Result.Body) == 5000 && ended(ctx) {
					err = errors.New("connection closed")
				}
				return current, err
			}
		}),
	}
}

// ended waits for the end of a context that ends soon.
func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(10 * time.Millisecond):
		return false
	}
}
