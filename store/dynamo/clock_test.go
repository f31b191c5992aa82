package dynamo_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// skewed is a store whose server's clock is off by the given time, and slow by as much before and after it looks at that clock.
func (r rig) skewed(t *testing.T, off func() time.Duration, slow time.Duration, cached bool) *dynamo.Store {
	t.Helper()
	base := r.server.Client()
	s, err := dynamo.New(clientWith(way(func(req *http.Request) (*http.Response, error) {
		pass(slow)
		resp, err := base.Do(req)
		if err == nil {
			resp.Header.Set("Date", time.Now().Add(off()).UTC().Format(http.TimeFormat))
			if cached {
				resp.Header.Set("Age", "60")
			}
		}
		pass(slow)
		return resp, err
	})), r.table, dynamo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClockSkewIsMeasuredToASecond(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		off         time.Duration // of the server
		slow        time.Duration
		least, most time.Duration
	}{
		"right":              {0, 0, 0, 0},
		"behind the server":  {7300 * time.Millisecond, 0, -7800 * time.Millisecond, -6300 * time.Millisecond},
		"ahead":              {-9500 * time.Millisecond, 0, 8500 * time.Millisecond, 10 * time.Second},
		"right, slow server": {0, 4 * time.Second, 0, 0},
		"ahead, slow server": {-20 * time.Second, 4 * time.Second, 15 * time.Second, 21 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				s := r.skewed(t, func() time.Duration { return c.off }, c.slow, false)
				if _, ok := s.ClockSkew(); ok {
					t.Error("the skew is known before the first call")
				}
				pass(370 * time.Millisecond) // Date has whole seconds
				if _, err := s.Load(t.Context(), keyOf(t)); err != nil {
					t.Fatal(err)
				}
				if got, ok := s.ClockSkew(); !ok || got < c.least || got > c.most {
					t.Errorf("got %v, %v, want between %v and %v", got, ok, c.least, c.most)
				}
			})
		})
	}
}

func TestClockSkewIsNarrowedDownAndFollowsTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		off := -6 * time.Second
		s := r.skewed(t, func() time.Duration { return off }, 0, false)
		settle := func(want time.Duration) {
			t.Helper()
			for range 10 {
				pass(1130 * time.Millisecond)
				if _, err := s.Load(t.Context(), keyOf(t)); err != nil {
					t.Fatal(err)
				}
			}
			if got, _ := s.ClockSkew(); (got - want).Abs() > 200*time.Millisecond {
				t.Errorf("got %v after ten calls, want about %v", got, want)
			}
		}
		settle(6 * time.Second)
		off = 0
		settle(0)
	})
}

func TestClockIsNotReadFromACache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s := r.skewed(t, func() time.Duration { return -time.Minute }, 0, true)
		if _, err := s.Load(t.Context(), keyOf(t)); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.ClockSkew(); ok {
			t.Errorf("got %v from an answer that some cache gave", got)
		}
	})
}

// A worker whose clock is far ahead would believe that every lease is over.
func TestSkewStopsTakeovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		key := keyOf(t)
		want(t, newLedger(t, r.store, dedupe.Config{}), key, `{}`, dedupe.OutcomeClaimed)
		pass(2 * time.Minute)
		ahead := newLedger(t, r.skewed(t, func() time.Duration { return -2 * time.Minute }, 0, false), dedupe.Config{})
		want(t, ahead, dedupe.Key{Operation: "refund", ID: "first"}, `{}`, dedupe.OutcomeClaimed)
		want(t, ahead, key, `{}`, dedupe.OutcomeBusy)
		want(t, newLedger(t, r.store, dedupe.Config{}), key, `{}`, dedupe.OutcomeClaimed)
	})
}
