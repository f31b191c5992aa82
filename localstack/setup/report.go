package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// report collects what was found or made, and every setting that is not as asked for.
type report struct {
	lines       []string
	differences []string
}

// add says what became of one resource; differences are those of an existing one.
func (r *report) add(resource, where string, created bool, differences []string) {
	state := "exists as wanted"
	switch {
	case created:
		state = "created"
	case len(differences) > 0:
		state = "exists, differs"
	}
	line := resource + ": " + state
	if where != "" {
		line += ", " + where
	}
	r.lines = append(r.lines, line)
	for _, difference := range differences {
		r.differences = append(r.differences, resource+": "+difference)
	}
}

// warn says what a server cannot do; the run goes on.
func (r *report) warn(resource string, warnings []string) {
	for _, warning := range warnings {
		r.lines = append(r.lines, resource+": warning: "+warning)
	}
}

func (r *report) print(w io.Writer) {
	for _, line := range r.lines {
		fmt.Fprintln(w, line)
	}
}

func (r *report) err() error {
	if len(r.differences) == 0 {
		return nil
	}
	return errors.New("what exists is not as asked for, and nothing of it was changed:\n  " +
		strings.Join(r.differences, "\n  ") +
		"\nchange it yourself if that is meant, or ask for other names or values by flags")
}
