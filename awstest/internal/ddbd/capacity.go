package ddbd

import (
	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// Units of capacity, from
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
const (
	readBlock  = 4 << 10
	writeBlock = 1 << 10
)

// Usage is what a table was billed, in capacity units. The totals include the indexes.
type Usage struct {
	Read, Write           float64
	IndexRead, IndexWrite float64
	Requests              int // requests of any kind that touched the table
}

// Usage returns what the table was billed since it was created. Refused conditional
// writes count too, although their answers cannot say so.
func (s *Server) Usage(table string) Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tables[table]; t != nil {
		return t.usage
	}
	return Usage{}
}

// bill collects the units of one request on one table.
type bill struct {
	table                 *table
	read, write           float64
	indexRead, indexWrite map[string]float64
}

func newBill(t *table) *bill {
	return &bill{table: t, indexRead: map[string]float64{}, indexWrite: map[string]float64{}}
}

func blocks(size, block int) float64 { return float64(max(1, (size+block-1)/block)) }

// addRead bills size bytes; an eventually consistent read costs half.
func (b *bill) addRead(size int, consistent bool, x *index) {
	units := blocks(size, readBlock)
	if !consistent {
		units /= 2
	}
	if x == nil {
		b.read += units
	} else {
		b.indexRead[x.name] += units
	}
}

// addWrite bills a write that was tried: the larger of both images, and for each index
// the entries it deletes and puts.
func (b *bill) addWrite(old, item attr.Item) {
	b.addTableWrite(old, item)
	for _, x := range b.table.indexes {
		if units := x.writeUnits(b.table, old, item); units > 0 {
			b.indexWrite[x.name] += units
		}
	}
}

func (b *bill) addTableWrite(old, item attr.Item) {
	b.write += blocks(max(old.Size(), item.Size()), writeBlock)
}

// writeUnits follows "Provisioned throughput considerations for Global Secondary Indexes":
// nothing for an unchanged entry, one write for an entry put, changed or deleted, two
// where the key changes.
func (x *index) writeUnits(t *table, old, item attr.Item) float64 {
	oldKey, oldEntry := x.entry(t, old)
	newKey, newEntry := x.entry(t, item)
	oldUnits, newUnits := blocks(oldEntry.Size(), writeBlock), blocks(newEntry.Size(), writeBlock)
	switch {
	case oldEntry == nil && newEntry == nil:
		return 0
	case oldEntry == nil:
		return newUnits
	case newEntry == nil:
		return oldUnits
	case oldKey != newKey:
		return oldUnits + newUnits
	case oldEntry.Equal(newEntry):
		return 0
	default:
		return max(oldUnits, newUnits)
	}
}

// scale multiplies the bill: transactions do everything twice.
func (b *bill) scale(factor float64) {
	b.read *= factor
	b.write *= factor
	for _, m := range []map[string]float64{b.indexRead, b.indexWrite} {
		for name := range m {
			m[name] *= factor
		}
	}
}

// charge books the bill to the table.
func (b *bill) charge() {
	indexRead, indexWrite := sum(b.indexRead), sum(b.indexWrite)
	u := &b.table.usage
	u.Requests++
	u.Read += b.read + indexRead
	u.Write += b.write + indexWrite
	u.IndexRead += indexRead
	u.IndexWrite += indexWrite
}

func sum(m map[string]float64) float64 {
	total := 0.0
	for _, units := range m {
		total += units
	}
	return total
}

type capacity struct {
	CapacityUnits      float64
	ReadCapacityUnits  float64 `json:",omitempty"`
	WriteCapacityUnits float64 `json:",omitempty"`
}

type consumedCapacity struct {
	TableName string
	capacity
	Table                  *capacity           `json:",omitempty"`
	GlobalSecondaryIndexes map[string]capacity `json:",omitempty"`
}

// report is the ConsumedCapacity of an answer, nil where it was not asked for.
// Transactions tell reads and writes apart.
func (b *bill) report(mode string, transaction bool) *consumedCapacity {
	if mode != "TOTAL" && mode != "INDEXES" {
		return nil
	}
	split := func(read, write float64) capacity {
		c := capacity{CapacityUnits: read + write}
		if transaction {
			c.ReadCapacityUnits, c.WriteCapacityUnits = read, write
		}
		return c
	}
	out := &consumedCapacity{TableName: b.table.name}
	out.capacity = split(b.read+sum(b.indexRead), b.write+sum(b.indexWrite))
	if mode == "TOTAL" {
		return out
	}
	own := split(b.read, b.write)
	out.Table = &own
	for _, x := range b.table.indexes {
		if read, write := b.indexRead[x.name], b.indexWrite[x.name]; read+write > 0 {
			if out.GlobalSecondaryIndexes == nil {
				out.GlobalSecondaryIndexes = map[string]capacity{}
			}
			out.GlobalSecondaryIndexes[x.name] = split(read, write)
		}
	}
	return out
}

func checkCapacityMode(mode string) error {
	return oneOf(mode, "returnConsumedCapacity", "INDEXES", "TOTAL", "NONE")
}
