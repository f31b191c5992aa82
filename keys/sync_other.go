//go:build !windows

package keys

import (
	"errors"
	"os"
)

// syncDir makes new entries of a directory durable; fsync of a file does not
// (fsync(2), "Calling fsync() does not necessarily ensure that the entry in the
// directory containing the file has also reached disk").
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the caller's directory, or its parent
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
