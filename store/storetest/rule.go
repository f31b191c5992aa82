package storetest

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
)

// A Rule is one thing that every store must do.
type Rule struct {
	Name     string // of its subtest, and in [Rig.Known]
	Sentence string // what the contract of [dedupe.Store] says

	run func(*probe)
}

// Rules lists all rules in the order in which they are run: what others build on comes first.
func Rules() []Rule {
	return slices.Concat(
		registerRules(), expiryRules(), fieldRules(), resultRules(), apartRules(), copyRules(), idRules(), schemaRules(), contextRules(),
		goroutineRules(), workerRules(), historyRules(),
	)
}

// unasked says what the rig would have to bring for the rule to ask anything; "" if nothing is missing.
func (r Rule) unasked(rig Rig) string {
	if r.Name == ruleUnavailable && rig.DropResult == nil {
		return "the rig has no DropResult"
	}
	return ""
}

// problems runs the rule and tells how it is broken; none if it is kept.
func (r Rule) problems(ctx context.Context, rig Rig) (found []string) {
	p := &probe{ctx: ctx, rig: rig}
	defer func() {
		switch cause := recover().(type) {
		case nil, stopped:
		default:
			p.errorf("panic: %v\n%s", cause, debug.Stack())
		}
		found = p.problems()
	}()
	r.run(p)
	return nil
}

// Check runs one rule. It returns a [*Failure] if the rule is broken, or kept although the rig says that it is broken.
func (r Rule) Check(ctx context.Context, rig Rig) error {
	if err := rig.validate(); err != nil {
		return err
	}
	return r.verdict(r.problems(ctx, rig), rig)
}

// verdict is what is wrong after the rule was run, with what is known of the store; nil if nothing is.
func (r Rule) verdict(problems []string, rig Rig) error {
	known, isKnown := rig.Known[r.Name]
	switch {
	case len(problems) > 0 && !isKnown:
		return &Failure{Rule: r, Problems: problems}
	case len(problems) == 0 && isKnown && !known.Flaky:
		return &Failure{Rule: r, Problems: []string{
			fmt.Sprintf("unexpected pass: the rig says that it is broken (%s); remove it from Known", known.Why),
		}}
	}
	return nil
}
