package dedupe

import (
	"errors"
	"fmt"
	"strings"
)

// Why a result's body is missing although the operation is completed.
const (
	OmittedTooLarge = "too_large"
)

// neverReplayed are headers of one connection or one moment: replayed they would set a cookie for another client or lie
// about the time. Hop-by-hop: RFC 9110 section 7.6.1.
func neverReplayed(name string) bool {
	switch strings.ToLower(name) {
	case "set-cookie", "set-cookie2", "date", "connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
		"proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "content-length":
		return true
	}
	return false
}

func validateHeaders(names []string) error {
	var errs []error
	for _, n := range names {
		if neverReplayed(n) {
			errs = append(errs, fmt.Errorf("ReplayHeaders: %s belongs to one response and is never replayed; leave it out", n))
		}
	}
	return errors.Join(errs...)
}

// storable is the result as it will be replayed: only allowed headers, and no body above the bound. A large result must
// never make a completion fail, since the effect has happened.
func (c Config) storable(res Result) Result {
	res = res.clone()
	for name := range res.Headers {
		if !c.replays(name) {
			delete(res.Headers, name)
		}
	}
	if len(res.Headers) == 0 {
		res.Headers = nil
	}
	if len(res.Body) > c.MaxResult {
		return withoutBody(res)
	}
	return res
}

func (c Config) replays(name string) bool {
	for _, allowed := range append([]string{"Content-Language", "ETag", "Last-Modified", "Location"}, c.ReplayHeaders...) {
		if strings.EqualFold(name, allowed) {
			return true
		}
	}
	return false
}

// withoutBody always fits: it has nothing whose size the application decides.
func withoutBody(res Result) Result {
	return Result{Status: res.Status, Omitted: OmittedTooLarge}
}
