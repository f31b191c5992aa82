package keys

import (
	"context"
	"errors"
	"fmt"
)

// Saver keeps the keys of pending operations.
type Saver interface {
	// LoadOrSave returns the key that was saved first for operation; if there is
	// none, it saves candidate and returns that. When it returns, the key is
	// durable: it survives the process and the machine. Of any number of
	// concurrent calls, in any number of processes, all return one key. After an
	// error the candidate may have been saved or not, and a later call tells.
	LoadOrSave(ctx context.Context, operation, candidate string) (key string, err error)
}

// For returns the key of a pending operation, the same one for every attempt,
// also after a restart. If none is saved yet, maker makes one (nil: [New]) and it
// is saved before For returns, so that whoever sends after For sends a key that
// cannot be lost. After an error nothing may be sent; calling For again is safe.
func For(ctx context.Context, saver Saver, operation string, maker Maker) (string, error) {
	if saver == nil {
		return "", errors.New("keys: no Saver; use File or a table of your own")
	}
	if operation == "" {
		return "", errors.New("keys: empty operation; name the piece of work, for example by its primary key")
	}
	if maker == nil {
		maker = New
	}
	candidate, err := maker()
	if err != nil {
		return "", fmt.Errorf("keys: make a key: %w", err)
	}
	if candidate == "" {
		return "", errors.New("keys: the maker returned an empty key")
	}
	key, err := saver.LoadOrSave(ctx, operation, candidate)
	if err != nil {
		return "", fmt.Errorf("keys: save the key before sending: %w", err)
	}
	if key == "" {
		return "", errors.New("keys: the Saver returned an empty key")
	}
	return key, nil
}
