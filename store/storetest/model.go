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

// model is a register with Expect's own test. A swap that nobody knows of lands where its condition is met. One that never landed is no
// other case: its end is open, so that it can come after everything else.
func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return cell{} },
		Step: func(state, input, output any) (bool, any) {
			s, okState := state.(cell)
			in, okInput := input.(call)
			out, okOutput := output.(answer)
			if !okState || !okInput || !okOutput {
				return false, state
			}
			return step(s, in, out)
		},
		DescribeOperation: describe,
		DescribeState:     func(state any) string { return fmt.Sprintf("%v", state) },
	}
}

// step gives the state in which a call leaves a key; ok is false if it cannot have this answer.
func step(s cell, in call, out answer) (ok bool, after cell) {
	met := in.swap && met(in.expect, s)
	switch out.kind {
	case loaded:
		return out.revision == s.revision, s
	case swapped:
		return met, in.next
	case refused:
		if met && out.revision == in.next.revision { // the store repeated it, and the first try had landed
			return true, in.next
		}
		return !met && out.revision == s.revision, s
	case refusedUnseen:
		return !met, s
	case nobodyKnows:
		if met {
			return true, in.next
		}
		return true, s
	}
	return false, s
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
