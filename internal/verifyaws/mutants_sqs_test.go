package main

import (
	"net/http"
	"slices"
)

func messageMutants() []mutant {
	return []mutant{
		{"attributes come unasked", eachMessage(func(m object) { m["Attributes"] = object{"SenderId": "x"} }), []string{"only-what-is-asked"}},
		{"attributes do not come", forget("ReceiveMessage", "MessageAttributeNames"), []string{"only-what-is-asked", "exact-messages", "moved-as-it-was", "moved-in-group", "redrive-is-new"}},
		{"bodies are trimmed", eachMessage(func(m object) { m["Body"] = "é" }), []string{"exact-messages", "moved-as-it-was"}},
		{"the sending's time is that of the receipt", systemAttribute("SentTimestamp", "1"), []string{"stable-identity", "redrive-is-new"}},
		{"receives are not counted", systemAttribute("ApproximateReceiveCount", "1"), []string{"stable-identity", "hidden-as-asked"}},
		{"ids change", eachMessage(func(m object) { m["MessageId"] = "another" }), []string{"stable-identity"}},
		{"the trace is lost", systemAttribute("AWSTraceHeader", ""), []string{"trace-header"}},
		{"the trace takes room", breaker{call: "SendMessage", answer: invalidParameter}, []string{"trace-header", "mebibyte", "ten-attributes", "allowed-characters", "attributes-take-room", "ids-of-128"}},
		{"groups are lost", systemAttribute("MessageGroupId", ""), []string{"group-on-standard", "fifo-attributes", "moved-in-group", "redrive-on-fifo", "group-in-order"}},
		{"the visibility of a receive is ignored", setting("ReceiveMessage", "VisibilityTimeout", 1), []string{"hidden-as-asked", "group-waits"}},
		{"the visibility of a receive is the longest", setting("ReceiveMessage", "VisibilityTimeout", 3600), []string{"hidden-as-asked", "wakes-for-expired", "stale-handle", "stale-on-fifo"}},
		{"changes of visibility do nothing", setting("ChangeMessageVisibility", "VisibilityTimeout", 1000), []string{"given-back", "extended", "back-in-order"}},
		{"changes of visibility end it", setting("ChangeMessageVisibility", "VisibilityTimeout", 0), []string{"extended", "delayed-head"}},
		{"changes of visibility have no limit", accepting("ChangeMessageVisibility", nil), []string{"twelve-hours-in-all", "beyond-twelve-hours", "no-handle", "hidden-after-delete"}},
		{"the text of a limit names the handle", refusingWith("ChangeMessageVisibility", func(out object, _ http.Header) { out["message"] = "the receipt handle" }), []string{"twelve-hours-in-all"}},
		{"a lost message is another error", coded("ChangeMessageVisibility", "com.amazonaws.sqs#OverLimit"), []string{"hidden-after-delete", "hidden-after-expiry"}},
		{"a second delete fails", breaker{call: "DeleteMessage", answer: fromTheSecondOn(invalidParameter)}, []string{"deleted-twice"}},
		{"deletes fail", breaker{call: "DeleteMessage", answer: invalidParameter}, []string{"deleted-after-expiry", "stale-handle", "stale-on-fifo", "expired-on-fifo"}},
		{"deletes do nothing", breaker{call: "DeleteMessage", ask: func(in object) { in["ReceiptHandle"] = "x" }, answer: func(_ int, out object, _ http.Header) int { clear(out); return http.StatusOK }}, []string{"no-handle", "deleted-after-expiry", "group-waits"}},
		{"entries that fail are the service's fault", telling("DeleteMessageBatch", func(out object) {
			for _, e := range list(out["Failed"]) {
				e["SenderFault"] = false
			}
		}), []string{"deletes-in-part"}},
		{"entries are swapped", telling("ChangeMessageVisibilityBatch", func(out object) {
			for _, e := range list(out["Failed"]) {
				e["Id"] = "1"
			}
		}), []string{"hides-in-part"}},
		{"batches have no rules", accepting("DeleteMessageBatch", object{"Successful": []any{object{"Id": "0"}}}), []string{"batch-rules"}},
		{"polls do not wait", setting("ReceiveMessage", "WaitTimeSeconds", 0), []string{"waits-when-empty", "wakes-for-sent", "wakes-for-expired"}},
		{"polls have no limits", accepting("ReceiveMessage", nil), []string{"poll-limits", "missing-queue", "beyond-twelve-hours"}},
		{"a message can have any size", accepting("SendMessage", object{"MessageId": "x"}), []string{"mebibyte", "attributes-take-room", "ten-attributes", "nothing-empty", "allowed-characters", "group-needed", "ids-of-128"}},
	}
}

func queueMutants() []mutant {
	return []mutant{
		{"settings are not told", telling("GetQueueAttributes", func(out object) {
			a := out["Attributes"].(object)
			a["VisibilityTimeout"], a["RedrivePolicy"] = "1", "{}"
		}), []string{"settings-are-told", "policy-is-told"}},
		{"an ARN has other parts", telling("GetQueueAttributes", func(out object) { out["Attributes"].(object)["QueueArn"] = "sqs:queue" }), []string{"address-of-queue"}},
		{"a URL is another one", telling("GetQueueUrl", func(out object) { out["QueueUrl"] = "http://aws.invalid/1/x" }), []string{"address-of-queue"}},
		{"nothing is moved to the dead", forget("CreateQueue", "Attributes"), []string{"moved-as-it-was", "policy-is-told", "moved-keeps-time", "settings-are-told"}},
		{"queues of any kind and name", accepting("CreateQueue", object{"QueueUrl": "http://aws.invalid/000000000000/q"}), []string{"same-kind-of-dead", "fifo-by-name"}},
		{"a moved message has a new time", breaker{call: "ReceiveMessage", answer: newTimes()}, []string{"moved-keeps-time"}},
		{"a redrive does nothing", breaker{call: "StartMessageMoveTask", ask: func(in object) { in["SourceArn"] = "x" }, answer: func(_ int, out object, _ http.Header) int { clear(out); return http.StatusOK }}, []string{
			"redrive-is-new", "redrive-on-fifo",
		}},
		{"messages come in another order", telling("ReceiveMessage", func(out object) {
			if ms, ok := out["Messages"].([]any); ok {
				slices.Reverse(ms)
			}
		}), []string{"group-in-order", "back-in-order", "fifo-attributes"}},
		{"groups do not wait", breaker{call: "SendMessage", ask: func(in object) {
			if _, ok := in["MessageGroupId"]; ok && in["MessageBody"] != "b" {
				in["MessageGroupId"] = "g" + in["MessageBody"].(string)
			}
		}}, []string{"group-waits", "delayed-head"}},
		{"sequence numbers are random", breaker{call: "ReceiveMessage", answer: falling()}, []string{"fifo-attributes"}},
		{"deduplication ids are ignored", breaker{call: "SendMessage", ask: otherIDs()}, []string{"sent-once", "dedup-in-queue"}},
		{"the scope of deduplication is ignored", breaker{call: "CreateQueue", ask: func(in object) {
			if a, ok := in["Attributes"].(object); ok {
				delete(a, "DeduplicationScope")
				delete(a, "FifoThroughputLimit")
			}
		}}, []string{"dedup-in-group"}},
		{"content is not looked at", breaker{call: "SendMessage", ask: func(in object) {
			if _, ok := in["MessageDeduplicationId"]; !ok {
				otherIDs()(in)
			}
		}}, []string{"dedup-by-content"}},
		{"a moved message keeps its deduplication id", systemAttribute("MessageDeduplicationId", "d1"), []string{"moved-by-own-id"}},
		{"attempts are not recognised", forget("ReceiveMessage", "ReceiveRequestAttemptId"), []string{"attempt-repeated"}},
	}
}

// otherIDs gives each message a deduplication id of its own.
func otherIDs() func(in object) {
	id := "x"
	return func(in object) {
		if in["MessageGroupId"] != nil {
			id += "x"
			in["MessageDeduplicationId"] = id
		}
	}
}

// newTimes gives each receive another SentTimestamp.
func newTimes() func(int, object, http.Header) int {
	n := "1"
	return func(status int, out object, _ http.Header) int {
		for _, m := range list(out["Messages"]) {
			n += "1"
			m["Attributes"].(object)["SentTimestamp"] = n
		}
		return status
	}
}

// falling lets sequence numbers fall.
func falling() func(int, object, http.Header) int {
	n := "99999999999999999999"
	return func(status int, out object, _ http.Header) int {
		for _, m := range list(out["Messages"]) {
			n = n[:len(n)-1]
			m["Attributes"].(object)["SequenceNumber"] = n
		}
		return status
	}
}

func fromTheSecondOn(answer func(int, object, http.Header) int) func(int, object, http.Header) int {
	n := 0
	return func(status int, out object, h http.Header) int {
		if n++; n == 1 {
			return status
		}
		return answer(status, out, h)
	}
}
