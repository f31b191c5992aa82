package storetest

import "strings"

// A Failure is a rule that is broken, or kept although it is known to be broken.
type Failure struct { //nolint:errname // what a rule found, which Check happens to return
	Rule     Rule
	Problems []string // what was seen, at least one
}

// Error gives the rule's sentence and what was seen, one problem a line.
func (f *Failure) Error() string {
	return f.Rule.Name + ": the contract says: " + f.Rule.Sentence + "\n\t" + strings.Join(f.Problems, "\n\t")
}
