package main

import (
	"context"
	"errors"
	"fmt"
)

// A fact is a behaviour of AWS that some code of this module relies on. Its sentence is in docs/aws-facts.md under the same id.
type fact struct {
	id    string
	name  string // of the check
	check check
	why   string // it is not checked, where check is nil
	table bool   // the check uses the run's table
}

// A check says nil where the fact holds, a [contradiction] where it does not, a [skipped] where this server cannot show it, and any other
// error where nothing was found out.
type check func(context.Context, *world) error

// A contradiction is what was seen of a fact that does not hold.
type contradiction struct{ text string }

// Error implements error.
func (c *contradiction) Error() string { return c.text }

func seen(format string, args ...any) error { return &contradiction{fmt.Sprintf(format, args...)} }

// skipped is the reason why a check does not apply to this server.
type skipped struct{ why string }

// Error implements error.
func (s *skipped) Error() string { return s.why }

// A verdict is what became of one fact.
type verdict struct {
	fact fact
	kind kind
	seen string
}

type kind int

const (
	unchecked  kind = iota
	holds           // as documented
	fails           // something else was seen
	broken          // the check met an error that says nothing of the fact
	known           // fails or broken, and listed as such
	unexpected      // holds, although listed as failing
)

func (k kind) String() string {
	switch k {
	case unchecked:
		return "not checked"
	case holds:
		return "holds"
	case fails:
		return "DOES NOT HOLD"
	case broken:
		return "NO ANSWER"
	case known:
		return "known difference"
	case unexpected:
		return "HOLDS, BUT IS LISTED AS A DIFFERENCE"
	}
	return "?"
}

// judge turns the error of a check into a verdict. reason is that of the list of known differences.
func judge(f fact, err error, reason string, listed bool) verdict {
	v := verdict{fact: f}
	_, skip := errors.AsType[*skipped](err)
	_, contradicted := errors.AsType[*contradiction](err)
	switch {
	case skip:
		v.kind, v.seen = unchecked, err.Error()
	case err == nil && listed:
		v.kind, v.seen = unexpected, "take it off the list of known differences, where it says: "+reason
	case err == nil:
		v.kind = holds
	case listed:
		v.kind, v.seen = known, reason+" (seen: "+err.Error()+")"
	case contradicted:
		v.kind, v.seen = fails, err.Error()
	default:
		v.kind, v.seen = broken, err.Error()
	}
	return v
}
