package awstest_test

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
)

// typed checks that an error is the SDK's own type E.
func typed[E error](t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[E](err); !ok {
		var want E
		t.Errorf("got error %T %v, want a %T", err, err, want)
	}
}

// coded checks an error's code, and part of its message.
func coded(t *testing.T, err error, code, message string) {
	t.Helper()
	e, ok := errors.AsType[smithy.APIError](err)
	if !ok || e.ErrorCode() != code || !strings.Contains(e.ErrorMessage(), message) {
		t.Errorf("got error %v, want %s: …%s…", err, code, message)
	}
}

func md5Of(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}
