package sqs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/claimonce/claimonce/consumer"
)

var (
	errClosed    = errors.New("the source is closed")
	errNoReceipt = errors.New("the message was not received by this source")
	errSettled   = fmt.Errorf("%w: it was handed back or deleted", consumer.ErrNotHeld)
	errLost      = fmt.Errorf("%w: the queue said so of an earlier call", consumer.ErrNotHeld)
)

// entryError is why one entry of a batch failed.
type entryError struct {
	code, message string
	again         bool // it failed through no fault of its own
}

// Error implements error.
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
func (s *Source) explain(what string, err error) error { return s.explainOf(what, nameOf(s.url), err) }

func (s *Source) explainOf(what, queue string, err error) error {
	if err == nil {
		return nil
	}
	where := fmt.Sprintf("sqs: %s %s in region %s", what, queue, s.client.Options().Region)
	switch {
	case errors.Is(err, consumer.ErrNotHeld):
	case handleIsOver(err):
		return fmt.Errorf("%s: %w: %s: %w", where, consumer.ErrNotHeld, lossOf(err), err)
	default:
		if hint := advice(err); hint != "" {
			return fmt.Errorf("%s: %w: %s: %w", where, consumer.ErrSetup, hint, err)
		}
		if hint := quotaHint(err); hint != "" {
			return fmt.Errorf("%s: %s: %w", where, hint, err)
		}
	}
	return fmt.Errorf("%s: %w", where, err)
}

// handleIsOver: whatever a handle is refused for, the delivery is no longer this worker's.
func handleIsOver(err error) bool { return lossOf(err) != "" }

// lossOf says why a handle no longer counts, "" if err says nothing of it. SQS says InvalidParameterValue of such a handle, and of a
// visibility beyond twelve hours too, whose message is still held; only the text tells them apart. Errors are told by type and by
// code, since servers other than AWS bring no types, and a batch's entries none either.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html#API_ChangeMessageVisibility_Errors
func lossOf(err error) string {
	const (
		noLonger  = "its receipt handle no longer counts"
		notFlying = "it is not in flight: its visibility ended, or it was deleted"
		expired   = "its receipt handle has expired: its visibility ended before it was settled"
	)
	code, text := codeOf(err), strings.ToLower(err.Error())
	switch {
	case code == "MessageNotInflight" || isType[*types.MessageNotInflight](err):
		return notFlying
	case code == "ReceiptHandleIsInvalid" || isType[*types.ReceiptHandleIsInvalid](err):
	case code != "InvalidParameterValue" || !strings.Contains(text, "receipthandle") && !strings.Contains(text, "receipt handle"):
		return ""
	}
	switch {
	case strings.Contains(text, "expired"):
		return expired
	case strings.Contains(text, "not available") || strings.Contains(text, "does not exist"):
		return notFlying
	}
	return noLonger
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// advice is what a person can do, "" if time may help.
func advice(err error) string {
	switch codeOf(err) {
	case "QueueDoesNotExist", "NonExistentQueue":
		// SQS also says so to a caller without permission:
		// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-api-errors.html
		return "the queue does not exist, or these credentials may not see it: check its URL, the account, the region and the permissions"
	case "InvalidAddress":
		return "the queue's URL is not one of this region or endpoint"
	case "AccessDenied", "AccessDeniedException":
		return "access is denied: allow sqs:ReceiveMessage, sqs:DeleteMessage, sqs:ChangeMessageVisibility and sqs:GetQueueAttributes on the queue, " +
			"and sqs:SendMessage, sqs:GetQueueAttributes and sqs:GetQueueUrl on the dead-letter queue"
	case "InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidSecurity",
		"MissingAuthenticationToken", "MissingAuthenticationTokenException", "IncompleteSignature", "OptInRequired":
		return "the credentials are not accepted: check AWS_PROFILE or the keys"
	case "ExpiredToken", "ExpiredTokenException":
		return "the session has expired: sign in again"
	case "KmsAccessDenied", "KmsDisabled", "KmsInvalidKeyUsage", "KmsInvalidState", "KmsNotFound", "KmsOptInRequired":
		return "the key of the queue's encryption cannot be used: allow kms:Decrypt, and kms:GenerateDataKey for dead letters"
	}
	text := err.Error()
	if strings.Contains(text, "failed to retrieve credentials") || strings.Contains(text, "get identity") || strings.Contains(text, "get credentials") {
		return "no credentials: set AWS_PROFILE or sign in as the AWS CLI does"
	}
	return ""
}

// veil takes receipt handles out of what an error says: who reads one in a log could delete the message.
func veil(err error, handles []string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	clean := text
	for _, h := range handles {
		if h != "" {
			clean = strings.ReplaceAll(clean, h, "…")
		}
	}
	if clean == text {
		return err
	}
	return &veiled{err, clean}
}

type veiled struct {
	err  error
	text string
}

func (v *veiled) Error() string { return v.text }
func (v *veiled) Unwrap() error { return v.err }
