package storetest

import (
	"reflect"

	"github.com/claimonce/claimonce/dedupe"
)

// Filled is a record as the rules fill it, with what they found wrong.
func Filled() (dedupe.Record, []string) {
	p := &probe{}
	return p.filled("", plain), p.problems()
}

// FillErrors fills what v points to.
func FillErrors(v any) []error {
	f := &filler{text: plain}
	f.fill("", reflect.ValueOf(v).Elem(), "")
	return f.errs
}

// FieldsOf lists the fields that the rules fill one by one.
func FieldsOf[T any]() []string { return fieldsOf("", reflect.TypeFor[T]()) }

// Diff compares two records as the rules do.
func Diff(got, want dedupe.Record) string { return diff(got, want) }
