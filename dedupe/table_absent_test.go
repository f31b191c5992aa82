package dedupe_test

// absentCells are the cells of absent and expired records.
func absentCells() []row {
	return []row{
		{
			name: "absent",
			cells: []cell{
				{"claim", "claimed → in_progress: fingerprint v1:a, mode reconcile, owner new, fence, attempt 1, lease +1m, heard now, first attempt now, new record"},
				{"claim other", "claimed → in_progress: fingerprint v1:b, mode reconcile, owner new, fence, attempt 1, lease +1m, heard now, first attempt now, new record"},
				{"claim own", "claimed → in_progress: fingerprint v1:a, mode reconcile, owner own, fence, attempt 1, lease +1m, heard now, first attempt now, new record"},
				{"claim older", "claimed → in_progress: fingerprint v2:a, mode reconcile, owner new, fence, attempt 1, lease +1m, heard now, first attempt now, new record"},
				{"beats; former owners; failures; releases; given up, revision expected; given up, other revision; suspect", "lost"},
				{"complete; complete stranger", "lost [effect by lost owner]"},
				{"given up, absence expected", "applied → released: fingerprint v1:a, mode reconcile, owner lost, fence, reason given up, heard now, listed +24h, new record, expires +168h0m5s"},
				{"takes; answers; operator's answers; overrides", "refused"},
			},
		},
		{
			name: "expired, was completed",
			cells: []cell{
				{"claim", "claimed → in_progress: mode reconcile, owner new, fence, no result, lease +1m, heard now, first attempt now, new record, expires never"},
				{"claim other", "claimed → in_progress: fingerprint v1:b, mode reconcile, owner new, fence, no result, lease +1m, heard now, first attempt now, new record, expires never"},
				{"claim own", "claimed → in_progress: mode reconcile, fence, no result, lease +1m, heard now, first attempt now, new record, expires never"},
				{"claim older", "claimed → in_progress: fingerprint v2:a, mode reconcile, owner new, fence, no result, lease +1m, heard now, first attempt now, new record, expires never"},
				{"beats; former owners; failures; releases; given up, other revision; suspect", "lost"},
				{"complete", "repeated"},
				{"complete stranger", "lost [effect by lost owner]"},
				{"given up, absence expected", "applied → released: mode reconcile, owner lost, fence, attempt 0, no result, reason given up, lease never, heard now, listed +24h, first attempt never, new record, expires +168h0m5s"},
				{"given up, revision expected", "applied → completed"},
				{"takes; answers; operator's answers; overrides", "refused"},
			},
		},
		{
			name: "expired, was failed", like: "expired, was completed",
			cells: []cell{
				{"claim", "claimed → in_progress: mode reconcile, owner new, fence, no reason, lease +1m, heard now, first attempt now, new record, expires never"},
				{"claim other", "claimed → in_progress: fingerprint v1:b, mode reconcile, owner new, fence, no reason, lease +1m, heard now, first attempt now, new record, expires never"},
				{"claim own", "claimed → in_progress: mode reconcile, fence, no reason, lease +1m, heard now, first attempt now, new record, expires never"},
				{"claim older", "claimed → in_progress: fingerprint v2:a, mode reconcile, owner new, fence, no reason, lease +1m, heard now, first attempt now, new record, expires never"},
				{"complete", "lost [effect by lost owner]"},
				{"failures", "repeated"},
				{"given up, absence expected", "applied → released: mode reconcile, owner lost, fence, attempt 0, reason given up, lease never, heard now, listed +24h, first attempt never, new record, expires +168h0m5s"},
				{"given up, revision expected", "applied → failed"},
			},
		},
		{
			name: "expired, was released", like: "expired, was completed",
			cells: []cell{
				{"claim", "claimed → in_progress: mode reconcile, owner new, fence, no reason, lease +1m, heard now, listed never, first attempt now, new record, expires never"},
				{"claim other", "claimed → in_progress: fingerprint v1:b, mode reconcile, owner new, fence, no reason, lease +1m, heard now, listed never, first attempt now, new record, expires never"},
				{"claim own", "claimed → in_progress: mode reconcile, fence, no reason, lease +1m, heard now, listed never, first attempt now, new record, expires never"},
				{"claim older", "claimed → in_progress: fingerprint v2:a, mode reconcile, owner new, fence, no reason, lease +1m, heard now, listed never, first attempt now, new record, expires never"},
				{"complete", "lost [effect by lost owner]"},
				{"given up, absence expected", "applied → released: mode reconcile, owner lost, fence, attempt 0, reason given up, lease never, heard now, listed +24h, first attempt never, new record, expires +168h0m5s"},
				{"given up, revision expected", "applied → released"},
			},
		},
	}
}
