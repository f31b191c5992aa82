package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// row is a line of a table of docs/aws-facts.md.
type row struct{ id, says, relied, claimed, check string }

const page = "../../docs/aws-facts.md"

func readPage(t *testing.T) (text string, rows []row) {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | "); strings.HasPrefix(line, "| A") {
			if len(cells) != 5 {
				t.Fatalf("%d cells instead of 5: %s", len(cells), line)
			}
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, row{cells[0], cells[1], cells[2], cells[3], cells[4]})
		}
	}
	return string(raw), rows
}

func TestPageAndProgramListTheSameFacts(t *testing.T) {
	t.Parallel()
	_, rows := readPage(t)
	all := facts()
	if len(rows) != len(all) {
		t.Errorf("the page lists %d facts, the program %d", len(rows), len(all))
	}
	for i := range min(len(rows), len(all)) {
		want := "`" + all[i].name + "`"
		if all[i].check == nil {
			want = "not checked: " + all[i].why
		}
		if rows[i].id != all[i].id || rows[i].check != want {
			t.Errorf("line %d of the page is %s with the check %q, the program has %s with %q", i, rows[i].id, rows[i].check, all[i].id, want)
		}
	}
}

func TestEveryFactNamesItsSourceAndWhoReliesOnIt(t *testing.T) {
	t.Parallel()
	text, rows := readPage(t)
	used := regexp.MustCompile(`\[([a-z-]+)\]`)
	for _, r := range rows {
		if r.says == "" || r.relied == "" {
			t.Errorf("%s: says %q, relied on by %q", r.id, r.says, r.relied)
		}
		names := used.FindAllStringSubmatch(r.claimed, -1)
		if len(names) == 0 && !strings.Contains(r.claimed, "observed only") {
			t.Errorf("%s: its claim %q names no page", r.id, r.claimed)
		}
		for _, name := range names {
			if !strings.Contains(text, "\n["+name[1]+"]: https://docs.aws.amazon.com/") {
				t.Errorf("%s: the page [%s] has no address", r.id, name[1])
			}
		}
	}
}

// TestFilesThatRelyOnFactsExist finds names that a change of the code has left behind.
func TestFilesThatRelyOnFactsExist(t *testing.T) {
	t.Parallel()
	_, rows := readPage(t)
	file := regexp.MustCompile("`((?:store|adapters|consumer|dedupe|docs|internal)[a-z/]*(?:\\.go|\\.md)?)`")
	for _, r := range rows {
		for _, name := range file.FindAllStringSubmatch(r.relied, -1) {
			if _, err := os.Stat("../../" + name[1]); err != nil {
				t.Errorf("%s: %v", r.id, err)
			}
		}
	}
}

func TestIdsAndNamesAreUnique(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for _, f := range facts() {
		for _, name := range []string{f.id, f.name} {
			if name != "" && taken[name] {
				t.Errorf("%s is there twice", name)
			}
			taken[name] = true
		}
		if (f.check == nil) != (f.why != "") || (f.check == nil) != (f.name == "") {
			t.Errorf("%s: give either a check with a name, or why there is none: name %q, why %q", f.id, f.name, f.why)
		}
	}
}
