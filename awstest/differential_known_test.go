//go:build integration

package awstest_test

import "maps"

// knownSQS is what servers are known to answer otherwise than the SQS API reference has it; queue is standard or fifo. For attributes
// see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html, for errors the page of
// each call under https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/.
func knownSQS(server, queue string) known {
	both := known{
		"invalid-eleven-attributes": "it takes more than ten attributes",
		"invalid-empty-attribute":   "it takes attributes without a value",
		"invalid-no-number":         "it takes a Number that is none",
		"extend-released":           "it hides a message that is not in flight, where SQS answers MessageNotInflight",
	}
	switch server {
	case "ministack":
		maps.Copy(both, known{
			"invalid-type-of-attribute": "it takes any type of attribute",
			"delete-again":              "it refuses a second delete, which SQS lets pass",
		})
		if queue == "standard" {
			both["invalid-long-delay"] = "it takes delays above 900 seconds"
		}
		return both
	case "moto":
		maps.Copy(both, known{
			"invalid-empty-body":        "it takes empty bodies",
			"invalid-control-character": "it takes characters that XML forbids",
		})
		if queue == "fifo" {
			both["send-duplicate"] = "left out: it delivers duplicates in other groups, and gives each an id of its own"
		}
		return both
	default:
		return nil
	}
}
