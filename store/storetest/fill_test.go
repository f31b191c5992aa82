package storetest_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/storetest"
)

// zeros lists the fields below v that are not set.
func zeros(path string, v reflect.Value) (names []string) {
	switch {
	case v.IsZero():
		return []string{path}
	case v.Kind() == reflect.Pointer:
		return zeros(path, v.Elem())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			names = append(names, zeros(path, v.Index(i))...)
		}
	case v.Type() == reflect.TypeFor[dedupe.Record](), v.Type() == reflect.TypeFor[dedupe.Result](), v.Type() == reflect.TypeFor[dedupe.Mark]():
		for _, f := range reflect.VisibleFields(v.Type()) {
			names = append(names, zeros(strings.TrimPrefix(path+"."+f.Name, "."), v.FieldByIndex(f.Index))...)
		}
	}
	return names
}

// Unavailable is never stored; everything else must be filled, or a store that drops it would pass.
func TestEveryFieldIsFilled(t *testing.T) {
	t.Parallel()
	rec, problems := storetest.Filled()
	if len(problems) > 0 {
		t.Errorf("got problems %q, want none", problems)
	}
	if got, want := zeros("", reflect.ValueOf(rec)), []string{"Result.Unavailable"}; !slices.Equal(got, want) {
		t.Errorf("the fields %q are not filled, want only %q", got, want)
	}
}

func TestFieldsOfUnknownKindsAreReported(t *testing.T) {
	t.Parallel()
	var later struct {
		Known   string
		Ratio   float64
		Nothing chan int
	}
	var got []string
	for _, err := range storetest.FillErrors(&later) {
		got = append(got, err.Error())
	}
	if len(got) != 2 || !strings.Contains(got[0], "Ratio of type float64") || !strings.Contains(got[1], "Nothing of type chan int") {
		t.Errorf("got %q, want an error each for Ratio and Nothing", got)
	}
}

func TestEachFieldIsFilledAlone(t *testing.T) {
	t.Parallel()
	got := storetest.FieldsOf[dedupe.Record]()
	for _, want := range []string{"Fingerprint", "Marks.Step", "Marks.At", "Marks.Undone", "Result.Headers", "Result.Body", "ExpiresAt", "Troubled"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among the fields %q", want, got)
		}
	}
	for _, without := range []string{"Key", "Revision", "Result.Unavailable", "Marks", "Result"} {
		if slices.Contains(got, without) {
			t.Errorf("%s is among the fields that are filled alone", without)
		}
	}
}

// A difference is named by its field alone: a store's author looks for what is lost.
func TestDifferencesNameTheField(t *testing.T) {
	t.Parallel()
	want, _ := storetest.Filled()
	if d := storetest.Diff(want.Clone(), want); d != "" {
		t.Errorf("a copy differs: %s", d)
	}
	for path := range paths(reflect.TypeFor[dedupe.Record](), nil) {
		got := want.Clone()
		zeroField(&got, strings.Split(path, ".")...)
		if d := storetest.Diff(got, want); !strings.HasPrefix(d, path+": got ") || strings.Contains(d, "; ") {
			t.Errorf("without %s the difference is %q, want it to name this field alone", path, d)
		}
	}
	got := want.Clone()
	got.Marks[1].Undone = false
	if d, want := storetest.Diff(got, want), "Marks[1].Undone: got false, want true"; d != want {
		t.Errorf("got difference %q, want %q", d, want)
	}
	if d := storetest.Diff(dedupe.Record{}, want); !strings.HasPrefix(d, "got none, want the record of revision") {
		t.Errorf("got difference %q, want that there is none", d)
	}
}
