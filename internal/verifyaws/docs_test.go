package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// row is a line of a table of docs/aws-facts.md.
type row struct{ id, says, relied, claimed, check string }

const factsPage = "../../docs/aws-facts.md"

func readPage(t *testing.T) (text string, rows []row) {
	t.Helper()
	raw, err := os.ReadFile(factsPage)
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

// TestCodeThatReliesOnFactsIsThere finds names that a change of the code has left behind: paths from the root, files of the same folder,
// and identifiers in it.
func TestCodeThatReliesOnFactsIsThere(t *testing.T) {
	t.Parallel()
	_, rows := readPage(t)
	quoted := regexp.MustCompile("`([^`]+)`")
	code := regexp.MustCompile(`^[A-Za-z]+$`)
	for _, r := range rows {
		folder := ""
		for _, m := range quoted.FindAllStringSubmatch(r.relied, -1) {
			name := m[1]
			switch {
			case strings.Contains(name, "/"):
				if _, err := os.Stat("../../" + name); err != nil {
					t.Errorf("%s: %v", r.id, err)
				}
				folder = name
				if strings.Contains(path.Base(name), ".") {
					folder = path.Dir(name)
				}
			case strings.HasSuffix(name, ".go"):
				if _, err := os.Stat("../../" + folder + "/" + name); err != nil {
					t.Errorf("%s: %v", r.id, err)
				}
			case code.MatchString(name) && name != "consumer" && name != "dedupe" && !contains(t, folder, name):
				t.Errorf("%s: nothing in %s is called %s", r.id, folder, name)
			}
		}
	}
}

// contains: a file of the folder has the word, its tests aside.
func contains(t *testing.T, folder, word string) bool {
	t.Helper()
	files, err := filepath.Glob("../../" + folder + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), word) {
			return true
		}
	}
	return false
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
