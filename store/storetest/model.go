package storetest

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/claimonce/claimonce/dedupe"
)

// cell is what a history can tell of a key: the revision stored, "" if nothing is, and when the record expires.
type cell struct {
	revision string
	expires  int64 // Unix seconds, 0: never
}

// call is a Load, or a Swap of next.
type call struct {
	swap   bool
	expect dedupe.Expect
	next   cell
}

// answer is how a call ended.
type answer struct {
	kind     kind
	revision string // that was shown
}

type kind uint8

const (
	loaded        kind = iota // shown is what is stored
	swapped                   // success
	refused                   // a conflict, and shown is what is stored
	refusedUnseen             // a conflict; what it showed was read later
	nobodyKnows               // any other error: it landed, or not, now or later
)

// model is a register with Expect's own test. What nobody knows may have happened or not.
func model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{cell{}} },
		Step: func(state, input, output any) []any {
			s, okState := state.(cell)
			in, okInput := input.(call)
			out, okOutput := output.(answer)
			if !okState || !okInput || !okOutput {
				return nil
			}
			return steps(s, in, out)
		},
		DescribeOperation: describe,
		DescribeState:     func(state any) string { return fmt.Sprintf("%v", state) },
	}
	return m.ToModel()
}

// steps gives the states in which a call with this answer can leave a key.
func steps(s cell, in call, out answer) []any {
	met := in.swap && met(in.expect, s)
	switch {
	case out.kind == loaded && out.revision == s.revision,
		out.kind == refused && !met && out.revision == s.revision,
		out.kind == refusedUnseen && !met:
		return []any{s}
	case out.kind == swapped && met,
		out.kind == refused && met && out.revision == in.next.revision: // the store repeated it, and the first try had landed
		return []any{in.next}
	case out.kind == nobodyKnows && met:
		return []any{s, in.next}
	case out.kind == nobodyKnows:
		return []any{s}
	}
	return nil
}

func met(e dedupe.Expect, s cell) bool {
	if revision, ok := e.Revision(); ok {
		return s.revision == revision
	}
	return s.revision == "" || s.expires != 0 && s.expires <= e.ExpiredBy()
}

func describe(input, output any) string {
	in, _ := input.(call)
	out, _ := output.(answer)
	if !in.swap {
		return "load: " + brief(out.revision)
	}
	what := fmt.Sprintf("swap to %s expecting %s: ", brief(in.next.revision), expectation(in.expect))
	switch out.kind {
	case swapped, loaded:
		return what + "done"
	case refused:
		return what + "refused, stored is " + brief(out.revision)
	case refusedUnseen:
		return what + "refused"
	case nobodyKnows:
	}
	return what + "unknown whether it landed"
}

// brief is enough of a revision to tell it apart in a picture.
func brief(revision string) string {
	if revision == "" {
		return "nothing"
	}
	return revision[:min(len(revision), 6)]
}
