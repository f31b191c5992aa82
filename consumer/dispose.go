package consumer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

const (
	disposeTime   = 30 * time.Second
	noDeadLetters = 5 * time.Minute // how long a message stays away that could not be dead-lettered
)

// dispose carries a decision out and returns what really became of the message. It never changes what was written of the
// operation: a failed ack is no failed handler.
func (r *run) dispose(h *held, d decision) decision {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.work), disposeTime)
	defer cancel()
	var err error
	wanted := d.disposition
	switch d.disposition {
	case Acked:
		err = r.c.source.Ack(ctx, h.m)
		h.release()
	case Nacked:
		h.release() // first: an extension that arrives after the nack would hide the message again
		err = r.c.source.Nack(ctx, h.m, d.delay)
	case DeadLettered:
		switch err = r.deadLetter(ctx, h, d.letter); {
		case err == nil:
		case errors.Is(err, ErrNotHeld): // another worker has it and decides by the record; nothing is wrong with the dead letters
			d.disposition, d.letter = Left, DeadLetter{}
		default:
			d.disposition, d.delay, d.letter = Nacked, r.undeadDelay(h.m, err), DeadLetter{}
			h.release()
			err = errors.Join(err, r.c.source.Nack(ctx, h.m, d.delay))
		}
		h.release()
	case Left:
		h.release()
		if l, ok := r.c.source.(Leaver); ok {
			err = l.Leave(ctx, h.m)
		}
	}
	if d.refused = err; err != nil {
		d.err = errors.Join(d.err, err)
		r.c.health.disposeFailed(err)
		r.c.cfg.Logger.WarnContext(ctx, "a message could not be "+wanted.String()+"; it will come back", "operation", r.c.operation,
			"message_id", h.m.ID, "key_hash", hashOf(h.key), "err", err)
	}
	r.c.counts.decided(d)
	r.tell(ctx, h, d)
	r.c.health.held(-1)
	r.giveRoom(1)
	return d
}

// undeadDelay: in a group all others wait for as long.
func (r *run) undeadDelay(m *Message, err error) time.Duration {
	if errors.Is(err, ErrNoDeadLetter) || errors.Is(err, ErrCopied) || errors.Is(err, ErrSetup) {
		return noDeadLetters
	}
	return r.c.attemptDelay(max(m.Receives, 1))
}

// deadLetter never deletes a message that has nowhere to go.
func (r *run) deadLetter(ctx context.Context, h *held, letter DeadLetter) error {
	dl, ok := r.c.source.(DeadLetterer)
	if !ok {
		return fmt.Errorf("consumer: %w: the source has none, so it is kept: %s", ErrNoDeadLetter, letter.Reason)
	}
	if err := dl.DeadLetter(ctx, h.m, letter); err != nil {
		return err
	}
	args := []any{
		"operation", r.c.operation, "message_id", h.m.ID, "key_hash", letter.KeyHash, "reason", letter.Reason, "attempts", letter.Attempts,
	}
	if saysNothingOfTheBody(letter.Reason) {
		args = append(args, "detail", letter.Detail)
	}
	r.c.cfg.Logger.WarnContext(ctx, "dead letter", args...)
	return nil
}

// saysNothingOfTheBody: details of other reasons quote a handler or a decoder of the application's, who may quote the payload.
func saysNothingOfTheBody(reason string) bool {
	switch reason {
	case ReasonMissingKey, ReasonMalformedKey, ReasonMissingTenant, ReasonOlderThanWindow, ReasonMalformedCreated, ReasonKeyReuse:
		return true
	}
	return false
}

func (r *run) tell(ctx context.Context, h *held, d decision) {
	ev := Event{
		Key: h.key, MessageID: h.m.ID, Group: h.m.Group, Disposition: d.disposition, Outcome: d.outcome, Replayed: d.replayed,
		PathCheck: d.check, Ran: d.ran, Panicked: d.panicked, Reason: d.letter.Reason, Delay: d.delay, Duration: time.Since(h.received), Err: d.err,
		HandedBack: d.behind, TooOld: h.tooOld,
	}
	if d.would != nil {
		ev.WouldHave = *d.would
	}
	if err := guarded(func() { r.c.cfg.Observe(ctx, ev) }); err != nil {
		r.c.cfg.Logger.ErrorContext(ctx, "the Observe callback failed", "operation", r.c.operation, "err", err)
	}
}

func hashOf(k dedupe.Key) string {
	if k.ID == "" {
		return ""
	}
	return k.Hash()
}
