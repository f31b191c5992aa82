package fingerprint

import (
	"errors"
	"strconv"
)

var (
	// ErrMalformed is what every [*Error] wraps: the body is at fault, and the
	// same body will be refused again.
	ErrMalformed = errors.New("fingerprint: malformed body")

	// ErrUnknownScheme is returned by [Digester.DigestAs] for a scheme that is
	// neither its own nor one of its previous ones. It is no statement about the
	// request.
	ErrUnknownScheme = errors.New("fingerprint: unknown scheme")
)

// Error says where and why a body was refused. Its text never contains anything
// taken from the body, neither values nor member names, so it may be logged.
type Error struct {
	Offset int    // in bytes from the start of the body; -1 where no single place is to blame
	Reason string // one of a fixed set of texts
}

// Error implements error.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return ErrMalformed.Error() + ": " + e.Reason
	}
	return ErrMalformed.Error() + " at byte " + strconv.Itoa(e.Offset) + ": " + e.Reason
}

// Unwrap returns [ErrMalformed].
func (e *Error) Unwrap() error { return ErrMalformed }

const (
	reasonBOM        = "byte order mark; send JSON without one"
	reasonEnd        = "ends in the middle of a value"
	reasonTrailing   = "data after the JSON value"
	reasonValue      = "not a JSON value"
	reasonName       = "expected a member name in double quotes"
	reasonColon      = "expected a colon after a member name"
	reasonObject     = "expected a comma or the end of the object"
	reasonArray      = "expected a comma or the end of the array"
	reasonDuplicate  = "member name occurs twice in one object"
	reasonUTF8       = "invalid UTF-8"
	reasonControl    = "control character that is not escaped in a string"
	reasonEscape     = "invalid escape in a string"
	reasonSurrogate  = "escape is half of a surrogate pair"
	reasonNumber     = "invalid number"
	reasonExponent   = "number beyond ten to the power of ±1,000"
	reasonDepth      = "nested deeper than MaxDepth"
	reasonSize       = "larger than MaxBody"
	reasonNoSelect   = "Select matches nothing"
	reasonNothing    = "Volatile leaves nothing to compare"
	reasonSelectBody = "Select matches nothing: there is no body"
)
