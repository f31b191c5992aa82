package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExpectedFailuresAreHeldToTheirList(t *testing.T) {
	t.Parallel()
	pass := func(context.Context) error { return nil }
	fail := func(context.Context) error { return errors.New("no") }
	broken := func(context.Context) error { panic("no such field") }
	info := func(context.Context) error { return note{"either"} }
	for name, tt := range map[string]struct {
		run   func(context.Context) error
		known map[string]string
		want  string // "" for a run that is as expected
	}{
		"passes":                      {run: pass},
		"fails":                       {run: fail, want: "1 failed"},
		"panics":                      {run: broken, want: "1 failed"},
		"fails as listed":             {run: fail, known: map[string]string{"sqs.case": "reason"}},
		"passes though listed":        {run: pass, known: map[string]string{"sqs.case": "reason"}, want: "1 passed unexpectedly"},
		"passes as it sometimes does": {run: pass, known: map[string]string{"sqs.case": "sometimes it does not"}},
		"fails as it sometimes does":  {run: fail, known: map[string]string{"sqs.case": "sometimes it does not"}},
		"informs":                     {run: info},
		"the list names no case":      {run: pass, known: map[string]string{"sqs.other": "reason"}, want: "2 passed"},
		"the list is of the other":    {run: pass, known: map[string]string{"ddb.other": "reason"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &suite{known: tt.known}
			s.inOrder([]testCase{{"sqs.ok", pass}})
			s.together([]testCase{{"sqs.case", tt.run}})
			s.unasked(true, false)
			if got := s.err() != nil; got != (tt.want != "") || !strings.Contains(s.counts(), tt.want) {
				t.Errorf("got %v with %s, want %q", s.err(), s.counts(), tt.want)
			}
		})
	}
}

func TestNothingPassedIsAFailure(t *testing.T) {
	t.Parallel()
	s := &suite{filter: "no such case"}
	s.inOrder([]testCase{{"sqs.case", func(context.Context) error { return nil }}})
	if s.err() == nil {
		t.Error("a run without a case passed")
	}
}

func TestKnownFailuresNeedReasons(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# comment\n\nsqs.case because of it\n": "",
		"sqs.case\n":                            "line 1: give a reason",
		"sqs.case a\nsqs.case b\n":              "line 2",
	} {
		file := filepath.Join(t.TempDir(), "known")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		known, err := readKnown(file)
		if want == "" && (err != nil || known["sqs.case"] != "because of it") {
			t.Errorf("%q: got %v, %v", text, known, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, err := readKnown(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a list that does not exist was read")
	}
}
