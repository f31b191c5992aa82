// Package fingerprint computes the digest that tells "same key, same request"
// from "same key, other request".
//
// A [Digester] is built once from a [Config] and turns a [Request] into a short
// string that is stored with the record:
//
//	1j:fuOrU49O1TKo-7zMAzUCpFGsz_UPZj5ur9mKRpfaVxQ
//
// Only the digest is stored, never the body. A Digester is immutable, starts no
// goroutine, and is safe for concurrent use. It depends on the standard library
// only.
//
// # What is hashed
//
// The hash is SHA-256, or HMAC-SHA-256 where [Config.Secret] is set, over these
// fields in this order. Each is preceded by its length in bytes as an 8-byte
// big-endian number, so that no two different requests hash the same bytes:
//
//	"claimonce/fingerprint", scheme, tenant, operation, method, path
//
// followed by the byte 0 if [Request.Body] is nil, else by the byte 1 and the
// body's content as one more such field. The digest is the scheme, a colon, and
// the 32 bytes as 43 characters of unpadded base64url (RFC 4648, section 5). It
// is at most 89 characters, all of them ASCII.
//
// Tenant, operation, method and path are hashed as they are: nothing is folded,
// trimmed or decoded.
//
// # No body, an empty body, and null
//
// These are three different requests in either format: a nil body (a Kafka
// tombstone, a request without a body) is the byte 0 alone; a body of no bytes is the
// byte 1 and an empty field; the text null is the byte 1 and the field "null".
// White space alone is not JSON and is refused.
//
// # The canonical form of JSON
//
// With [JSON], the default, the content is not the body's bytes but a canonical
// text of what the body means. It is itself JSON, has no insignificant white
// space and no newline at the end, and is made by these rules:
//
//   - Members are sorted by name: by the bytes of the name's UTF-8 form, which
//     is the order of code points. RFC 8785 sorts by UTF-16 code units instead,
//     which differs for characters beyond U+FFFF. Elements of arrays keep their
//     order.
//   - Numbers are exact decimals of any length and never pass through a float:
//     the digits without zeros at either end, then, unless it is zero, "e" and
//     the power of ten that they are multiplied by. 4200, 4200.0 and 4.2e3 are
//     42e2; 0.001 is 1e-3; 10 is 1e1; 7 is 7. Zero is 0, whatever its sign and
//     exponent. 9007199254740993 keeps its last digit.
//   - Strings are compared by their characters, however they are spelled: the
//     escapes \/ and \u003c equal the literals. They are written as RFC 8785
//     writes them: \" and \\, then \b \t \n \f \r, \u and four lower-case hex digits for the
//     other characters below U+0020, and everything else literally.
//   - There is no Unicode normalisation: composed and decomposed letters are
//     different strings, and may both be members of one object.
//
// What parsers disagree about is refused, because two readers of one message
// must never see two different requests: a member name that occurs twice in an object (an
// escaped spelling counts as the same name), bytes that are not UTF-8, half of a
// surrogate pair, a byte order mark, anything but white space after the value.
// Refused, too, are numbers whose power of ten is beyond ±1,000, values nested
// deeper than [Config.MaxDepth], and bodies larger than [Config.MaxBody]. All
// these errors are an [*Error] and match [ErrMalformed].
//
// Time is linear in the body's size but for the sorting of members, which also
// copies what an unsorted object holds, at most once for each level that it is
// nested in. Memory is a small multiple of the body's size.
//
// The files in testdata are for implementations in other languages: vectors.json
// has inputs, canonical forms and digests, and reference.py is the short
// program, independent of this package, that made them.
//
// # Bodies that are not JSON
//
// With [Raw] the content is the body's bytes. The format is part of the scheme
// and the scheme is part of the hash, so the raw digest of a text never equals
// the JSON digest of anything. There is no automatic fallback from one to the
// other: a body that is JSON on the first delivery and broken on the second
// must not become another kind of request.
//
// # Members that change on a retry
//
// [Config.Volatile] leaves members out (a time of sending, a trace id), and
// [Config.Select] picks the part of an envelope that counts. A Select that
// matches nothing, and a Volatile that leaves nothing to compare, are errors:
// otherwise all such messages would be the same request.
//
// # Changing the rules
//
// The scheme in front of the colon names the rules that a digest was made by:
//
//	scheme  = "1" format [ "h" ] [ "-" tag ] [ "." version ]
//	format  = "j" / "r"               ; JSON, Raw
//	tag     = 8 base64url characters  ; of Volatile, Select, Secret; absent if none is set
//	version = 1 to 32 of A-Z a-z 0-9 _ -
//
// The 1 is this package's algorithm, h means that a secret is in use. A record is compared by
// the rules it carries, whatever today's are:
//
//	digest, err := d.DigestAs(fingerprint.SchemeOf(stored), request)
//	if err != nil {
//		return err // no verdict
//	}
//	same := digest == stored
//
// so that rules can change as long as the old ones are in [Config.Previous]
// until the last record made by them is gone. [ErrUnknownScheme] says that a
// record's rules are known neither as own nor as previous ones. It proves
// nothing about the request: treat it as "not now", never as a mismatch. While
// two releases run side by side, the older one meets records of the newer one; to avoid
// that, release the new rules as Previous first, and make them the current ones
// in the release after.
package fingerprint
