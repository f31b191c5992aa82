package main

import (
	"fmt"
	"io"
	"strings"
)

// print gives a line for each fact, then the counts.
func printReport(w io.Writer, verdicts []verdict) {
	for _, v := range verdicts {
		line := fmt.Sprintf("%-5s %s", v.fact.id, v.kind)
		if v.fact.name != "" {
			line += ": " + v.fact.name
		}
		if v.seen != "" {
			line += ": " + strings.Join(strings.Fields(v.seen), " ")
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, tally(verdicts))
}

// tally is the closing line.
func tally(verdicts []verdict) string {
	n := make([]int, unexpected+1)
	for _, v := range verdicts {
		n[v.kind]++
	}
	text := fmt.Sprintf("%d facts: %d hold, %d do not hold, %d gave no answer, %d not checked", len(verdicts), n[holds], n[fails], n[broken], n[unchecked])
	if n[known] > 0 {
		text += fmt.Sprintf(", %d known differences", n[known])
	}
	if n[unexpected] > 0 {
		text += fmt.Sprintf(", %d hold although listed as differences", n[unexpected])
	}
	return text
}

// acceptable: nothing that was found needs a person.
func acceptable(verdicts []verdict) bool {
	for _, v := range verdicts {
		if v.kind == fails || v.kind == broken || v.kind == unexpected {
			return false
		}
	}
	return true
}
