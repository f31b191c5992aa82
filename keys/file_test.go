package keys_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/claimonce/claimonce/keys"
)

func newFile(t *testing.T, dir string) *keys.FileSaver {
	t.Helper()
	saver, err := keys.File(dir)
	if err != nil {
		t.Fatal(err)
	}
	return saver
}

func keyFor(t *testing.T, saver keys.Saver, operation string) string {
	t.Helper()
	key, err := keys.For(t.Context(), saver, operation, nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestS1_FileReusesTheKeyAfterARestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pending")
	first := keyFor(t, newFile(t, dir), "refund-1")
	again := newFile(t, dir) // another process, as far as the saver knows
	if got := keyFor(t, again, "refund-1"); got != first {
		t.Errorf("after a restart: got key %q, want %q", got, first)
	}
	other := keyFor(t, again, "refund-2")
	if other == first {
		t.Error("two operations got one key")
	}
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("got files %q, want one for each operation", got)
	}
}

func TestS1_FileRaceOfGoroutines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := make([]string, 32)
	var ready, wg sync.WaitGroup
	ready.Add(len(got))
	for i := range got {
		saver := newFile(t, dir)
		wg.Go(func() {
			ready.Done()
			ready.Wait()
			got[i], _ = keys.For(t.Context(), saver, "op", nil)
		})
	}
	wg.Wait()
	for _, key := range got {
		if key == "" || key != got[0] {
			t.Fatalf("got keys %q, want one", got)
		}
	}
	if left := files(t, dir); len(left) != 1 {
		t.Errorf("got files %q, want one", left)
	}
}

func TestS1_FileRaceOfProcesses(t *testing.T) {
	t.Parallel()
	for range 5 {
		dir := filepath.Join(t.TempDir(), "made by the first of them")
		want := ""
		for _, lines := range children(t, 8, childMode+"=pending", childDir+"="+dir) {
			if len(lines) != 1 || want != "" && lines[0] != want {
				t.Fatalf("got %q, want the key %q", lines, want)
			}
			want = lines[0]
		}
		if got := keyFor(t, newFile(t, dir), childOp); got != want {
			t.Errorf("afterwards: got key %q, want %q", got, want)
		}
	}
}

// What a crash leaves: the temporary file, half written, or complete but not
// linked yet, or linked but not removed yet.
func TestS1_FileCrashInTheMiddle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	saver := newFile(t, dir)
	for name, content := range map[string]string{"tmp-1": "", "tmp-2": "01234", "tmp-3": "complete\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := keyFor(t, saver, "op")
	if key == "complete" || key == "01234" {
		t.Errorf("got %q from a temporary file", key)
	}
	linked, _ := filepath.Glob(filepath.Join(dir, "*.key"))
	if len(linked) != 1 {
		t.Fatalf("got files %q, want one key", linked)
	}
	if err := os.Link(linked[0], filepath.Join(dir, "tmp-4")); err != nil {
		t.Fatal(err)
	}
	if got := keyFor(t, newFile(t, dir), "op"); got != key {
		t.Errorf("after the crash: got key %q, want %q", got, key)
	}
}

// A damaged file must not be answered by a new key: the lost one may have been
// sent.
func TestS1_FileDamaged(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "\n", "half", "two\nlines\n", "key\nrest"} {
		dir := t.TempDir()
		saver := newFile(t, dir)
		keyFor(t, saver, "op")
		path := files(t, dir)[0]
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := keys.For(t.Context(), saver, "op", nil)
		if key != "" || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("file %q: got %q, %v; want an error that names the file", content, key, err)
		}
		if after, _ := os.ReadFile(path); string(after) != content {
			t.Errorf("the damaged file changed from %q to %q", content, after)
		}
	}
}

func TestFile_AnyOperationName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	saver := newFile(t, dir)
	seen := map[string]bool{}
	operations := []string{"a", "A", "../a", "a/b", "/etc/x", "a\x00b", "\n", ".", strings.Repeat("x", 5000), "退款", "\xff"}
	for _, operation := range operations {
		seen[keyFor(t, saver, operation)] = true
	}
	if len(seen) != len(operations) || len(files(t, dir)) != len(operations) {
		t.Errorf("got %d keys in %d files for %d operations", len(seen), len(files(t, dir)), len(operations))
	}
	if outside := files(t, filepath.Dir(dir)); len(outside) != 1 {
		t.Errorf("got %q beside the directory", outside)
	}
}

// Files outlive the program that wrote them, so a later version must find them
// under the same name: the SHA-256 of the operation in hexadecimal.
func TestFile_NamesAndContentStayTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad.key")
	if err := os.WriteFile(path, []byte("kept\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := keyFor(t, newFile(t, dir), "abc"); got != "kept" {
		t.Errorf("got key %q, want the one in the file", got)
	}
}

func TestFile_Forget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	saver := newFile(t, dir)
	first, other := keyFor(t, saver, "op"), keyFor(t, saver, "other")
	for range 2 {
		if err := saver.Forget(t.Context(), "op"); err != nil {
			t.Fatal(err)
		}
	}
	if got := keyFor(t, saver, "op"); got == first {
		t.Error("got the forgotten key again")
	}
	if got := keyFor(t, saver, "other"); got != other {
		t.Errorf("got key %q for another operation, want %q", got, other)
	}
}

func TestFile_Refusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", file, filepath.Join(dir, "missing", "below")} {
		if _, err := keys.File(name); err == nil {
			t.Errorf("File(%q): got no error", name)
		}
	}

	saver := newFile(t, filepath.Join(dir, "ok"))
	for _, candidate := range []string{"", "a\nb", "a\r"} {
		if got, err := saver.LoadOrSave(t.Context(), "op", candidate); err == nil {
			t.Errorf("LoadOrSave(%q) = %q, want an error", candidate, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := saver.LoadOrSave(ctx, "op", "key"); !errors.Is(err, context.Canceled) {
		t.Errorf("LoadOrSave on a cancelled context = %v", err)
	}
	if err := saver.Forget(ctx, "op"); !errors.Is(err, context.Canceled) {
		t.Errorf("Forget on a cancelled context = %v", err)
	}
	if left := files(t, filepath.Join(dir, "ok")); len(left) != 0 {
		t.Errorf("got files %q after refusals, want none", left)
	}

	if err := os.Remove(filepath.Join(dir, "ok")); err != nil {
		t.Fatal(err)
	}
	if got, err := saver.LoadOrSave(t.Context(), "op", "key"); got != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("LoadOrSave in a removed directory = %q, %v; want an error", got, err)
	}
}
