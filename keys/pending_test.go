package keys_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/keys"
)

type saverFunc func(ctx context.Context, operation, candidate string) (string, error)

func (f saverFunc) LoadOrSave(ctx context.Context, operation, candidate string) (string, error) {
	return f(ctx, operation, candidate)
}

func TestS1_ForUsesWhatWasSavedFirst(t *testing.T) {
	t.Parallel()
	var offered string
	saver := saverFunc(func(_ context.Context, operation, candidate string) (string, error) {
		offered = operation + "/" + candidate
		return "earlier", nil
	})
	key, err := keys.For(t.Context(), saver, "refund-1", func() (string, error) { return "fresh", nil })
	if key != "earlier" || err != nil || offered != "refund-1/fresh" {
		t.Errorf("For = %q, %v, offering %q; want the earlier key", key, err, offered)
	}
}

func TestS1_ForNeverReturnsAKeyThatIsNotSaved(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fails := saverFunc(func(_ context.Context, _, candidate string) (string, error) { return candidate, broken })
	unused := saverFunc(func(context.Context, string, string) (string, error) {
		t.Error("the saver was asked to save nothing")
		return "key", nil
	})
	empty := saverFunc(func(context.Context, string, string) (string, error) { return "", nil })
	for name, c := range map[string]struct {
		saver     keys.Saver
		operation string
		maker     keys.Maker
		want      error
	}{
		"saver fails":         {fails, "op", nil, broken},
		"saver returns empty": {empty, "op", nil, nil},
		"maker fails":         {unused, "op", func() (string, error) { return "half", broken }, broken},
		"maker returns empty": {unused, "op", func() (string, error) { return "", nil }, nil},
		"no saver":            {nil, "op", nil, nil},
		"no operation":        {unused, "", nil, nil},
	} {
		key, err := keys.For(t.Context(), c.saver, c.operation, c.maker)
		if key != "" || err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: got %q, %v; want no key and an error", name, key, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "keys: ") {
			t.Errorf("%s: got error %q, want one that names the package", name, err)
		}
	}
}
