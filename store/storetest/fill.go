package storetest

import (
	"fmt"
	"reflect"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A filler gives every field of a record a value of its own, by reflection: a field that the record gets one day is checked from that day
// on, and a kind of field that the filler does not know is an error.
type filler struct {
	n    int
	text func(n int) string
	errs []error
}

// leave is what a rule cannot choose freely: identity and condition, what names itself, and what is never stored.
func leave(path string) bool {
	switch path {
	case "Schema", "Key", "State", "Revision", "Result.Unavailable":
		return true
	}
	return false
}

// fill sets all fields below v, or, if only is not "", that one field.
func (f *filler) fill(path string, v reflect.Value, only string) {
	if leave(path) {
		return
	}
	f.n++
	switch v.Interface().(type) {
	case time.Time:
		at := noon().Add(time.Duration(f.n)*time.Hour + 789*time.Millisecond)
		if path == "ExpiresAt" {
			at = at.Truncate(time.Second)
		}
		v.Set(reflect.ValueOf(at))
		return
	case dedupe.Mode:
		v.Set(reflect.ValueOf(dedupe.RerunUnlessBegun))
		return
	case dedupe.Trouble:
		v.Set(reflect.ValueOf(dedupe.TroubleExhausted | dedupe.TroubleUnknown))
		return
	case []byte:
		v.SetBytes([]byte(f.text(f.n)))
		return
	}
	f.fillKind(path, v, only)
}

func (f *filler) fillKind(path string, v reflect.Value, only string) {
	switch v.Kind() { //nolint:exhaustive // the default refuses the rest
	case reflect.String:
		v.SetString(f.text(f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(int64(f.n))
	case reflect.Int64:
		v.SetInt(1<<53 + int64(2*f.n) + 1) // odd: no float64 holds it
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(path, v.Elem(), only)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(path, v.Index(0), only)
		f.fill(path, v.Index(1), only)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(path, key, "")
			f.fill(path, value, "")
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		f.fillFields(path, v, only)
	default:
		f.errs = append(f.errs, fmt.Errorf("storetest cannot fill %s of type %v: teach filler.fill", path, v.Type()))
	}
}

func (f *filler) fillFields(path string, v reflect.Value, only string) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if path != "" {
			name = path + "." + name
		}
		if within(name, only) {
			f.fill(name, v.Field(i), only)
		}
	}
}

// within: the field is the one asked for, holds it, or is part of it.
func within(name, only string) bool {
	under := func(a, b string) bool { return len(a) > len(b) && a[:len(b)+1] == b+"." }
	return only == "" || name == only || under(name, only) || under(only, name)
}

// fieldsOf lists the paths of all fields that hold values, for example "Marks.Step"; those of elements of a slice once.
func fieldsOf(path string, t reflect.Type) []string {
	switch {
	case leave(path):
		return nil
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return fieldsOf(path, t.Elem())
	case t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]():
		return []string{path}
	}
	var all []string
	for _, f := range reflect.VisibleFields(t) {
		name := f.Name
		if path != "" {
			name = path + "." + name
		}
		all = append(all, fieldsOf(name, f.Type)...)
	}
	return all
}

// filled is a completed record with all fields set, or only the one at a path beside what every record has.
func (p *probe) filled(only string, text func(n int) string) dedupe.Record {
	rec := dedupe.Record{Schema: dedupe.SchemaVersion, Key: newKey(), State: dedupe.StateCompleted, Revision: newRevision()}
	f := &filler{text: text}
	f.fill("", reflect.ValueOf(&rec).Elem(), only)
	for _, err := range f.errs {
		p.errorf("%v", err)
	}
	return rec
}
