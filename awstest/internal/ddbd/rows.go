package ddbd

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// rowKey orders the rows of a table or index: by the partition key's hash, as a Scan on
// AWS shows them, then within a partition by sort key. tie tells apart index rows whose
// keys are equal.
type rowKey struct {
	hash            uint64
	part, sort, tie string
}

func newRowKey(part, sort, tie string) rowKey {
	return rowKey{hash: hash(part), part: part, sort: sort, tie: tie}
}

// hash is FNV-1a with a final mix, since the top bits choose bucket and scan segment and
// FNV alone leaves those of short keys alike.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func (k rowKey) compare(o rowKey) int {
	return cmp.Or(
		cmp.Compare(k.hash, o.hash),
		strings.Compare(k.part, o.part),
		strings.Compare(k.sort, o.sort),
		strings.Compare(k.tie, o.tie),
	)
}

// segment is the parallel-scan segment that the row belongs to.
func (k rowKey) segment(total int) int {
	hi, _ := bits.Mul64(k.hash, uint64(total))
	return int(hi)
}

type row struct {
	key  rowKey
	item attr.Item
}

const bucketBits = 10

// rows is an ordered collection: sorted slices chosen by the top bits of the hash, so
// that an insert moves few rows and a scan still meets all of them in order.
type rows struct {
	buckets [1 << bucketBits][]row
	count   int
	bytes   int
}

func (k rowKey) bucket() int { return int(k.hash >> (64 - bucketBits)) }

func (r *rows) find(k rowKey) (bucket *[]row, at int, found bool) {
	bucket = &r.buckets[k.bucket()]
	at, found = slices.BinarySearchFunc(*bucket, k, func(r row, k rowKey) int { return r.key.compare(k) })
	return bucket, at, found
}

// get returns the item, nil if there is none.
func (r *rows) get(k rowKey) attr.Item {
	if bucket, at, found := r.find(k); found {
		return (*bucket)[at].item
	}
	return nil
}

// put stores the item under k; a nil item deletes.
func (r *rows) put(k rowKey, item attr.Item) {
	bucket, at, found := r.find(k)
	if found {
		r.count--
		r.bytes -= (*bucket)[at].item.Size()
	}
	switch {
	case item == nil && found:
		*bucket = slices.Delete(*bucket, at, at+1)
	case item == nil:
		return
	case found:
		(*bucket)[at].item = item
	default:
		*bucket = slices.Insert(*bucket, at, row{k, item})
	}
	if item != nil {
		r.count++
		r.bytes += item.Size()
	}
}

// from yields all rows at or after k in order.
func (r *rows) from(k rowKey) iter.Seq[row] {
	return func(yield func(row) bool) {
		_, at, _ := r.find(k)
		for i, bucket := range r.buckets[k.bucket():] {
			if i > 0 {
				at = 0
			}
			for _, row := range bucket[at:] {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// backFrom yields all rows at or before k, last first.
func (r *rows) backFrom(k rowKey) iter.Seq[row] {
	return func(yield func(row) bool) {
		_, at, found := r.find(k)
		if found {
			at++
		}
		for b := k.bucket(); b >= 0; b-- {
			bucket := r.buckets[b]
			if b != k.bucket() {
				at = len(bucket)
			}
			for i := at - 1; i >= 0; i-- {
				if !yield(bucket[i]) {
					return
				}
			}
		}
	}
}
