// Package attr holds DynamoDB attribute values: their JSON form, exact decimal
// numbers, sizes, comparison and the encoding of keys. Values and items are
// immutable once built; whoever changes one clones it first, so readers need no lock.
package attr
