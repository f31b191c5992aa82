package consumer

import (
	"errors"
	"fmt"

	"github.com/claimonce/claimonce/dedupe"
)

// guarded runs the application's code on a goroutine of its own: were it to end the caller's, as runtime.Goexit and with it
// a failed assertion of a test do, a slot, a lane and what it holds would be lost for ever. The error never contains
// the value of a panic, which may hold parts of a payload.
func guarded(f func()) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("ended its goroutine")
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panicked with %s", dedupe.PanicText(v))
			}
			done <- err
		}()
		f()
		err = nil
	}()
	return <-done
}
