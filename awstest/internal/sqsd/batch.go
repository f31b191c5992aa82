package sqsd

import (
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// checkBatch holds the rules that all batches share.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html#API_SendMessageBatch_Errors
func checkBatch(ids []string) *wire.Error {
	if len(ids) == 0 {
		return refuse("EmptyBatchRequest", "There should be at least one entry in the request.")
	}
	if len(ids) > 10 {
		return refuse("TooManyEntriesInBatchRequest", "Maximum number of entries per request are 10. You have sent %d.", len(ids))
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if !madeOf(id, 80, "_-") {
			return refuse("InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		}
		if seen[id] {
			return refuse("BatchEntryIdsNotDistinct", "Id %s repeated.", id)
		}
		seen[id] = true
	}
	return nil
}

// madeOf: 1 to limit ASCII letters, digits and extra characters.
func madeOf(s string, limit int, extra string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(extra, r) {
			return false
		}
	}
	return s != "" && len(s) <= limit
}
