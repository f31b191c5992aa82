package sqs

// quotaHint says what a refusal means that time mends: the consumer asks again with a back-off, and nothing is lost.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
func quotaHint(err error) string {
	if codeOf(err) != "OverLimit" {
		return ""
	}
	return "too many messages of the queue are in flight: received by some worker, neither deleted nor back; receiving goes on when there are fewer: " +
		"look for consumers that hold messages for long, or ask AWS for a higher quota"
}
