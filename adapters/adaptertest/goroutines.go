package adaptertest

import (
	"context"
	"crypto/rand"
	"runtime/pprof"
	"strings"
)

const markLabel = "adaptertest"

// A mark finds goroutines again: they inherit labels from the one that starts them, so that those of one check are told from
// all others of the process, which may run other checks at the same time.
type mark string

func newMark() mark { return mark(rand.Text()) }

// on runs f with the mark, and goes on without it.
func (m mark) on(ctx context.Context, f func()) {
	pprof.Do(ctx, pprof.Labels(markLabel, string(m)), func(context.Context) { f() })
}

// left is the stacks of the marked goroutines, save those of idle HTTP connections: they belong to the client, which the
// application made and keeps.
func (m mark) left() (stacks []string) {
	var all strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return []string{err.Error()}
	}
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, string(m)) && !strings.Contains(stack, "net/http.(*persistConn)") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
