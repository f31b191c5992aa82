package sqs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/claimonce/claimonce/consumer"
)

// entryError is why one entry of a batch failed.
type entryError struct{ code, message string }

// Error implements error. The message of SQS can quote the receipt handle, which is no secret of the payload but long.
func (e *entryError) Error() string {
	if e.message == "" {
		return e.code
	}
	return e.code + ": " + e.message
}

// codeOf gives the error code without the prefixes that it has in the older protocol.
func codeOf(err error) string {
	code := ""
	if e, ok := errors.AsType[*entryError](err); ok {
		code = e.code
	} else if api, ok := errors.AsType[smithy.APIError](err); ok {
		code = api.ErrorCode()
	}
	code = strings.TrimPrefix(code, "com.amazonaws.sqs#")
	return strings.TrimPrefix(code, "AWS.SimpleQueueService.")
}

// explain says what an error means to the consumer and what a person can do.
func (s *Source) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	where := fmt.Sprintf("sqs: %s %s in region %s", what, nameOf(s.url), s.client.Options().Region)
	if hint, sentinel := meaning(err); sentinel != nil {
		return fmt.Errorf("%s: %w: %s: %w", where, sentinel, hint, err)
	}
	return fmt.Errorf("%s: %w", where, err)
}

// meaning tells errors by code, since servers other than AWS bring no types. A handle that is stale, expired or of a message that is
// gone says one thing only: the delivery is no longer this worker's.
func meaning(err error) (hint string, sentinel error) {
	switch codeOf(err) {
	case "ReceiptHandleIsInvalid", "MessageNotInflight":
		return "its receipt handle no longer counts", consumer.ErrNotHeld
	case "InvalidParameterValue":
		if text := strings.ToLower(err.Error()); strings.Contains(text, "handle") || strings.Contains(text, "visibility") {
			return "its receipt handle no longer counts", consumer.ErrNotHeld
		}
	case "QueueDoesNotExist", "NonExistentQueue":
		return "the queue does not exist: check its URL, the account and the region", consumer.ErrSetup
	case "AccessDenied", "AccessDeniedException":
		return "access is denied: allow sqs:ReceiveMessage, DeleteMessage, ChangeMessageVisibility, GetQueueAttributes and SendMessage to the dead-letter queue", consumer.ErrSetup
	case "InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "InvalidAccessKeyId":
		return "the credentials are not accepted: check AWS_PROFILE or the keys", consumer.ErrSetup
	}
	text := err.Error()
	if strings.Contains(text, "failed to retrieve credentials") || strings.Contains(text, "get identity") || strings.Contains(text, "get credentials") {
		return "no credentials: set AWS_PROFILE or sign in as the AWS CLI does", consumer.ErrSetup
	}
	return "", nil
}
