package dedupe_test

// settledCells are the cells of unknown, completed and failed records.
func settledCells() []row {
	return []row{
		{
			name: "unknown, begun",
			cells: []cell{
				{"claim; claim own; claim older", "pending"},
				{"claim other", "mismatch"},
				{"beats; former owners; given up, absence expected; given up, other revision", "lost"},
				{"complete", "applied → completed: marks cleared, result 201, no reason, heard now, troubled no more, listed never, expires +168h0m5s"},
				{"complete stranger", "lost [effect by lost owner]"},
				{"failures", "applied → failed: marks cleared, reason refused, heard now, troubled no more, listed never, expires +168h0m5s"},
				{"release error; release drain; suspect", "repeated"},
				{"release undone", "applied → released: marks charge undone, reason busy, heard now, listed now"},
				{"release not committed", "applied → released: reason busy, heard now, listed now"},
				{"release never started; release given up", "applied → released: attempt 0, reason busy, heard now, listed now"},
				{"given up, revision expected", "applied → unknown"},
				{"take", "applied → unknown: taken by new, taken until +1m"},
				{"take voids", "applied → unknown: generation 1, taken by new, taken until +1m"},
				{"take again", "applied → unknown: generation 1, taken by rec, taken until +1m"},
				{"answers; operator unknown; override forget; override dismiss", "refused"},
				{"operator completed", "applied → completed: marks cleared, result 201, no reason, troubled no more, listed never, expires +168h0m5s"},
				{"operator released", "applied → released: reason looked, doubtful, listed now, first attempt never"},
				{"operator failed", "applied → failed: marks cleared, reason looked, troubled no more, listed never, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, marks cleared, reason looked, doubtful, listed now, first attempt never"},
			},
		},
		{
			name: "unknown, begun, doubtful", like: "unknown, begun",
			cells: []cell{
				{"complete", "applied → completed: marks cleared, result 201, no reason, heard now, not doubtful, troubled no more, listed never, expires +168h0m5s"},
				{"failures", "repeated"},
				{"operator completed", "applied → completed: marks cleared, result 201, no reason, not doubtful, troubled no more, listed never, expires +168h0m5s"},
				{"operator released", "applied → released: reason looked, listed now, first attempt never"},
				{"operator failed", "applied → failed: marks cleared, reason looked, not doubtful, troubled no more, listed never, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, marks cleared, reason looked, listed now, first attempt never"},
			},
		},
		{
			name: "unknown, rerun, doubtful", like: "unknown, begun",
			cells: []cell{
				{"complete", "applied → completed: result 201, no reason, heard now, not doubtful, troubled no more, listed never, expires +168h0m5s"},
				{"failures", "exhausted → released: attempt 0, reason refused, heard now, troubled exhausted and unknown, listed now"},
				{"release error; release undone", "applied → released: reason busy, heard now, listed now"},
				{"release drain", "applied → released: attempt 0, reason busy, heard now, listed now"},
				{"operator completed", "applied → completed: result 201, no reason, not doubtful, troubled no more, listed never, expires +168h0m5s"},
				{"operator released", "applied → released: reason looked, listed now, first attempt never"},
				{"operator failed", "applied → failed: reason looked, not doubtful, troubled no more, listed never, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, reason looked, listed now, first attempt never"},
			},
		},
		{
			name: "unknown, two steps begun", like: "unknown, begun",
			cells: []cell{
				{"fail; release not committed", "repeated"},
				{"release undone", "applied → released: marks charge undone + mail undone, reason busy, heard now, listed now"},
			},
		},
		{
			name: "unknown, reconcile, taken by a reconciler", like: "unknown, begun",
			cells: []cell{
				{"complete", "applied → completed: result 201, no reason, heard now, no taken by, taken until never, troubled no more, listed never, expires +168h0m5s"},
				{"failures", "applied → failed: reason refused, heard now, no taken by, taken until never, troubled no more, listed never, expires +168h0m5s"},
				{"release undone", "repeated"},
				{"release not committed", "applied → released: reason busy, heard now, no taken by, taken until never, listed now"},
				{"release never started; release given up", "applied → released: attempt 0, reason busy, heard now, no taken by, taken until never, listed now"},
				{"take; take voids", "refused"},
				{"take again", "applied → unknown: taken until +1m"},
				{"resolve completed; operator completed", "applied → completed: result 201, no reason, no taken by, taken until never, troubled no more, listed never, expires +168h0m5s"},
				{"resolve released", "applied → released: reason asked, no taken by, taken until never, doubtful, listed now, first attempt never"},
				{"resolve voided", "applied → released: reason asked, no taken by, taken until never, listed now, first attempt never"},
				{"resolve voided failed", "applied → failed: reason asked, no taken by, taken until never, troubled no more, listed never, expires +168h0m5s"},
				{"operator released", "applied → released: reason looked, no taken by, taken until never, doubtful, listed now, first attempt never"},
				{"operator failed", "applied → failed: reason looked, no taken by, taken until never, troubled no more, listed never, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, reason looked, no taken by, taken until never, doubtful, listed now, first attempt never"},
			},
		},
		{
			name: "unknown, reconcile, the reconciler's lease over", like: "unknown, reconcile, taken by a reconciler",
			cells: []cell{
				{"take", "applied → unknown: taken by new, taken until +1m"},
				{"take voids", "applied → unknown: generation 1, taken by new, taken until +1m"},
			},
		},
		{
			name: "completed",
			cells: []cell{
				{"claim; claim own; claim older", "replay"},
				{"claim other", "mismatch"},
				{"beats; former owners; failures; releases; given up, absence expected; given up, other revision; suspect", "lost"},
				{"complete", "repeated"},
				{"complete stranger", "lost [effect by lost owner]"},
				{"given up, revision expected", "applied → completed"},
				{"takes; answers; operator's answers; override dismiss", "refused"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, no result, reason looked, doubtful, listed +24h, first attempt never, expires +168h0m5s"},
				{"override forget", "applied → released: no fingerprint, owner ops, attempt 0, reply epoch 1, no result, reason looked, doubtful, listed +24h, first attempt never, expires +168h0m5s"},
			},
		},
		{
			name: "completed, past its expiry by less than the margin", like: "completed",
		},
		{
			name: "completed, generation raised", like: "completed",
			cells: []cell{
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, no result, reason looked, doubtful, listed +24h, first attempt never"},
				{"override forget", "applied → released: no fingerprint, owner ops, attempt 0, reply epoch 1, no result, reason looked, doubtful, listed +24h, first attempt never"},
			},
		},
		{
			name: "failed", like: "completed",
			cells: []cell{
				{"claim; claim own; claim older", "failed"},
				{"complete", "applied → completed: result 201, no reason, heard now, expires +168h0m5s [contradicted]"},
				{"failures", "repeated"},
				{"given up, revision expected", "applied → failed"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, reason looked, doubtful, listed +24h, first attempt never, expires +168h0m5s"},
				{"override forget", "applied → released: no fingerprint, owner ops, attempt 0, reply epoch 1, reason looked, listed +24h, first attempt never, expires +168h0m5s"},
			},
		},
	}
}
