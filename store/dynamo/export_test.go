package dynamo

import "github.com/claimonce/claimonce/dedupe"

// Item, Limits and the pure functions, for tests outside the package.
type Item = item

const (
	InlineLimit = inlineLimit
	ItemLimit   = itemLimit
)

var (
	Items    = items
	ItemSize = itemSize
	SizeOf   = valueSize
	Shards   = shards
	ShardOf  = shardOf
)

// Decode gives the id of a result apart too; "" if there is none.
func Decode(key dedupe.Key, it Item) (rec dedupe.Record, apart string, err error) {
	rec, where, err := decode(key, it)
	if where != nil {
		apart = where.id
	}
	return rec, apart, err
}
