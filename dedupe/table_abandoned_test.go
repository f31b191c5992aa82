package dedupe_test

// abandonedCells are the cells of records in progress whose lease is over.
func abandonedCells() []row {
	return []row{
		{
			name: "in_progress, rerun, lease over within the margin", like: "in_progress, rerun, lease running",
			cells: []cell{
				{"claim; claim older", "busy"},
			},
		},
		{
			name: "in_progress, rerun, lease over", like: "in_progress, rerun, lease running",
			cells: []cell{
				{"claim; claim older", "claimed → in_progress: mode reconcile, owner new, fence, attempt 2, lease +1m, heard now, doubtful [abandoned]"},
				{"operator completed", "applied → completed: result 201, expires +168h0m5s"},
				{"operator released", "applied → released: reason looked, doubtful, troubled unknown, listed now, first attempt never"},
				{"operator failed", "applied → failed: reason looked, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, reason looked, doubtful, troubled unknown, listed now, first attempt never"},
			},
		},
		{
			name: "in_progress, rerun in a transaction, lease over", like: "in_progress, rerun, lease over",
			cells: []cell{
				{"claim; claim older", "claimed → in_progress: mode reconcile, not transactional, owner new, fence, attempt 2, lease +1m, heard now [abandoned]"},
				{"release error; release undone", "applied → released: reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"release drain", "applied → released: attempt 0, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, rerun, last attempt, lease over", like: "in_progress, rerun, lease over",
			cells: []cell{
				{"claim; claim older", "exhausted → released: attempt 0, reason lease passed without an outcome, doubtful, troubled exhausted, listed now, expires +168h0m5s [abandoned]"},
				{"release error; release undone", "exhausted → released: attempt 0, reason busy, heard now, doubtful, troubled exhausted, listed now, expires +168h0m5s"},
				{"release not committed", "exhausted → released: attempt 0, reason busy, heard now, troubled exhausted, listed now, expires +168h0m5s"},
				{"release drain", "applied → released: attempt 2, reason busy, heard now, doubtful, listed +24h1m, expires +168h0m5s"},
				{"release never started; release given up", "applied → released: attempt 2, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, rerun, first attempt longer ago than the provider's memory, lease over", like: "in_progress, rerun, lease over",
			cells: []cell{
				{"claim; claim older", "pending → unknown: reason the provider may have forgotten an earlier attempt, doubtful, troubled unknown, listed now [abandoned]"},
			},
		},
		{
			name: "in_progress, rerun, lease over for longer than a redelivery takes", like: "in_progress, rerun, lease over",
			cells: []cell{
				{"takes", "applied → released: attempt 0, reason lease passed without an outcome, doubtful, troubled exhausted, listed now, expires +168h0m5s [abandoned]"},
			},
		},
		{
			name: "in_progress, nothing begun, lease over", like: "in_progress, rerun, lease over",
			cells: []cell{
				{"claim; claim older", "claimed → in_progress: mode reconcile, owner new, fence, attempt 2, lease +1m, heard now [abandoned]"},
				{"begin", "applied → in_progress: marks ship, lease +1m, heard now"},
				{"begin again", "applied → in_progress: marks charge, lease +1m, heard now"},
				{"complete", "applied → completed: result 201, heard now, expires +168h0m5s [nothing begun]"},
				{"release error; release undone", "applied → released: reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"release drain", "applied → released: attempt 0, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, begun and undone, lease over", like: "in_progress, nothing begun, lease over",
			cells: []cell{
				{"claim; claim older", "claimed → in_progress: mode reconcile, owner new, fence, attempt 2, marks cleared, lease +1m, heard now [abandoned]"},
				{"begin", "applied → in_progress: marks charge undone + ship, lease +1m, heard now"},
				{"begin again", "repeated → in_progress: marks charge, lease +1m, heard now"},
				{"complete", "applied → completed: marks cleared, result 201, heard now, expires +168h0m5s"},
				{"fail; fail undone", "applied → failed: marks cleared, reason refused, heard now, expires +168h0m5s"},
				{"operator completed", "applied → completed: marks cleared, result 201, expires +168h0m5s"},
				{"operator failed", "applied → failed: marks cleared, reason looked, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, marks cleared, reason looked, doubtful, troubled unknown, listed now, first attempt never"},
			},
		},
		{
			name: "in_progress, nothing begun, last attempt, lease over", like: "in_progress, nothing begun, lease over",
			cells: []cell{
				{"claim; claim older", "exhausted → released: attempt 0, reason lease passed without an outcome, troubled exhausted, listed now, expires +168h0m5s [abandoned]"},
				{"release error; release undone; release not committed", "exhausted → released: attempt 0, reason busy, heard now, troubled exhausted, listed now, expires +168h0m5s"},
				{"release drain; release never started; release given up", "applied → released: attempt 2, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, begun, lease over", like: "in_progress, nothing begun, lease over",
			cells: []cell{
				{"claim; claim older", "pending → unknown: reason lease passed without an outcome, troubled unknown, listed now [abandoned]"},
				{"renew undone", "applied → in_progress: marks charge undone, lease +1m, heard now"},
				{"begin", "applied → in_progress: marks charge + ship, lease +1m, heard now"},
				{"begin again", "repeated → in_progress: lease +1m, heard now"},
				{"complete", "applied → completed: marks cleared, result 201, heard now, expires +168h0m5s"},
				{"failures", "applied → failed: marks cleared, reason refused, heard now, expires +168h0m5s"},
				{"release error; release drain", "applied → unknown: reason busy, heard now, troubled unknown, listed now"},
				{"release undone", "applied → released: marks charge undone, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"take", "applied → unknown: reason lease passed without an outcome, taken by new, taken until +1m, troubled unknown, listed now [abandoned]"},
				{"take voids", "applied → unknown: generation 1, reason lease passed without an outcome, taken by new, taken until +1m, troubled unknown, listed now [abandoned]"},
				{"take again", "applied → unknown: generation 1, reason lease passed without an outcome, taken by rec, taken until +1m, troubled unknown, listed now [abandoned]"},
				{"operator completed", "applied → completed: marks cleared, result 201, expires +168h0m5s"},
				{"operator failed", "applied → failed: marks cleared, reason looked, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, marks cleared, reason looked, doubtful, troubled unknown, listed now, first attempt never"},
			},
		},
		{
			name: "in_progress, reconcile, last attempt, lease over", like: "in_progress, begun, lease over",
			cells: []cell{
				{"renew undone", "applied → in_progress: lease +1m, heard now"},
				{"begin", "applied → in_progress: marks ship, lease +1m, heard now"},
				{"begin again", "applied → in_progress: marks charge, lease +1m, heard now"},
				{"complete", "applied → completed: result 201, heard now, expires +168h0m5s"},
				{"failures", "applied → failed: reason refused, heard now, expires +168h0m5s"},
				{"release undone", "applied → unknown: reason busy, heard now, troubled unknown, listed now"},
				{"release not committed", "exhausted → released: attempt 0, reason busy, heard now, troubled exhausted, listed now, expires +168h0m5s"},
				{"release never started; release given up", "applied → released: attempt 2, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"operator completed", "applied → completed: result 201, expires +168h0m5s"},
				{"operator failed", "applied → failed: reason looked, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, reason looked, doubtful, troubled unknown, listed now, first attempt never"},
			},
		},
	}
}
