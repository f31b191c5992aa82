package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/claimonce/claimonce/dedupe"
)

// fieldMutants drop each field of a record, also those that it will get one day.
func fieldMutants() map[string]breakage {
	list := map[string]breakage{
		"modes are numbers from zero": storing("states", func(rec *dedupe.Record) {
			if rec.Mode == dedupe.Rerun {
				rec.Mode = 0
			}
		}),
		"trouble is a flag": storing("states", func(rec *dedupe.Record) { rec.Troubled = min(rec.Troubled, 1) }),
		"trouble needs a time": storing("states", func(rec *dedupe.Record) {
			if rec.AttentionAt.IsZero() {
				rec.Troubled = 0
			}
		}),
		"unknown is stored as released": storing("states", func(rec *dedupe.Record) {
			if rec.State == dedupe.StateUnknown {
				rec.State = dedupe.StateReleased
			}
		}),
		"numbers are floats":   storing("numbers", func(rec *dedupe.Record) { rec.Fence = int64(float64(rec.Fence)) }),
		"attempts of one byte": storing("numbers", func(rec *dedupe.Record) { rec.Attempt = int(uint8(rec.Attempt)) }),
		"times to the second":  storing("times", func(rec *dedupe.Record) { rec.ClaimedAt = rec.ClaimedAt.Truncate(time.Second) }),
		"times of 32 bits": storing("times", func(rec *dedupe.Record) {
			rec.CreatedAt = rec.CreatedAt.Add(-time.Duration(rec.CreatedAt.Unix()>>31) << 31 * time.Second)
		}),
		"times of another zone":                storing("times", func(rec *dedupe.Record) { rec.LockedUntil = rec.LockedUntil.In(time.FixedZone("", 3600)) }),
		"expiry is rounded down to the minute": storing("times", func(rec *dedupe.Record) { rec.ExpiresAt = rec.ExpiresAt.Truncate(time.Minute) }),
		"a reason is made UTF-8":               storing("text", func(rec *dedupe.Record) { rec.Reason = strings.ToValidUTF8(rec.Reason, "\ufffd") }),
		"a reason ends at NUL":                 storing("text", func(rec *dedupe.Record) { rec.Reason, _, _ = strings.Cut(rec.Reason, "\x00") }),
		"a reason is trimmed":                  storing("text", func(rec *dedupe.Record) { rec.Reason = strings.TrimSpace(rec.Reason) }),
		"a reason is composed":                 storing("text", func(rec *dedupe.Record) { rec.Reason = strings.ReplaceAll(rec.Reason, "e\u0301", "é") }),
		"step names are UTF-8": storing("text", func(rec *dedupe.Record) {
			rec.Marks = slices.DeleteFunc(rec.Marks, func(m dedupe.Mark) bool { return !utf8.ValidString(m.Step) })
		}),
		"header names without case": storing("text", func(rec *dedupe.Record) {
			if rec.Result != nil && rec.Result.Headers != nil {
				lower := map[string]string{}
				for name, value := range rec.Result.Headers {
					lower[strings.ToLower(name)] = value
				}
				rec.Result.Headers = lower
			}
		}),
		"no marks for an empty list": storing("marks", func(rec *dedupe.Record) {
			if len(rec.Marks) == 0 {
				rec.Marks = nil
			}
		}),
		"marks by name": storing("marks", func(rec *dedupe.Record) {
			slices.SortStableFunc(rec.Marks, func(a, b dedupe.Mark) int { return strings.Compare(a.Step, b.Step) })
		}),
		"one mark for each name": storing("marks", func(rec *dedupe.Record) {
			rec.Marks = slices.CompactFunc(rec.Marks, func(a, b dedupe.Mark) bool { return a.Step == b.Step })
		}),
		"fifty marks": storing("marks", func(rec *dedupe.Record) { rec.Marks = rec.Marks[:min(len(rec.Marks), 50)] }),
	}
	for path := range paths(reflect.TypeFor[dedupe.Record](), nil) {
		list["drops "+path] = storing("fields", func(rec *dedupe.Record) { zeroField(rec, strings.Split(path, ".")...) })
		list["conflicts without "+path] = answering("fields", func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
			if errors.Is(err, dedupe.ErrConflict) {
				zeroField(&current, strings.Split(path, ".")...)
			}
			return current, err
		})
	}
	for _, name := range []string{"Schema", "Key", "State", "Revision"} {
		list["loads without "+name] = broken("write", func(m *mutant) {
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				rec, err := m.Store.Load(ctx, key)
				zeroField(&rec, name)
				return rec, err
			}
		})
		list["conflicts without "+name] = answering("refusal shows what is stored", func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
			if errors.Is(err, dedupe.ErrConflict) {
				zeroField(&current, name)
			}
			return current, err
		})
	}
	maps.Copy(list, cutMutants())
	for path := range paths(reflect.TypeFor[dedupe.Mark](), nil) {
		list["drops a mark's "+path] = storing("fields", func(rec *dedupe.Record) {
			for i := range rec.Marks {
				reflect.ValueOf(&rec.Marks[i]).Elem().FieldByName(path).SetZero()
			}
		})
	}
	return list
}

// cutMutants keep texts in columns that are too short for some.
func cutMutants() map[string]breakage {
	cut := func(n int, field func(rec *dedupe.Record) *string) breakage {
		return storing("text", func(rec *dedupe.Record) {
			if s := field(rec); s != nil {
				*s = (*s)[:min(len(*s), n)]
			}
		})
	}
	ofResult := func(field func(res *dedupe.Result) *string) func(rec *dedupe.Record) *string {
		return func(rec *dedupe.Record) *string {
			if rec.Result == nil {
				return nil
			}
			return field(rec.Result)
		}
	}
	return map[string]breakage{
		"reasons of 64 bytes":        cut(64, func(rec *dedupe.Record) *string { return &rec.Reason }),
		"reasons of 255 bytes":       cut(255, func(rec *dedupe.Record) *string { return &rec.Reason }),
		"owners of 40 bytes":         cut(40, func(rec *dedupe.Record) *string { return &rec.Owner }),
		"reconcilers of 40 bytes":    cut(40, func(rec *dedupe.Record) *string { return &rec.TakenBy }),
		"fingerprints of 64 bytes":   cut(64, func(rec *dedupe.Record) *string { return &rec.Fingerprint }),
		"content types of 255 bytes": cut(255, ofResult(func(res *dedupe.Result) *string { return &res.ContentType })),
		"omissions of 16 bytes":      cut(16, ofResult(func(res *dedupe.Result) *string { return &res.Omitted })),
		"steps of 32 bytes": cut(32, func(rec *dedupe.Record) *string {
			if len(rec.Marks) == 0 {
				return nil
			}
			return &rec.Marks[0].Step
		}),
		"reasons of 255 characters": storing("text", func(rec *dedupe.Record) {
			if r := []rune(rec.Reason); len(r) > 255 {
				rec.Reason = string(r[:255])
			}
		}),
	}
}

// paths are those of all fields, with those of the result.
func paths(t reflect.Type, above []string) map[string]bool {
	all := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		path := append(slices.Clone(above), f.Name)
		switch {
		case slices.Contains([]string{"Schema", "Key", "State", "Revision", "Unavailable"}, f.Name):
			continue // other rules are theirs
		case f.Type.Kind() == reflect.Pointer:
			maps.Copy(all, paths(f.Type.Elem(), path))
		}
		all[strings.Join(path, ".")] = true
	}
	return all
}

// changingBody changes the bodies that are longer than some bytes.
func changingBody(rule string, longer int, change func([]byte) []byte) breakage {
	return storing(rule, func(rec *dedupe.Record) {
		if rec.Result != nil && len(rec.Result.Body) > longer {
			rec.Result.Body = change(rec.Result.Body)
		}
	})
}

func resultMutants() map[string]breakage {
	onResult := func(rule string, change func(res *dedupe.Result)) breakage {
		return storing(rule, func(rec *dedupe.Record) {
			if rec.Result != nil {
				change(rec.Result)
			}
		})
	}
	return map[string]breakage{
		"no body for an empty one": onResult("bodies", func(res *dedupe.Result) { res.Body = append([]byte(nil), res.Body...) }),
		"an empty body for none":   onResult("bodies", func(res *dedupe.Result) { res.Body = append([]byte{}, res.Body...) }),
		"no headers for an empty map": onResult("bodies", func(res *dedupe.Result) {
			if len(res.Headers) == 0 {
				res.Headers = nil
			}
		}),
		"no result for an empty one": storing("bodies", func(rec *dedupe.Record) {
			if rec.Result != nil && reflect.ValueOf(*rec.Result).IsZero() {
				rec.Result = nil
			}
		}),
		"results are said to be unavailable": onResult("bodies", func(res *dedupe.Result) { res.Unavailable = true }),
		"headers joined by lines": onResult("bodies", func(res *dedupe.Result) {
			for name, value := range res.Headers {
				res.Headers[name], _, _ = strings.Cut(value, "\r\n")
			}
		}),
		"bodies are texts":          changingBody("bodies", 0, func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("?")) }),
		"bodies end at zero":        changingBody("bodies", 0, func(b []byte) []byte { b, _, _ = bytes.Cut(b, []byte{0}); return b }),
		"bodies of 1,024 bytes":     changingBody("large results", 1024, func(b []byte) []byte { return b[:1024] }),
		"bodies of 64 KiB":          changingBody("large results", 64<<10, func(b []byte) []byte { return b[:64<<10] }),
		"large bodies are missing":  changingBody("large results", 100<<10, func([]byte) []byte { return []byte{} }),
		"bodies of 1 MiB":           changingBody("too large", 1<<20, func(b []byte) []byte { return b[:1<<20] }),
		"too large without a name":  limited("too large", errors.New("item size has exceeded the maximum allowed size")),
		"too large, and it is gone": tooLargeIsGone(),
		"keys of 255 bytes": broken("longest key", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				if len(key.StoreID()) > 600 {
					return dedupe.Record{}, errors.New("value too long")
				}
				return m.Store.Swap(ctx, key, expect, next)
			}
		}),
		"large results by owner alone": resultsByOwner(),
	}
}

// limited refuses large records with an error of its own.
func limited(rule string, refusal error) breakage {
	return broken(rule, func(m *mutant) {
		m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
			if next.Result != nil && len(next.Result.Body) > 1<<20 {
				return dedupe.Record{}, refusal
			}
			return m.Store.Swap(ctx, key, expect, next)
		}
	})
}

func tooLargeIsGone() breakage {
	return broken("too large", func(m *mutant) {
		m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
			if next.Result != nil && len(next.Result.Body) > 1<<20 {
				m.Delete(key)
				return dedupe.Record{}, dedupe.ErrTooLarge
			}
			return m.Store.Swap(ctx, key, expect, next)
		}
	})
}

// resultsByOwner keeps large bodies apart under the owner's token: a refused write replaces the body of the one that stands.
func resultsByOwner() breakage {
	return broken("large results", func(m *mutant) {
		parts := newParts()
		m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
			if next.Result != nil && len(next.Result.Body) > 1024 {
				parts.set(next.Owner, next.Result.Body)
			}
			current, err := m.Store.Swap(ctx, key, expect, next)
			return parts.join(current), err
		}
		m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
			rec, err := m.Store.Load(ctx, key)
			return parts.join(rec), err
		}
	})
}
