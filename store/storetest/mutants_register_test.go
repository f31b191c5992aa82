package storetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// never is before any record of the rules expires.
var never = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)

func registerMutants() map[string]breakage {
	return map[string]breakage{
		"load of nothing is an error": broken("absent", func(m *mutant) {
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				rec, err := m.Store.Load(ctx, key)
				if err == nil && rec.State == dedupe.StateAbsent {
					err = errors.New("not found")
				}
				return rec, err
			}
		}),
		"load of nothing names the key": broken("absent", func(m *mutant) {
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				rec, err := m.Store.Load(ctx, key)
				rec.Key = key
				return rec, err
			}
		}),
		"writes are forgotten": broken("write", func(m *mutant) {
			m.swap = func(context.Context, dedupe.Key, dedupe.Expect, dedupe.Record) (dedupe.Record, error) {
				return dedupe.Record{}, nil
			}
		}),
		"replacing keeps what was there": broken("write", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				stored, _ := m.Store.Load(ctx, key)
				if next.Result == nil {
					next.Result = stored.Result
				}
				return m.Store.Swap(ctx, key, expect, next)
			}
		}),
		"last writer wins": judging("refusal writes nothing", func(dedupe.Expect, dedupe.Record) bool { return true }),
		"a conflict writes all the same": broken("refusal writes nothing", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				current, err := m.Store.Swap(ctx, key, expect, next)
				if errors.Is(err, dedupe.ErrConflict) {
					_ = overwrite(ctx, m.Store, current, next)
				}
				return current, err
			}
		}),
		"a conflict on nothing writes": broken("refusal writes nothing", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				current, err := m.Store.Swap(ctx, key, expect, next)
				if errors.Is(err, dedupe.ErrConflict) && current.State == dedupe.StateAbsent {
					_ = overwrite(ctx, m.Store, current, next)
				}
				return current, err
			}
		}),
		"a conflict hides the current record": answering("refusal shows what is stored",
			func(_ dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) { return dedupe.Record{}, err }),
		"a conflict hides the result": answering("refusal shows what is stored",
			func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
				current.Result = nil
				return current, err
			}),
		"a conflict shows what was to be written": answering("refusal shows what is stored",
			func(_ dedupe.Record, err error, next dedupe.Record) (dedupe.Record, error) { return next, err }),
		"a conflict is another error": answering("refusal shows what is stored",
			func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
				if errors.Is(err, dedupe.ErrConflict) {
					err = errors.New("conditional check failed")
				}
				return current, err
			}),
		"a conflict on nothing is success": answering("refusal shows what is stored",
			func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
				if errors.Is(err, dedupe.ErrConflict) && current.State == dedupe.StateAbsent {
					err = nil
				}
				return current, err
			}),
		"revisions without case": judging("revision", func(e dedupe.Expect, stored dedupe.Record) bool {
			r, ok := e.Revision()
			return ok && strings.EqualFold(r, stored.Revision) || e.Met(stored)
		}),
		"revisions without blanks": judging("revision", func(e dedupe.Expect, stored dedupe.Record) bool {
			r, ok := e.Revision()
			return ok && strings.TrimSpace(r) == stored.Revision || e.Met(stored)
		}),
		"revisions by their beginning": judging("revision", func(e dedupe.Expect, stored dedupe.Record) bool {
			r, ok := e.Revision()
			return ok && r != "" && strings.HasPrefix(stored.Revision, r) || e.Met(stored)
		}),
		"the owner counts for the revision": judging("revision", func(e dedupe.Expect, stored dedupe.Record) bool {
			r, ok := e.Revision()
			return ok && stored.Owner == r || e.Met(stored)
		}),
		"own write is reported as a rival": answering("own write",
			func(current dedupe.Record, err error, next dedupe.Record) (dedupe.Record, error) {
				if errors.Is(err, dedupe.ErrConflict) && current.Revision == next.Revision {
					current.Revision = "another"
				}
				return current, err
			}),
		"own write is success": answering("own write",
			func(current dedupe.Record, err error, next dedupe.Record) (dedupe.Record, error) {
				if errors.Is(err, dedupe.ErrConflict) && current.Revision == next.Revision {
					err = nil
				}
				return current, err
			}),
		"own write without its result": answering("own write",
			func(current dedupe.Record, err error, next dedupe.Record) (dedupe.Record, error) {
				if errors.Is(err, dedupe.ErrConflict) && current.Revision == next.Revision {
					current.Result = nil
				}
				return current, err
			}),
		"equal but for the revision is equal": broken("former revision", func(m *mutant) {
			var known sync.Map // what each revision was of, as a store keeps that goes by a digest
			content := func(rec dedupe.Record) string {
				rec.Revision = ""
				digest, _ := json.Marshal(rec)
				return string(digest)
			}
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				known.Store(next.Revision, content(next))
				stored, err := m.Store.Load(ctx, key)
				revision, _ := expect.Revision()
				if was, ok := known.Load(revision); ok && err == nil && was == content(stored) {
					expect = dedupe.AtRevision(stored.Revision)
				}
				return m.Store.Swap(ctx, key, expect, next)
			}
		}),
	}
}

func expiryMutants() map[string]breakage {
	byExpiry := func(rule string, expired func(at, expires int64) bool) breakage {
		return judging(rule, func(e dedupe.Expect, stored dedupe.Record) bool {
			if _, ok := e.Revision(); ok || stored.State == dedupe.StateAbsent || stored.ExpiresAt.IsZero() {
				return e.Met(stored)
			}
			return expired(e.ExpiredBy(), stored.ExpiresAt.Unix())
		})
	}
	return map[string]breakage{
		"expires a second late":       byExpiry("expiry", func(at, expires int64) bool { return expires < at }),
		"expires a second early":      byExpiry("expiry", func(at, expires int64) bool { return expires-1 <= at }),
		"never expires":               byExpiry("expiry", func(int64, int64) bool { return false }),
		"always expired":              byExpiry("expiry", func(int64, int64) bool { return true }),
		"expiry compared as text":     byExpiry("expiry", func(at, expires int64) bool { return strconv.FormatInt(expires, 10) <= strconv.FormatInt(at, 10) }),
		"expiry by the store's clock": byExpiry("no clock", func(_, expires int64) bool { return expires <= time.Now().Unix() }),
		"absence ignores who has no expiry": judging("no expiry", func(e dedupe.Expect, stored dedupe.Record) bool {
			_, ok := e.Revision()
			return !ok && stored.ExpiresAt.IsZero() || e.Met(stored)
		}),
		"released records count as absent": judging("no expiry", func(e dedupe.Expect, stored dedupe.Record) bool {
			_, ok := e.Revision()
			return !ok && stored.State == dedupe.StateReleased || e.Met(stored)
		}),
		"load hides what has expired": broken("expired is shown", func(m *mutant) {
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				rec, err := m.Store.Load(ctx, key)
				if !rec.ExpiresAt.IsZero() && rec.ExpiresAt.Before(time.Now()) {
					rec = dedupe.Record{}
				}
				return rec, err
			}
		}),
		"a conflict hides what has expired": answering("expired is shown",
			func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
				if err != nil && !current.ExpiresAt.IsZero() && current.ExpiresAt.Before(time.Now()) {
					current = dedupe.Record{}
				}
				return current, err
			}),
	}
}
