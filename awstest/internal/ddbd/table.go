package ddbd

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// keyAttr is one attribute of a key.
type keyAttr struct {
	name string
	kind attr.Kind
}

// keySchema is a partition key and, where sort.name is set, a sort key.
type keySchema struct{ hash, sort keyAttr }

func (k keySchema) attrs() []keyAttr {
	if k.sort.name == "" {
		return []keyAttr{k.hash}
	}
	return []keyAttr{k.hash, k.sort}
}

func (k keySchema) has(name string) bool {
	return name != "" && (k.hash.name == name || k.sort.name == name)
}

// rowKey reads the key out of an item that is known to have it.
func (k keySchema) rowKey(item attr.Item, tie string) rowKey {
	sort := ""
	if k.sort.name != "" {
		sort = item[k.sort.name].SortKey()
	}
	return newRowKey(item[k.hash.name].SortKey(), sort, tie)
}

// pick returns the key's attributes of item.
func (k keySchema) pick(item attr.Item) attr.Item {
	out := attr.Item{}
	for _, a := range k.attrs() {
		if v := item[a.name]; v.Exists() {
			out[a.name] = v
		}
	}
	return out
}

type table struct {
	name, id    string
	arn         string
	created     time.Time
	definitions []attributeDefinition
	keys        keySchema
	onDemand    bool
	throughput  throughput
	protected   bool
	ttl         string // the attribute, "" while off
	indexes     []*index
	rows        rows
	journal     []change
	usage       Usage
}

// table finds a table by name or ARN; the message is that of item operations.
func (s *Server) table(name string) (*table, error) {
	if name == "" {
		return nil, missingMember("tableName")
	}
	t := s.tables[tableName(name)]
	if t == nil {
		return nil, refuse(codeNotFound, "Requested resource not found")
	}
	return t, nil
}

// namedTable is table with the message of operations on tables.
func (s *Server) namedTable(name string) (*table, error) {
	t, err := s.table(name)
	if e, ok := err.(*wire.Error); ok && e.Code == codeNotFound {
		return nil, refuse(codeNotFound, "Requested resource not found: Table: %s not found", tableName(name))
	}
	return t, err
}

func tableName(nameOrARN string) string {
	if strings.HasPrefix(nameOrARN, "arn:") {
		return nameOrARN[strings.LastIndexByte(nameOrARN, '/')+1:]
	}
	return nameOrARN
}

func (t *table) index(name string) *index {
	i := slices.IndexFunc(t.indexes, func(x *index) bool { return x.name == name })
	if i < 0 {
		return nil
	}
	return t.indexes[i]
}

// index is a global secondary index.
type index struct {
	name       string
	keys       keySchema
	projection projection
	throughput throughput
	rows       rows
}

// entry is what the index holds of a table's item: nil for one without the index's keys,
// which makes the index sparse.
func (x *index) entry(t *table, item attr.Item) (rowKey, attr.Item) {
	if item == nil {
		return rowKey{}, nil
	}
	for _, a := range x.keys.attrs() {
		if v := item[a.name]; v.Kind != a.kind {
			return rowKey{}, nil
		}
	}
	return x.keys.rowKey(item, tie(t.keys.rowKey(item, ""))), x.project(t, item)
}

func (x *index) project(t *table, item attr.Item) attr.Item {
	if x.projection.ProjectionType == projectAll {
		return item
	}
	out := t.keys.pick(item)
	maps.Copy(out, x.keys.pick(item))
	for _, name := range x.projection.NonKeyAttributes {
		if v := item[name]; v.Exists() {
			out[name] = v
		}
	}
	return out
}

// tie makes one string of a table's key, the length first so that no two keys share it.
func tie(k rowKey) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(len(k.part)))) + k.part + k.sort
}

// store replaces the item under k in the table and all its indexes; nil deletes.
func (t *table) store(k rowKey, old, item attr.Item) {
	t.rows.put(k, item)
	for _, x := range t.indexes {
		x.replace(t, old, item)
	}
}

func (x *index) replace(t *table, old, item attr.Item) {
	oldKey, oldEntry := x.entry(t, old)
	newKey, newEntry := x.entry(t, item)
	if oldEntry != nil && (newEntry == nil || oldKey != newKey) {
		x.rows.put(oldKey, nil)
	}
	if newEntry != nil {
		x.rows.put(newKey, newEntry)
	}
}
