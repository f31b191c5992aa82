package main

import (
	"io"
	"strings"
	"testing"
)

func TestDeadLetterQueueNameFollowsQueue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "claimonce-refunds-dlq"},
		{[]string{"-queue", "pay"}, "pay-dlq"},
		{[]string{"-queue", "pay.fifo"}, "pay-dlq.fifo"},
		{[]string{"-queue", "pay", "-dlq", "dead"}, "dead"},
		{[]string{"-queue", ""}, ""},
	} {
		o, err := parse(c.args, io.Discard)
		if err != nil {
			t.Errorf("parse(%q): %v", c.args, err)
		}
		if o.dlq != c.want {
			t.Errorf("parse(%q): got dead-letter queue %q, want %q", c.args, o.dlq, c.want)
		}
	}
}

func TestBadFlagsAreRefusedWithAllReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-queue", "", "-table", ""}, []string{"nothing to do"}},
		{[]string{"-queue", "a", "-dlq", "a", "-max-receive-count", "0"}, []string{"its own dead-letter queue", "1 to 1000"}},
		{[]string{"-queue", "a.fifo", "-dlq", "b"}, []string{"both or neither to end in .fifo"}},
		{[]string{"-max-receive-count", "1001"}, []string{"1 to 1000"}},
		{[]string{"claimonce"}, []string{`unexpected argument "claimonce"`}},
	} {
		_, err := parse(c.args, io.Discard)
		if err == nil {
			t.Errorf("parse(%q): got no error", c.args)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("parse(%q): got %q, want it to say %q", c.args, err, want)
			}
		}
	}
}
