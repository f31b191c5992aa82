package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/claimonce/claimonce/dedupe"
)

// summary proves the run: what the records say, beside what the provider's own ledger says.
type summary struct {
	Operations    int     `json:"operations"`
	Failed        int     `json:"failed"`
	Deliveries    int     `json:"deliveries"`
	HandlerRuns   int     `json:"handler_runs"`
	Effects       int     `json:"effects"`
	DoubleEffects int     `json:"double_effects"`
	Replayed      int     `json:"replayed"`
	Mismatched    int     `json:"mismatched"`
	DeadLettered  int     `json:"dead_lettered"`
	Unknown       int     `json:"unknown"`
	InFlight      int     `json:"in_flight"`
	Seconds       float64 `json:"seconds"`
}

// summarise reads every record anew: what a worker believes is no proof.
func summarise(ctx context.Context, ledger *dedupe.Ledger, watch *tracker, bank *provider) (summary, error) {
	c, keys, waiting := watch.snapshot()
	s := summary{
		Deliveries: c.deliveries, HandlerRuns: c.runs, Replayed: c.replayed, Mismatched: c.mismatched,
		DeadLettered: c.deadLettered, InFlight: waiting,
	}
	ids := map[string]bool{}
	for _, key := range keys {
		ids[key.StoreID()] = true
		rec, err := ledger.Load(ctx, key)
		if err != nil {
			return s, err
		}
		switch rec.State {
		case dedupe.StateCompleted:
			s.Operations++
		case dedupe.StateFailed:
			s.Failed++
		case dedupe.StateUnknown:
			s.Unknown++
		case dedupe.StateInProgress:
			s.InFlight++
		case dedupe.StateAbsent, dedupe.StateReleased:
		}
	}
	s.Effects, s.DoubleEffects = bank.effects(ids)
	return s, nil
}

// print ends with an error if the run did not keep the promise.
func (s summary) print(w io.Writer, asJSON bool) error {
	if asJSON {
		line, err := json.Marshal(s)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n", line)
	} else {
		s.table(w)
	}
	if s.DoubleEffects != 0 || s.Effects != s.Operations || s.InFlight != 0 || s.Unknown != 0 {
		return fmt.Errorf("%d effects for %d completed operations, %d double, %d unknown, %d in flight: not every refund took effect once",
			s.Effects, s.Operations, s.DoubleEffects, s.Unknown, s.InFlight)
	}
	return nil
}

func (s summary) table(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(n int, what string) { fmt.Fprintf(tw, "%d\t %s\n", n, what) }
	row(s.Deliveries, "deliveries of messages, in all")
	row(s.HandlerRuns, "runs of the handler")
	row(s.Operations, "operations completed")
	row(s.Effects, "refunds in the provider's own ledger, for these operations")
	row(s.DoubleEffects, "of them more than once")
	row(s.Failed, "operations failed: declined by the provider")
	row(s.Replayed, "deliveries answered from the stored result")
	row(s.Mismatched, "deliveries refused: a key reused for another request")
	row(s.DeadLettered, "messages dead-lettered, with the reason")
	row(s.Unknown, "operations of unknown outcome left")
	row(s.InFlight, "messages or operations left in flight")
	_ = tw.Flush()
	fmt.Fprintf(w, "in %.1f seconds\n", s.Seconds)
	if s.DoubleEffects == 0 && s.Effects == s.Operations {
		fmt.Fprintf(w, "\nEvery refund took effect once: %d completed, %d in the provider's ledger.\n", s.Operations, s.Effects)
	}
}
