package keys_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/claimonce/claimonce/keys"
)

// The test binary is also the other processes that some tests need.
const (
	childMode = "KEYS_TEST_CHILD"
	childDir  = "KEYS_TEST_DIR"
	childOp   = "operation"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childMode) {
	case "":
		os.Exit(m.Run())
	case "make":
		os.Exit(childMake())
	case "pending":
		os.Exit(childPending())
	default:
		panic("unknown child")
	}
}

// waitForStart makes all children start in one instant: when the parent closes
// the pipe.
func waitForStart() { _, _ = io.Copy(io.Discard, os.Stdin) }

func childMake() int {
	waitForStart()
	out := bufio.NewWriter(os.Stdout)
	for _, maker := range makers() {
		for range 1000 {
			key, err := maker.make()
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			fmt.Fprintln(out, key)
		}
	}
	if out.Flush() != nil {
		return 1
	}
	return 0
}

func childPending() int {
	waitForStart()
	saver, err := keys.File(os.Getenv(childDir))
	if err == nil {
		var key string
		if key, err = keys.For(context.Background(), saver, childOp, nil); err == nil {
			fmt.Fprintln(os.Stdout, key)
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// children runs n processes, lets all of them start, and returns the lines that
// each wrote.
func children(t *testing.T, n int, env ...string) [][]string {
	t.Helper()
	start, release, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	lines := make([][]string, n)
	var done sync.WaitGroup
	for i := range n {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), env...)
		cmd.Stdin = start
		var out, problems strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &problems
		if err := cmd.Start(); err != nil {
			t.Error(err)
			continue
		}
		done.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("child: %v: %s", err, problems.String())
			}
			lines[i] = strings.Fields(out.String())
		})
	}
	if err := errors.Join(start.Close(), release.Close()); err != nil {
		t.Error(err)
	}
	done.Wait()
	return lines
}

type namedMaker struct {
	name string
	make keys.Maker
}

func makers() []namedMaker { return makersOf(keys.Generator{}) }

func makersOf(g keys.Generator) []namedMaker {
	return []namedMaker{{"UUIDv4", g.UUIDv4}, {"UUIDv7", g.UUIDv7}, {"ULID", g.ULID}, {"Token", g.Token}}
}
