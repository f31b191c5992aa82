package main

import "slices"

// facts are all of docs/aws-facts.md, in its order. An id is never given to another fact.
func facts() []fact {
	return slices.Concat(dynamoFacts(), sqsFacts(), fifoFacts(), otherFacts())
}

func dynamoFacts() []fact {
	list := []fact{
		{id: "A1", name: "one-claim-wins", check: oneClaimWins},
		{id: "A2", name: "refusal-changes-nothing", check: refusalChangesNothing},
		{id: "A3", name: "refusal-brings-item", check: refusalBringsItem},
		{id: "A4", name: "absent-brings-none", check: absentBringsNone},
		{id: "A5", name: "consistent-read", check: consistentRead},
		{id: "A6", name: "absent-reads-empty", check: absentReadsEmpty},
		{id: "A7", name: "missing-is-false", check: missingIsFalse},
		{id: "A8", name: "numeric-order", check: numericOrder},
		{id: "A9", name: "claim-condition", check: claimCondition},
		{id: "A10", name: "put-replaces", check: putReplaces},
		{id: "A11", name: "repeat-meets-itself", check: repeatMeetsItself},
		{id: "A12", name: "dated-answers", check: datedAnswers},
		{id: "A13", name: "exact-numbers", check: exactNumbers},
		{id: "A14", name: "exact-texts", check: exactTexts},
		{id: "A15", name: "empty-values", check: emptyValues},
		{id: "A16", name: "item-of-400k", check: itemOf400K},
		{id: "A17", name: "item-too-large", check: itemTooLarge},
		{id: "A18", name: "units-by-kilobyte", check: unitsByKilobyte},
		{id: "A19", name: "nested-sizes", check: nestedSizes},
		{id: "A20", why: "an answer that refuses does not say what was billed; the metric ConsumedWriteCapacityUnits does, minutes later"},
		{id: "A21", name: "long-ids", check: longIDs},
		{id: "A22", name: "table-as-created", check: tableAsCreated},
		{id: "A23", name: "create-twice", check: createTwice},
		{id: "A24", name: "missing-table", check: missingTable},
		{id: "A25", name: "sparse-index", check: sparseIndex},
		{id: "A26", name: "keys-only", check: keysOnly},
		{id: "A27", why: "adding an index to a table takes minutes"},
		{id: "A28", name: "ttl-is-told", check: ttlIsTold},
		{id: "A29", name: "expired-is-there", check: expiredIsThere},
		{id: "A30", why: "TTL deletes within days"},
		{id: "A31", why: "it takes a second role that lacks the permissions"},
		{id: "A32", why: "a table on demand is throttled only under a load that costs money"},
		{id: "A33", name: "reasons-in-order", check: reasonsInOrder},
		{id: "A34", name: "all-or-nothing", check: allOrNothing},
		{id: "A35", name: "token-once", check: tokenOnce},
		{id: "A36", name: "token-mismatch", check: tokenMismatch},
		{id: "A37", name: "one-action-an-item", check: oneActionAnItem},
		{id: "A38", name: "hundred-actions", check: hundredActions},
		{id: "A39", why: "two calls would have to meet within a millisecond"},
		{id: "A40", name: "each-reason-is-told", check: eachReasonIsTold},
		{id: "A41", name: "double-units", check: doubleUnits},
		{id: "A42", name: "too-large-in-transaction", check: tooLargeInTransaction},
		{id: "A43", name: "bad-credentials", check: badCredentials},
	}
	for i := range list {
		if list[i].check != nil {
			list[i].check, list[i].table = onTable(list[i].check), true
		}
	}
	return list
}

func sqsFacts() []fact {
	return []fact{
		{id: "A51", name: "only-what-is-asked", check: onlyWhatIsAsked},
		{id: "A52", name: "exact-messages", check: exactMessages},
		{id: "A53", name: "stable-identity", check: stableIdentity},
		{id: "A54", name: "hidden-as-asked", check: hiddenAsAsked},
		{id: "A55", name: "extended", check: extended},
		{id: "A56", name: "given-back", check: givenBack},
		{id: "A57", name: "twelve-hours-in-all", check: twelveHoursInAll},
		{id: "A58", name: "beyond-twelve-hours", check: beyondTwelveHours},
		{id: "A59", why: "it takes 12 hours"},
		{id: "A60", name: "no-handle", check: noHandle},
		{id: "A61", name: "hidden-after-delete", check: hiddenAfterDelete},
		{id: "A62", name: "hidden-after-expiry", check: hiddenAfterExpiry},
		{id: "A63", name: "deleted-twice", check: deletedTwice},
		{id: "A64", name: "deleted-after-expiry", check: deletedAfterExpiry},
		{id: "A65", name: "stale-handle", check: staleHandle},
		{id: "A66", name: "deletes-in-part", check: deletesInPart},
		{id: "A67", name: "hides-in-part", check: hidesInPart},
		{id: "A68", name: "batch-rules", check: batchRules},
		{id: "A69", name: "waits-when-empty", check: waitsWhenEmpty},
		{id: "A70", name: "wakes-for-sent", check: wakesForSent},
		{id: "A71", name: "wakes-for-expired", check: wakesForExpired},
		{id: "A72", name: "poll-limits", check: pollLimits},
		{id: "A73", why: "the code takes the worst for granted, so that either answer is right"},
		{id: "A74", name: "mebibyte", check: mebibyte},
		{id: "A75", name: "attributes-take-room", check: attributesTakeRoom},
		{id: "A76", name: "trace-header", check: traceHeader},
		{id: "A77", name: "ten-attributes", check: tenAttributes},
		{id: "A78", name: "nothing-empty", check: nothingEmpty},
		{id: "A79", name: "allowed-characters", check: allowedCharacters},
		{id: "A80", name: "group-on-standard", check: groupOnStandard},
		{id: "A81", name: "settings-are-told", check: settingsAreTold},
		{id: "A82", name: "policy-is-told", check: policyIsTold},
		{id: "A83", name: "address-of-queue", check: addressOfQueue},
		{id: "A84", name: "missing-queue", check: missingQueue},
		{id: "A85", name: "moved-as-it-was", check: movedAsItWas},
		{id: "A86", name: "moved-keeps-time", check: movedKeepsTime},
		{id: "A87", why: "the shortest retention is a minute, and the deletion comes some time after"},
		{id: "A88", name: "redrive-is-new", check: redriveIsNew},
		{id: "A89", name: "same-kind-of-dead", check: sameKindOfDead},
		{id: "A90", why: "it happens seldom, and at no call's wish"},
		{id: "A91", why: "it takes 120,000 messages in flight"},
		{id: "A92", why: "it takes a second role that lacks the permissions"},
		{id: "A93", name: "bad-credentials-for-sqs", check: badCredentialsForSQS},
		{id: "A94", why: "the shortest retention is a minute, and the deletion comes some time after"},
	}
}

func fifoFacts() []fact {
	return []fact{
		{id: "A101", name: "group-in-order", check: groupInOrder},
		{id: "A102", name: "group-waits", check: groupWaits},
		{id: "A103", name: "back-in-order", check: backInOrder},
		{id: "A104", name: "delayed-head", check: delayedHead},
		{id: "A105", name: "stale-on-fifo", check: staleOnFIFO},
		{id: "A106", name: "expired-on-fifo", check: expiredOnFIFO},
		{id: "A107", name: "fifo-attributes", check: fifoAttributes},
		{id: "A108", name: "group-needed", check: groupNeeded},
		{id: "A109", name: "sent-once", check: sentOnce},
		{id: "A110", why: "it takes five minutes"},
		{id: "A111", name: "dedup-in-queue", check: dedupInQueue},
		{id: "A112", name: "dedup-in-group", check: dedupInGroup},
		{id: "A113", name: "dedup-by-content", check: dedupByContent},
		{id: "A114", name: "ids-of-128", check: idsOf128},
		{id: "A115", name: "moved-in-group", check: movedInGroup},
		{id: "A116", name: "moved-by-own-id", check: movedByOwnID},
		{id: "A117", name: "redrive-on-fifo", check: redriveOnFIFO},
		{id: "A118", why: "retention takes a minute at least, and no attribute is documented to show the new time"},
		{id: "A119", name: "attempt-repeated", check: attemptRepeated},
		{id: "A120", why: "it takes 120,000 messages in flight"},
		{id: "A121", name: "fifo-by-name", check: fifoByName},
		{id: "A122", why: "the code is right with either answer"},
	}
}

func otherFacts() []fact {
	return []fact{
		{id: "A131", why: "it takes a topic, which this program does not create"},
		{id: "A132", why: "it takes a topic, which this program does not create"},
		{id: "A133", why: "it takes a topic, which this program does not create"},
	}
}
