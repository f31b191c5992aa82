package main

import (
	"fmt"
	"os"
	"strings"
)

// readKnown reads lines of a case and the reason why it fails; # begins a comment.
func readKnown(file string) (map[string]string, error) {
	known := map[string]string{}
	if file == "" {
		return known, nil
	}
	data, err := os.ReadFile(file) //nolint:gosec // the user names it
	if err != nil {
		return nil, fmt.Errorf("known failures: %w", err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		switch reason = strings.TrimSpace(reason); {
		case reason == "":
			return nil, fmt.Errorf("known failures: %s, line %d: give a reason behind %s", file, i+1, name)
		case known[name] != "":
			return nil, fmt.Errorf("known failures: %s, line %d: %s is there already", file, i+1, name)
		}
		known[name] = reason
	}
	return known, nil
}
