package storetest_test

import (
	"context"
	"errors"
	"strings"

	"github.com/claimonce/claimonce/dedupe"
)

func idMutants() map[string]breakage {
	idOf := func(rule string, id func(k dedupe.Key) string) breakage {
		return bareOf(rule, func(b *bare) { b.id = id })
	}
	join := func(sep string) func(dedupe.Key) string {
		return func(k dedupe.Key) string { return k.Tenant + sep + k.Operation + sep + k.ID }
	}
	changed := func(change func(string) string) breakage {
		return idOf("ids", func(k dedupe.Key) string { return change(k.StoreID()) })
	}
	escape := strings.NewReplacer("/", "%2F") // and leaves % as it is
	short := func(s string, n int) string { return s[:min(len(s), n)] }
	list := map[string]breakage{
		"ids without a separator":   idOf("ids at random", join("")),
		"ids without the tenant":    idOf("ids", func(k dedupe.Key) string { return k.Operation + "\x00\x00" + k.ID }),
		"ids without the operation": idOf("ids", func(k dedupe.Key) string { return k.Tenant + "\x00\x00" + k.ID }),
		"ids of the operation's length": idOf("ids at random", func(k dedupe.Key) string {
			return strings.Repeat("x", len(k.Operation)) + k.Tenant + k.Operation + k.ID
		}),
		"ids with / escaped by half": idOf("ids", func(k dedupe.Key) string {
			return escape.Replace(k.Tenant) + "/" + escape.Replace(k.Operation) + "/" + escape.Replace(k.ID)
		}),
		"ids without case":        changed(strings.ToLower),
		"ids with blanks trimmed": changed(strings.TrimSpace),
		"ids that end at NUL":     changed(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }),
		"ids composed":            changed(func(s string) string { return strings.NewReplacer("e\u0301", "é", "a\u0301", "á").Replace(s) }),
		"ids of 255 bytes":        changed(func(s string) string { return short(s, 255) }),
		"tenants of 64 bytes":     idOf("ids", func(k dedupe.Key) string { k.Tenant = short(k.Tenant, 64); return k.StoreID() }),
		"no tenant is the default one": idOf("ids", func(k dedupe.Key) string {
			if k.Tenant == "" {
				k.Tenant = "default"
			}
			return k.StoreID()
		}),
		"ids made UTF-8": idOf("keys that are no UTF-8", func(k dedupe.Key) string { return strings.ToValidUTF8(k.StoreID(), "\ufffd") }),
		"no UTF-8 is another error": broken("keys that are no UTF-8", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				if strings.ToValidUTF8(key.StoreID(), "") != key.StoreID() {
					return dedupe.Record{}, errors.New("invalid byte sequence")
				}
				return m.Store.Swap(ctx, key, expect, next)
			}
		}),
		"a record under any key": bareOf("key of another", func(*bare) {}),
	}
	for _, sep := range []string{"/", ":", "#", "|", ",", "\x00", "\x1f", "_", "-", "."} {
		list["ids joined by "+strings.ToValidUTF8(sep, "")] = idOf("ids", join(sep))
	}
	return list
}
