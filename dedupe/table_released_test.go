package dedupe_test

// releasedCells are the cells of released records.
func releasedCells() []row {
	return []row{
		{
			name: "released",
			cells: []cell{
				{"claim; claim older", "claimed → in_progress: mode reconcile, owner new, fence, attempt 2, no reason, lease +1m, heard now, listed never, expires never"},
				{"claim other", "mismatch"},
				{"claim own", "claimed → in_progress: mode reconcile, fence, attempt 2, no reason, lease +1m, heard now, listed never, expires never"},
				{"beats; former owners; failures; releases; given up, absence expected; given up, other revision", "lost"},
				{"complete", "applied → completed: result 201, no reason, heard now, listed never, expires +168h0m5s [contradicted]"},
				{"complete stranger", "lost [effect by lost owner]"},
				{"given up, revision expected", "applied → released"},
				{"suspect", "applied → unknown: reason reset, heard now, troubled unknown, listed now, expires never [contradicted]"},
				{"takes; answers; operator released; operator unknown", "refused"},
				{"operator completed", "applied → completed: owner ops, result 201, no reason, listed never, expires +168h0m5s"},
				{"operator failed", "applied → failed: owner ops, reason looked, listed never, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, reason looked, doubtful, listed +24h, first attempt never, expires +168h0m5s"},
				{"override forget", "applied → released: no fingerprint, owner ops, attempt 0, reply epoch 1, reason looked, doubtful, listed +24h, first attempt never, expires +168h0m5s"},
				{"override dismiss", "applied → released: listed never, expires +168h0m5s"},
			},
		},
		{
			name: "released, doubtful, first attempt longer ago than the provider's memory", like: "released",
			cells: []cell{
				{"claim; claim own; claim older", "pending → unknown: reason the provider may have forgotten an earlier attempt, troubled unknown, listed now, expires never"},
				{"complete", "applied → completed: result 201, no reason, heard now, not doubtful, listed never, expires +168h0m5s [contradicted]"},
				{"operator completed", "applied → completed: owner ops, result 201, no reason, not doubtful, listed never, expires +168h0m5s"},
				{"operator failed", "applied → failed: owner ops, reason looked, not doubtful, listed never, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, reason looked, listed +24h, first attempt never, expires +168h0m5s"},
				{"override forget", "applied → released: no fingerprint, owner ops, attempt 0, reply epoch 1, reason looked, listed +24h, first attempt never, expires +168h0m5s"},
			},
		},
		{
			name: "released, doubtful, first attempt within the provider's memory", like: "released, doubtful, first attempt longer ago than the provider's memory",
			cells: []cell{
				{"claim; claim older", "claimed → in_progress: mode reconcile, owner new, fence, attempt 2, no reason, lease +1m, heard now, listed never, expires never"},
				{"claim own", "claimed → in_progress: mode reconcile, fence, attempt 2, no reason, lease +1m, heard now, listed never, expires never"},
			},
		},
		{
			name: "released, not doubtful, first attempt longer ago than the provider's memory", like: "released",
			cells: []cell{},
		},
		{
			name: "released, doubtful, first attempt long ago, the provider's memory not configured", like: "released, doubtful, first attempt longer ago than the provider's memory",
			cells: []cell{
				{"claim; claim older", "claimed → in_progress: mode reconcile, owner new, fence, attempt 2, no reason, lease +1m, heard now, listed never, expires never"},
				{"claim own", "claimed → in_progress: mode reconcile, fence, attempt 2, no reason, lease +1m, heard now, listed never, expires never"},
			},
		},
		{
			name: "released, attempt bound reached by settled attempts", like: "released",
			cells: []cell{
				{"claim; claim own; claim older", "exhausted → released: attempt 0, troubled exhausted and unknown, listed now"},
				{"suspect", "applied → unknown: reason reset, heard now, listed now [contradicted]"},
				{"override dismiss", "applied → released: troubled no more, listed never, expires +168h0m5s"},
				{"complete", "applied → completed: marks cleared, result 201, no reason, heard now, troubled no more, listed never, expires +168h0m5s [contradicted]"},
				{"operator completed", "applied → completed: owner ops, marks cleared, result 201, no reason, troubled no more, listed never, expires +168h0m5s"},
				{"operator failed", "applied → failed: owner ops, marks cleared, reason looked, troubled no more, listed never, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, attempt 0, reply epoch 1, marks cleared, reason looked, doubtful, listed now"},
				{"override forget", "applied → released: no fingerprint, owner ops, attempt 0, reply epoch 1, marks cleared, reason looked, doubtful, listed now"},
			},
		},
		{
			name: "released out of unknown by a void", like: "released, attempt bound reached by settled attempts",
			cells: []cell{
				{"claim; claim older", "claimed → in_progress: owner new, fence, attempt 2, marks cleared, no reason, lease +1m, heard now, first attempt now"},
				{"claim own", "claimed → in_progress: fence, attempt 2, marks cleared, no reason, lease +1m, heard now, first attempt now"},
				{"complete", "applied → completed: marks cleared, result 201, no reason, heard now, troubled no more, listed never [contradicted]"},
				{"operator completed", "applied → completed: owner ops, marks cleared, result 201, no reason, troubled no more, listed never"},
				{"operator failed", "applied → failed: owner ops, marks cleared, reason looked, troubled no more, listed never"},
				{"override dismiss", "applied → released: troubled no more, listed never"},
			},
		},
		{
			name: "released, exhausted", like: "released",
			cells: []cell{
				{"claim; claim older", "claimed → in_progress: mode reconcile, owner new, fence, attempt 1, no reason, lease +1m, heard now, expires never"},
				{"claim own", "claimed → in_progress: mode reconcile, fence, attempt 1, no reason, lease +1m, heard now, expires never"},
				{"complete", "applied → completed: result 201, no reason, heard now, troubled no more, listed never, expires +168h0m5s [contradicted]"},
				{"suspect", "applied → unknown: reason reset, heard now, troubled exhausted and unknown, listed now, expires never [contradicted]"},
				{"operator completed", "applied → completed: owner ops, result 201, no reason, troubled no more, listed never, expires +168h0m5s"},
				{"operator failed", "applied → failed: owner ops, reason looked, troubled no more, listed never, expires +168h0m5s"},
				{"override release", "applied → released: owner ops, reply epoch 1, reason looked, doubtful, listed now, first attempt never, expires +168h0m5s"},
				{"override forget", "applied → released: no fingerprint, owner ops, reply epoch 1, reason looked, doubtful, listed now, first attempt never, expires +168h0m5s"},
				{"override dismiss", "applied → released: troubled no more, listed never, expires +168h0m5s"},
			},
		},
		{
			name: "released, fingerprint forgotten by an operator", like: "released, doubtful, first attempt longer ago than the provider's memory",
			cells: []cell{
				{"claim", "claimed → in_progress: fingerprint v1:a, mode reconcile, owner new, fence, attempt 2, no reason, lease +1m, heard now, listed never, first attempt now, expires never"},
				{"claim other", "claimed → in_progress: fingerprint v1:b, mode reconcile, owner new, fence, attempt 2, no reason, lease +1m, heard now, listed never, first attempt now, expires never"},
				{"claim own", "claimed → in_progress: fingerprint v1:a, mode reconcile, fence, attempt 2, no reason, lease +1m, heard now, listed never, first attempt now, expires never"},
				{"claim older", "claimed → in_progress: fingerprint v2:a, mode reconcile, owner new, fence, attempt 2, no reason, lease +1m, heard now, listed never, first attempt now, expires never"},
				{"override release; override forget", "applied → released: owner ops, attempt 0, reply epoch 1, reason looked, listed +24h, expires +168h0m5s"},
			},
		},
	}
}
