// Package ddbd is DynamoDB in the process: its state, rules and error messages, without
// HTTP. It follows the service's documentation
// (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/Welcome.html) closely
// enough that a client cannot tell the difference where a deduplicator looks: conditional
// writes and what their refusals carry, transactions, exact numbers, sizes, billing.
//
// It differs on purpose in these points: tables and indexes are active at once; reads are
// strongly consistent unless [Server.StaleReads] asks for lag; nothing expires by itself,
// since on AWS deletion lags by days and must not be relied on ([Server.DeleteExpired]
// does it when a test asks). Local secondary indexes, streams, backups and the legacy
// parameters from before expressions are refused as not supported.
//
// Time is read with [time.Now] only, so that a testing/synctest bubble drives it.
package ddbd
