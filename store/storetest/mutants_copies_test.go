package storetest_test

import (
	"github.com/claimonce/claimonce/dedupe"
)

func copyMutants() map[string]breakage {
	keepBody := func(rec dedupe.Record) dedupe.Record {
		c := rec.Clone()
		if rec.Result != nil {
			c.Result.Body = rec.Result.Body
		}
		return c
	}
	keepHeaders := func(rec dedupe.Record) dedupe.Record {
		c := rec.Clone()
		if rec.Result != nil {
			c.Result.Headers = rec.Result.Headers
		}
		return c
	}
	keepMarks := func(rec dedupe.Record) dedupe.Record {
		c := rec.Clone()
		c.Marks = rec.Marks
		return c
	}
	keepResult := func(rec dedupe.Record) dedupe.Record {
		c := rec.Clone()
		c.Result = rec.Result
		return c
	}
	list := map[string]breakage{
		"compresses a body in its place": bareOf("leaves what it is given", func(b *bare) {
			b.in = func(rec dedupe.Record) dedupe.Record {
				kept := rec.Clone()
				if rec.Result != nil {
					clear(rec.Result.Body)
				}
				return kept
			}
		}),
		"takes headers out": answering("leaves what it is given", func(current dedupe.Record, err error, next dedupe.Record) (dedupe.Record, error) {
			if err != nil && next.Result != nil {
				delete(next.Result.Headers, "ETag")
			}
			return current, err
		}),
	}
	for what, keep := range map[string]func(dedupe.Record) dedupe.Record{
		"body": keepBody, "headers": keepHeaders, "marks": keepMarks, "result": keepResult,
	} {
		list["keeps the "+what+" that it is given"] = bareOf("copies what it is given", func(b *bare) { b.in = keep })
		list["keeps the "+what+" that it returns"] = bareOf("copies what it returns", func(b *bare) { b.out = keep })
	}
	return list
}
