package sqsd

import (
	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type batchInput[T any] struct {
	QueueUrl string
	Entries  []T
}

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

// results of a batch, as they are answered.
type results struct {
	Successful []any
	Failed     []failure `json:",omitempty"`
}

type failure struct {
	ID            string `json:"Id"`
	SenderFault   bool
	Code, Message string
}

type accepted struct {
	ID string `json:"Id"`
}

func (r *results) ok(entry any) { r.Successful = append(r.Successful, entry) }

// fail names every refusal the sender's fault: what is the service's fault, faults bring about.
func (r *results) fail(id string, err *wire.Error) {
	r.Failed = append(r.Failed, failure{ID: id, SenderFault: true, Code: plain(err.Code), Message: err.Message})
}
