package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// differences are ids of facts that a server is known to fail, with the reason.
type differences map[string]string

// loadKnown reads a file of known differences; no name means none.
func loadKnown(path string) (differences, error) {
	if path == "" {
		return differences{}, nil
	}
	file, err := os.Open(path) //nolint:gosec // the file that the person names
	if err != nil {
		return nil, fmt.Errorf("known differences: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	list, err := readKnown(file, facts())
	if err != nil {
		return nil, fmt.Errorf("known differences in %s: %w", path, err)
	}
	return list, nil
}

// readKnown takes lines of an id and a reason. Empty lines and those that begin with # are comments.
func readKnown(r io.Reader, all []fact) (differences, error) {
	checked := map[string]bool{}
	for _, f := range all {
		checked[f.id] = f.check != nil
	}
	list := differences{}
	var errs []error
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id := strings.Fields(line)[0]
		reason := strings.TrimSpace(strings.TrimPrefix(line, id))
		is, exists := checked[id]
		_, twice := list[id]
		switch {
		case !exists:
			errs = append(errs, fmt.Errorf("line %d: there is no fact %q; the ids are in docs/aws-facts.md", n, id))
		case !is:
			errs = append(errs, fmt.Errorf("line %d: %s is not checked, so that it cannot fail; take it off", n, id))
		case twice:
			errs = append(errs, fmt.Errorf("line %d: %s is listed twice", n, id))
		case reason == "":
			errs = append(errs, fmt.Errorf("line %d: %s has no reason; say after the id what this server does instead", n, id))
		default:
			list[id] = reason
		}
	}
	return list, errors.Join(append(errs, lines.Err())...)
}
