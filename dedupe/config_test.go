package dedupe_test

import (
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	want := dedupe.Rules{
		Window: 7 * 24 * time.Hour, Lease: time.Minute, SkewMargin: 5 * time.Second, AttemptBound: 5, AttentionAfter: 24 * time.Hour,
	}
	if got := newLedger(t, newRegister(), dedupe.Config{OnAbandoned: dedupe.Rerun}).Rules(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The mode is required, and its error explains what there is to choose.
func TestConfigExplainsTheModes(t *testing.T) {
	t.Parallel()
	_, err := dedupe.NewLedger(newRegister(), dedupe.Config{})
	if err == nil {
		t.Fatal("a ledger without a mode was built")
	}
	for _, word := range []string{"OnAbandoned", "Rerun ", "RerunUnlessBegun", "Reconcile", "Begin", "idempotent"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
	if _, err := dedupe.NewLedger(newRegister(), dedupe.Config{OnAbandoned: 17}); err == nil {
		t.Error("an invalid mode was accepted")
	}
}

// Every problem is reported at once, relations between settings too.
func TestConfigReportsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := dedupe.NewLedger(nil, dedupe.Config{
		Window: -1, Lease: -1, RenewEvery: -1, OwnerMargin: -1, SkewMargin: time.Second, AttemptBound: -1, AttentionAfter: -1,
		DownstreamMemory: -1, SettleFor: -1, MaxResult: -1, ReplayHeaders: []string{"set-cookie", "Keep-Alive"}, KeyCharacters: "\n",
		Fingerprint: fingerprint.Config{Format: 9},
	})
	if err == nil {
		t.Fatal("a ledger was built")
	}
	for _, name := range []string{
		"store is nil", "OnAbandoned", "Window is", "Lease is", "RenewEvery is", "OwnerMargin is", "SkewMargin is", "AttemptBound", "AttentionAfter",
		"DownstreamMemory", "SettleFor", "MaxResult", "set-cookie", "Keep-Alive", "KeyCharacters", "fingerprint",
	} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not mention %q: %v", name, err)
		}
	}
}

// OPS-11: combinations under which a healthy owner would lose its lease, or a window end too soon, are refused.
func TestOPS11_ConfigRelations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg dedupe.Config
		ok  bool
	}{
		"renewal slower than the lease":   {dedupe.Config{Lease: 90 * time.Second, RenewEvery: 120 * time.Second}, false},
		"renewal at the lease":            {dedupe.Config{Lease: 90 * time.Second, RenewEvery: 90 * time.Second}, false},
		"renewal above a third":           {dedupe.Config{Lease: 90 * time.Second, RenewEvery: 30*time.Second + 1}, false},
		"renewal at a third":              {dedupe.Config{Lease: 90 * time.Second, RenewEvery: 30 * time.Second}, true},
		"renewal derived":                 {dedupe.Config{Lease: 90 * time.Second}, true},
		"margin eats the lease":           {dedupe.Config{Lease: 6 * time.Second}, false},
		"small lease, small margin":       {dedupe.Config{Lease: 6 * time.Second, OwnerMargin: time.Second}, true},
		"window not above the lease":      {dedupe.Config{Window: 70 * time.Second}, false},
		"window above lease and margins":  {dedupe.Config{Window: 71 * time.Second}, true},
		"skew margin below two seconds":   {dedupe.Config{SkewMargin: 2*time.Second - 1}, false},
		"smallest skew margin":            {dedupe.Config{SkewMargin: 2 * time.Second}, true},
		"lease so small that no renewals": {dedupe.Config{Lease: 2}, false},
	} {
		c.cfg.OnAbandoned = dedupe.Rerun
		if _, err := dedupe.NewLedger(newRegister(), c.cfg); (err == nil) != c.ok {
			t.Errorf("%s: got %v, want ok %v", name, err, c.ok)
		}
	}
}

func TestNamesOfStatesAndModes(t *testing.T) {
	t.Parallel()
	for s := dedupe.StateAbsent; s <= dedupe.StateUnknown; s++ {
		if got, ok := dedupe.ParseState(s.String()); !ok || got != s {
			t.Errorf("state %d: %q does not parse", s, s)
		}
	}
	for m := dedupe.Rerun; m <= dedupe.Reconcile; m++ {
		if got, ok := dedupe.ParseMode(m.String()); !ok || got != m {
			t.Errorf("mode %d: %q does not parse", m, m)
		}
	}
	for _, bad := range []string{"", "invalid", "Completed", "IN_PROGRESS"} {
		if _, ok := dedupe.ParseState(bad); ok {
			t.Errorf("state %q was accepted", bad)
		}
		if _, ok := dedupe.ParseMode(bad); ok {
			t.Errorf("mode %q was accepted", bad)
		}
	}
	names := []string{
		(dedupe.StateUnknown + 1).String(), (dedupe.Reconcile + 1).String(), dedupe.Outcome(0).String(), dedupe.Outcome(99).String(),
		dedupe.Cause(0).String(), dedupe.Action(0).String(),
	}
	for i, name := range names {
		if name != "invalid" {
			t.Errorf("value %d out of range is called %q", i, name)
		}
	}
	seen := map[string]bool{}
	for o := dedupe.OutcomeClaimed; o <= dedupe.OutcomeRefused; o++ {
		seen[o.String()] = true
	}
	for c := dedupe.CausePlainError; c <= dedupe.CauseGivenUp; c++ {
		seen[c.String()] = true
	}
	for a := dedupe.ActionRelease; a <= dedupe.ActionDismiss; a++ {
		seen[a.String()] = true
	}
	if len(seen) != 11+5+3 {
		t.Errorf("names are missing or given twice: %v", seen)
	}
}
