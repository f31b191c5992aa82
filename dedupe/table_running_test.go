package dedupe_test

// runningCells are the cells of records in progress whose lease runs.
func runningCells() []row {
	return []row{
		{
			name: "in_progress, rerun, lease running",
			cells: []cell{
				{"claim; claim older", "busy for 55s"},
				{"claim other", "mismatch"},
				{"claim own", "claimed"},
				{"renew; renew undone", "applied → in_progress: lease +1m, heard now"},
				{"former owners; given up, absence expected; given up, other revision", "lost"},
				{"begin; begin again", "applied"},
				{"complete", "applied → completed: result 201, heard now, expires +168h0m5s"},
				{"complete stranger", "lost [effect by lost owner]"},
				{"failures", "applied → failed: reason refused, heard now, expires +168h0m5s"},
				{"release error; release undone", "applied → released: reason busy, heard now, doubtful, listed +24h1m, expires +168h0m5s"},
				{"release not committed", "applied → released: reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"release drain", "applied → released: attempt 0, reason busy, heard now, doubtful, listed +24h1m, expires +168h0m5s"},
				{"release never started; release given up", "applied → released: attempt 0, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"given up, revision expected", "applied → in_progress"},
				{"suspect", "applied → unknown: reason reset, heard now, troubled unknown, listed now"},
				{"takes; answers; operator's answers; overrides", "refused"},
			},
		},
		{
			name: "in_progress, rerun in a transaction, lease running", like: "in_progress, rerun, lease running",
			cells: []cell{
				{"release error; release undone", "applied → released: reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"release drain", "applied → released: attempt 0, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, rerun, doubtful, lease running", like: "in_progress, rerun, lease running",
			cells: []cell{
				{"complete", "applied → completed: result 201, heard now, not doubtful, expires +168h0m5s"},
				{"failures", "exhausted → released: attempt 0, reason refused, heard now, troubled exhausted, listed now, expires +168h0m5s"},
				{"release error; release undone", "applied → released: reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"release drain", "applied → released: attempt 0, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, rerun, last attempt, lease running", like: "in_progress, rerun, lease running",
			cells: []cell{
				{"release error; release undone", "exhausted → released: attempt 0, reason busy, heard now, doubtful, troubled exhausted, listed now, expires +168h0m5s"},
				{"release not committed", "exhausted → released: attempt 0, reason busy, heard now, troubled exhausted, listed now, expires +168h0m5s"},
				{"release drain", "applied → released: attempt 2, reason busy, heard now, doubtful, listed +24h1m, expires +168h0m5s"},
				{"release never started; release given up", "applied → released: attempt 2, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, nothing begun, lease running", like: "in_progress, rerun, lease running",
			cells: []cell{
				{"begin", "applied → in_progress: marks ship, lease +1m, heard now"},
				{"begin again", "applied → in_progress: marks charge, lease +1m, heard now"},
				{"complete", "applied → completed: result 201, heard now, expires +168h0m5s [nothing begun]"},
				{"release error; release undone", "applied → released: reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"release drain", "applied → released: attempt 0, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, begun, lease running", like: "in_progress, nothing begun, lease running",
			cells: []cell{
				{"renew undone", "applied → in_progress: marks charge undone, lease +1m, heard now"},
				{"begin", "applied → in_progress: marks charge + ship, lease +1m, heard now"},
				{"begin again", "repeated → in_progress: lease +1m, heard now"},
				{"complete", "applied → completed: marks cleared, result 201, heard now, expires +168h0m5s"},
				{"failures", "applied → failed: marks cleared, reason refused, heard now, expires +168h0m5s"},
				{"release error; release drain", "applied → unknown: reason busy, heard now, troubled unknown, listed now"},
				{"release undone", "applied → released: marks charge undone, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, begun, doubtful, lease running", like: "in_progress, begun, lease running",
			cells: []cell{
				{"complete", "applied → completed: marks cleared, result 201, heard now, not doubtful, expires +168h0m5s"},
				{"fail", "applied → unknown: reason refused, heard now, troubled unknown, listed now"},
				{"fail undone", "applied → unknown: marks charge undone, reason refused, heard now, troubled unknown, listed now"},
			},
		},
		{
			name: "in_progress, two steps begun, lease running", like: "in_progress, begun, lease running",
			cells: []cell{
				{"renew undone", "applied → in_progress: marks charge undone + mail undone, lease +1m, heard now"},
				{"begin", "applied → in_progress: marks charge + mail + ship, lease +1m, heard now"},
				{"fail", "applied → unknown: reason refused, heard now, troubled unknown, listed now"},
				{"release undone", "applied → released: marks charge undone + mail undone, reason busy, heard now, listed +24h1m, expires +168h0m5s"},
				{"release not committed", "applied → unknown: reason busy, heard now, troubled unknown, listed now"},
			},
		},
		{
			name: "in_progress, two steps begun, one of them undone, lease running", like: "in_progress, two steps begun, lease running",
			cells: []cell{
				{"begin", "applied → in_progress: marks charge undone + mail + ship, lease +1m, heard now"},
				{"begin again", "repeated → in_progress: marks charge + mail, lease +1m, heard now"},
				{"fail", "applied → failed: marks cleared, reason refused, heard now, expires +168h0m5s"},
				{"release not committed", "applied → released: reason busy, heard now, listed +24h1m, expires +168h0m5s"},
			},
		},
		{
			name: "in_progress, reconcile, lease running", like: "in_progress, nothing begun, lease running",
			cells: []cell{
				{"complete", "applied → completed: result 201, heard now, expires +168h0m5s"},
				{"release error; release undone; release drain", "applied → unknown: reason busy, heard now, troubled unknown, listed now"},
			},
		},
	}
}
