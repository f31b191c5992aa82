package sqsd

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// codePrefix stands before the codes of errors that the SDK's model knows.
const codePrefix = "com.amazonaws.sqs#"

// queryCode is what a modelled error was called in the older query protocol; "": the model does not know the error.
func queryCode(code string) string {
	switch code {
	case "QueueDoesNotExist":
		return "AWS.SimpleQueueService.NonExistentQueue"
	case "QueueNameExists":
		return "QueueAlreadyExists"
	case "MessageNotInflight", "TooManyEntriesInBatchRequest", "EmptyBatchRequest", "BatchEntryIdsNotDistinct",
		"InvalidBatchEntryId", "BatchRequestTooLong", "UnsupportedOperation":
		return "AWS.SimpleQueueService." + code
	case "ReceiptHandleIsInvalid", "OverLimit", "InvalidMessageContents", "InvalidAttributeName", "InvalidAttributeValue",
		"InvalidAddress", "ResourceNotFoundException", "RequestThrottled":
		return code
	}
	return ""
}

// QueryError is the value of the header x-amzn-query-error for an error code; ok is false if it has none. SDKs report the
// code of the header in place of the one in the body.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-json-faqs.html
func QueryError(code string) (value string, ok bool) {
	q := queryCode(plain(code))
	return q + ";Sender", q != ""
}

func plain(code string) string { return strings.TrimPrefix(code, codePrefix) }

func refuse(code, format string, args ...any) *wire.Error {
	if queryCode(code) != "" {
		code = codePrefix + code
	}
	return &wire.Error{Status: http.StatusBadRequest, Code: code, Message: fmt.Sprintf(format, args...)}
}

func missing(parameter string) *wire.Error {
	return refuse("MissingParameter", "The request must contain the parameter %s.", parameter)
}

// badValue words the fault of one parameter as SQS does.
func badValue(value any, parameter, reason string, args ...any) *wire.Error {
	return refuse("InvalidParameterValue", "Value %v for parameter %s is invalid. Reason: %s", value, parameter, fmt.Sprintf(reason, args...))
}

func noQueue() *wire.Error {
	return refuse("QueueDoesNotExist", "The specified queue does not exist.")
}
