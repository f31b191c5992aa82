package dedupe

import "log/slog"

// LogValue implements [slog.LogValuer]: a handler would else encode the key with its ID.
func (o Observation) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.Any("key", o.Key), slog.String("event", o.Event), slog.String("from", o.From.String()), slog.String("to", o.To.String()),
		slog.String("outcome", o.Outcome.String()), slog.Int("attempt", o.Attempt), slog.Duration("duration", o.Duration),
	}
	if o.Note != 0 {
		attrs = append(attrs, slog.Int("note", int(o.Note)))
	}
	for _, a := range []slog.Attr{slog.String("operator", o.Operator), slog.String("reason", o.Reason), slog.String("resend", o.Resend)} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	if o.Status != 0 {
		attrs = append(attrs, slog.Int("status", o.Status))
	}
	if o.Err != nil {
		attrs = append(attrs, slog.Any("err", o.Err))
	}
	return slog.GroupValue(attrs...)
}

// LogValue implements [slog.LogValuer]: neither the key's ID nor the stored result reach a log by way of a record.
func (r Record) LogValue() slog.Value {
	return slog.GroupValue(
		slog.Any("key", r.Key), slog.String("state", r.State.String()), slog.String("mode", r.Mode.String()),
		slog.String("revision", r.Revision), slog.Int("attempt", r.Attempt), slog.String("reason", r.Reason),
	)
}
