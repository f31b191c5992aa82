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
	if queue == "fifo" {
		// The page using-messagegroupid-property.html can be read so; answers recorded of SQS are those of awstest.
		both["release-of-several"] = "left out: a first message that is handed back waits for those of its group that are in flight"
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

// knownDynamo is what servers are known to answer otherwise than DynamoDB does; see
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html for conditions, and
// Expressions.UpdateExpressions.html and API_UpdateItem.html for updates. That page says of size that it is a string's length, and not
// whether in bytes, as awstest counts, or in characters.
func knownDynamo(server string) known {
	const (
		absent     = "left out: it takes two absent attributes for equal; an absent one equals nothing"
		characters = "left out: it counts characters"
		noItem     = "a failed condition never comes with the item"
		taking     = "sometimes a REMOVE or DELETE makes an item that is not there"
		whole      = "sometimes it shows whole lists and maps, not the parts that were updated"
	)
	switch server {
	case "ministack":
		return known{
			"s = n":                   absent,
			"size(s) > :one":          characters,
			"IS MISSING":              "left out: it does not know it",
			"38-digits":               "left out: it rounds sums to 28 digits",
			"update-path":             "it passes over paths that lead nowhere, which DynamoDB refuses",
			"update-path-stored":      "as above",
			"update-path-UPDATED_NEW": whole,
			"update-path-UPDATED_OLD": whole,
			"update-take-ALL_NEW":     taking,
			"update-take-stored":      taking,
			"update-take":             "sometimes it passes over paths that lead nowhere, which DynamoDB refuses",
			"update-take-UPDATED_NEW": whole,
			"update-take-UPDATED_OLD": whole,
		}
	case "moto":
		return known{
			"s = n":                   absent,
			"size(s) > :one":          "left out: status 500 where the attribute is absent",
			"size(l) > :one":          "left out: status 500 where the attribute is absent",
			"partiql":                 "left out: an UPDATE whose condition fails succeeds, and of an item that is not there has status 500",
			"update-UPDATED_NEW":      "it shows the key too",
			"update-UPDATED_OLD":      "it does not show what ADD and DELETE changed",
			"update-path-UPDATED_NEW": whole,
			"update-path-UPDATED_OLD": whole,
			"update-path":             "sometimes it passes over paths that lead nowhere, which DynamoDB refuses",
			"update-path-stored":      "sometimes as above",
			"update-take":             "it refuses a REMOVE of a path from an item that is not there",
			"update-take-ALL_NEW":     taking,
			"update-take-stored":      taking,
			"update-take-UPDATED_NEW": whole,
			"update-take-UPDATED_OLD": whole,
		}
	case "dynalite":
		return known{
			"s = n":                    absent,
			"size(s) > :one":           characters,
			"l = :list":                "left out: no list equals another",
			"attribute_type(s, :type)": "left out: an empty string has no type",
			"transact":                 "left out: it has no transactions",
			"partiql":                  "left out: it has none",
			"38-digits":                "left out: it rounds sums of more than 38 digits, which DynamoDB refuses",
			"put-refusal":              noItem,
			"delete-refusal":           noItem,
			"update-refusal":           noItem,
			"update-path-refusal":      noItem,
			"update-take":              "it refuses a REMOVE of a path from an item that is not there",
			"update-take-ALL_NEW":      taking,
			"update-take-stored":       taking,
			"update-take-refusal":      noItem,
		}
	default:
		return nil
	}
}
