package main

import "strings"

// handleIsOver is the adapter's own rule for what a refused receipt handle means, in adapters/sqs/errors.go: InvalidParameterValue says it
// of a handle, and of much else whose message is still held, so that the text decides.
func handleIsOver(err error) bool {
	switch codeOf(err) {
	case "ReceiptHandleIsInvalid", "MessageNotInflight":
		return true
	case "InvalidParameterValue":
		said := strings.ToLower(err.Error())
		return strings.Contains(said, "receipthandle") || strings.Contains(said, "receipt handle")
	}
	return false
}
