package storetest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// diff names the fields in which got differs from want, with both values; "" if there are none. Nil and empty differ, and so do two
// times of one instant in different zones: records are compared as they are.
func diff(got, want dedupe.Record) string {
	if want.State == dedupe.StateAbsent && got.State != dedupe.StateAbsent {
		return fmt.Sprintf("got a record of revision %q in state %v, want none", got.Revision, got.State)
	}
	if got.State == dedupe.StateAbsent && want.State != dedupe.StateAbsent {
		return fmt.Sprintf("got none, want the record of revision %q", want.Revision)
	}
	return strings.Join(differences("", reflect.ValueOf(got), reflect.ValueOf(want)), "; ")
}

func differences(path string, got, want reflect.Value) []string {
	switch {
	case got.Type() == reflect.TypeFor[time.Time]() || got.Type() == reflect.TypeFor[dedupe.Key]():
	case got.Kind() == reflect.Struct:
		var all []string
		for _, f := range reflect.VisibleFields(got.Type()) {
			all = append(all, differences(strings.TrimPrefix(path+"."+f.Name, "."), got.FieldByIndex(f.Index), want.FieldByIndex(f.Index))...)
		}
		return all
	case got.Kind() == reflect.Pointer && !got.IsNil() && !want.IsNil():
		return differences(path, got.Elem(), want.Elem())
	case got.Kind() == reflect.Slice && got.Type().Elem().Kind() == reflect.Struct && got.Len() == want.Len() && got.Len() > 0:
		var all []string
		for i := range got.Len() {
			all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), got.Index(i), want.Index(i))...)
		}
		return all
	}
	if reflect.DeepEqual(got.Interface(), want.Interface()) {
		return nil
	}
	return []string{fmt.Sprintf("%s: got %s, want %s", path, short(got), short(want))}
}

// short prints a value for a person: maps in order, and no more of a long one than tells it apart.
func short(v reflect.Value) string {
	var s string
	switch x := v.Interface().(type) {
	case []byte:
		if s = fmt.Sprintf("%q", x[:min(len(x), 40)]); x == nil {
			s = "no bytes"
		}
		return fmt.Sprintf("%s (%d bytes)", s, len(x))
	case map[string]string:
		if x == nil {
			return "no map"
		}
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(x)) {
			pairs = append(pairs, fmt.Sprintf("%q: %q", name, x[name]))
		}
		s = "{" + strings.Join(pairs, ", ") + "}"
	default:
		s = fmt.Sprintf("%#v", x)
	}
	if t, ok := reflect.TypeAssert[time.Time](v); ok {
		s = t.Format(time.RFC3339Nano)
	}
	const enough = 200
	if len(s) > enough {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:enough], ""), len(s))
	}
	return s
}
