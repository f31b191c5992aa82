package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

func TestKnownDifferencesAreRead(t *testing.T) {
	t.Parallel()
	list, err := readKnown(strings.NewReader("# a comment\n\nA1 several claims win\n  A2\tit changes all \n"), facts())
	if err != nil || len(list) != 2 || list["A1"] != "several claims win" || list["A2"] != "it changes all" {
		t.Errorf("got %v, %v; want A1 and A2 with their reasons", list, err)
	}
}

func TestKnownDifferencesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A9999 no such fact":       `there is no fact "A9999"`,
		"A20 cannot be seen":       "A20 is not checked",
		"A1":                       "A1 has no reason",
		"A1 once\nA1 and again":    "A1 is listed twice",
		"A9999 x\nA1\nA20 not now": "line 3",
	} {
		if _, err := readKnown(strings.NewReader(text), facts()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("readKnown(%q): got %v, want an error with %q", text, err, want)
		}
	}
}

func TestKnownDifferencesOfTheRepositoryAreReadable(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("known/*.txt")
	if err != nil || len(files) < 2 {
		t.Fatalf("got %v, %v; want the lists of ministack and moto", files, err)
	}
	for _, file := range files {
		if list, err := loadKnown(file); err != nil || len(list) == 0 {
			t.Errorf("%s: %d facts, %v", file, len(list), err)
		}
	}
	if _, err := loadKnown(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: got %v", err)
	}
	if list, err := loadKnown(""); err != nil || len(list) != 0 {
		t.Errorf("no file: got %v, %v; want none", list, err)
	}
}
