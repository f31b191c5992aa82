package storetest

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/claimonce/claimonce/dedupe"
)

// resolve tells of calls that nobody knew the end of what others saw: what was shown had landed by then. Each call that stays open can
// double what has to be searched.
func (h *history) resolve(ops []porcupine.Operation) (open int) {
	for i, op := range ops {
		c, isCall := op.Input.(call)
		a, isAnswer := op.Output.(answer)
		if first, ok := h.seen[c.next.revision]; ok && isCall && isAnswer && a.kind == nobodyKnows {
			ops[i].Output, ops[i].Return = answer{kind: swapped, revision: c.next.revision}, first
		} else if isAnswer && a.kind == nobodyKnows {
			open++
		}
	}
	return open
}

// decide looks for an order of the calls that explains all answers.
func (h *history) decide(key dedupe.Key) {
	const patience, bearable = 20 * time.Second, 14
	if open := h.resolve(h.calls[key]); open > bearable {
		h.p.errorf("%d of %d calls ended so that nobody knows whether they landed, which is too many to decide anything; one error is: %v",
			open, len(h.calls[key]), h.failure)
		return
	}
	result, info := porcupine.CheckOperationsVerbose(model(), h.calls[key], patience)
	switch result {
	case porcupine.Ok:
	case porcupine.Unknown:
		h.p.errorf("a history of %d calls could not be decided within %v", len(h.calls[key]), patience)
	case porcupine.Illegal:
		path := filepath.Join(h.p.rig.artifacts(), "storetest-history-"+rand.Text()[:8]+".html")
		picture := "its picture is " + path
		if err := porcupine.VisualizePath(model(), info, path); err != nil {
			picture = fmt.Sprintf("its picture cannot be drawn: %v", err)
		}
		h.p.errorf("a history of %d calls is explained by no order of them; %s", len(h.calls[key]), picture)
	}
}
