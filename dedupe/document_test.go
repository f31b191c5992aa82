package dedupe_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the documents and stories that tests compare with")

// golden compares with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -rewrite", err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the code does; look at the difference, then write it anew with -rewrite.\n%s", path, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(g), len(w))
}

func TestStateMachineDocument(t *testing.T) {
	t.Parallel()
	head, err := os.ReadFile(filepath.Join("testdata", "state-machine.md"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.Write(head)
	b.WriteString("\n## Events\n\n| event | is |\n|---|---|\n")
	for _, e := range tableEvents() {
		fmt.Fprintf(&b, "| %s | %s |\n", e.name, e.about)
	}
	b.WriteString("\nNames for several of them:\n\n| name | events |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, groups[name])
	}
	for _, r := range table() {
		fmt.Fprintf(&b, "\n## %s\n\n", r.name)
		if r.like != "" {
			fmt.Fprintf(&b, "As *%s*", r.like)
			if len(r.cells) > 0 {
				b.WriteString(", but:\n\n")
			} else {
				b.WriteString(".\n")
			}
		}
		if len(r.cells) > 0 {
			b.WriteString("| event | comes to |\n|---|---|\n")
		}
		for _, c := range r.cells {
			fmt.Fprintf(&b, "| %s | %s |\n", c.events, c.want)
		}
	}
	golden(t, filepath.Join("..", "docs", "state-machine.md"), b.String())
}

// The page of guarantees names what shows each of them: a name that stands for nothing shows nothing.
func TestGuaranteesNameWhatExists(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "guarantees.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	named := 0
	for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(string(page), -1) {
		name := strings.Trim(quoted, "`")
		switch {
		case strings.HasPrefix(name, "Test"):
			if !strings.Contains(tests.String(), "func "+name+"(") {
				t.Errorf("there is no test %s", name)
			}
			named++
		case regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`).MatchString(name):
			if _, err := os.Stat(filepath.Join("testdata", "stories", name+".txt")); err != nil {
				t.Errorf("there is no story %s", name)
			}
			named++
		}
	}
	if named < 50 {
		t.Errorf("only %d tests and stories are named", named)
	}
}
