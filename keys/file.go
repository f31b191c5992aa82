package keys

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	keySuffix  = ".key"
	tempPrefix = "tmp-"
)

// FileSaver is a [Saver] that keeps one file for each operation. Any number of
// goroutines, and of processes on one machine, may use one directory.
type FileSaver struct {
	dir string
}

// File returns a Saver that keeps its files in dir, which must be on a local
// file system that has hard links. The directory is made if it is missing, for
// this user only; its parent must exist.
//
// A crash can leave a file whose name starts with "tmp-". It is harmless, and
// may be removed when no process uses the directory.
func File(dir string) (*FileSaver, error) {
	if dir == "" {
		return nil, errors.New("keys: file: empty directory name")
	}
	absolute, err := filepath.Abs(dir) // a later change of directory must not lead to other keys
	if err != nil {
		return nil, fmt.Errorf("keys: file: %w", err)
	}
	made := os.Mkdir(absolute, 0o700)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return nil, fmt.Errorf("keys: file: %w", made)
	}
	// The directory's own entry must survive a crash, too, also if another process
	// made it just now. Who may not even read the parent was given the directory.
	err = syncDir(filepath.Dir(absolute))
	if err != nil && (made == nil || !errors.Is(err, fs.ErrPermission)) {
		return nil, fmt.Errorf("keys: file: %w", err)
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, fmt.Errorf("keys: file: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("keys: file: %s is not a directory", absolute)
	}
	return &FileSaver{dir: absolute}, nil
}

// LoadOrSave implements [Saver]. The context is looked at before the work
// starts; file operations are not interrupted.
func (s *FileSaver) LoadOrSave(ctx context.Context, operation, candidate string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("keys: file: %w", err)
	}
	if candidate == "" || strings.ContainsAny(candidate, "\r\n") {
		return "", errors.New("keys: file: a key is one line of text")
	}
	path := s.path(operation)
	key, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		saved := s.save(path, candidate)
		// What is there decides, not whether the link worked: another process may
		// have been first, or the answer to our own link may have been lost.
		if key, err = read(path); errors.Is(err, fs.ErrNotExist) && saved != nil {
			err = saved
		}
	}
	if err != nil {
		return "", fmt.Errorf("keys: file: %w", err)
	}
	// Also for a key that was found: whoever linked it may have crashed, or not be
	// done, and an entry that is not durable must not be relied on.
	if err := syncDir(s.dir); err != nil {
		return "", fmt.Errorf("keys: file: %w", err)
	}
	return key, nil
}

// Forget removes the key of an operation that is settled for good. An attempt
// that is made afterwards gets a new key, so that to the consumer it is another
// operation. Forgetting what is not there is no error.
func (s *FileSaver) Forget(ctx context.Context, operation string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("keys: file: %w", err)
	}
	if err := os.Remove(s.path(operation)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keys: file: %w", err)
	}
	return nil
}

// path hashes the operation, which may hold slashes or be longer than a file
// name. It is hexadecimal because some file systems ignore case.
func (s *FileSaver) path(operation string) string {
	sum := sha256.Sum256([]byte(operation))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+keySuffix)
}

// save writes a complete and durable file under another name first, so that a
// crash never leaves half a key under the real one. Linking, unlike renaming,
// fails where there is a file already: the first key stays.
func (s *FileSaver) save(path, key string) error {
	temp, err := os.CreateTemp(s.dir, tempPrefix+"*") // opened with O_EXCL
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // one that stays is harmless
	_, err = temp.WriteString(key + "\n")
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Link(temp.Name(), path)
}

// read refuses a file that is not one complete line. A new key in its place
// would be a second operation if the lost one was sent.
func read(path string) (string, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the caller's directory and a hash
	if err != nil {
		return "", err
	}
	key, rest, ok := strings.Cut(string(data), "\n")
	if key == "" || rest != "" || !ok {
		return "", fmt.Errorf("%s is damaged; restore its key, or remove it once it is sure that nothing was sent with it", path)
	}
	return key, nil
}
