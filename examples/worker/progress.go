package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows a run on a terminal, and nothing in a pipe.
type progress struct {
	bar *progressbar.ProgressBar // nil: quiet
}

func newProgress(o options, stderr io.Writer, total int, where string) *progress {
	f, ok := stderr.(*os.File)
	if o.json || !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	fmt.Fprintf(f, "%d messages, %s\n", total, where)
	return &progress{bar: progressbar.NewOptions(total, progressbar.OptionSetWriter(f),
		progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(50e6),
		progressbar.OptionSetPredictTime(false))}
}

func (p *progress) set(finished int, c counts, unknown int) {
	if p.bar == nil {
		return
	}
	p.bar.Describe(fmt.Sprintf("%d runs, %d replayed, %d dead letters, %d unknown", c.runs, c.replayed, c.deadLettered, unknown))
	_ = p.bar.Set(finished)
}

func (p *progress) close() {
	if p.bar != nil {
		_ = p.bar.Finish()
		fmt.Fprintln(os.Stderr)
	}
}
