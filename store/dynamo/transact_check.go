package dynamo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

// checkWith refuses what DynamoDB would refuse with a text that does not help, and what must not be written beside a record.
func (s *Store) checkWith(with []types.TransactWriteItem, own ...item) error {
	if len(with) > MaxWith {
		return fmt.Errorf("%w: %d writes beside the record, at most %d are possible in one transaction: "+
			"write what need not be in it before or after", dedupe.ErrSetup, len(with), MaxWith)
	}
	for i, w := range with {
		if err := s.checkWrite(w, own); err != nil {
			return fmt.Errorf("%w: write %d beside the record: %w", dedupe.ErrSetup, i, err)
		}
	}
	return nil
}

func (s *Store) checkWrite(w types.TransactWriteItem, own []item) error {
	table, n := target(w)
	switch {
	case n != 1:
		return fmt.Errorf("it has %d of Put, Update, Delete and ConditionCheck, it needs exactly one", n)
	case table == "":
		return errors.New("it names no table")
	case !s.isOwn(table):
		return nil
	case w.ConditionCheck == nil:
		// Whatever is written here is taken for a record, or replaces one.
		return fmt.Errorf("it writes to %s, which holds the records and nothing else: use a table of your own", table)
	}
	// DynamoDB refuses two operations on one item.
	id, _ := textOf(w.ConditionCheck.Key[attrID])
	for _, it := range own {
		if owned, ok := textOf(it[attrID]); ok && owned == id {
			return errors.New("it checks the very record that is written, whose condition is the store's: leave it out")
		}
	}
	return nil
}

// target is the table of a write, and how many operations it has.
func target(w types.TransactWriteItem) (table string, n int) {
	add := func(name *string) { table, n = aws.ToString(name), n+1 }
	if w.Put != nil {
		add(w.Put.TableName)
	}
	if w.Update != nil {
		add(w.Update.TableName)
	}
	if w.Delete != nil {
		add(w.Delete.TableName)
	}
	if w.ConditionCheck != nil {
		add(w.ConditionCheck.TableName)
	}
	return table, n
}

// isOwn compares by the last part, since a table may be named by its ARN. Of a table of the same name in another account it
// cannot be told apart, and it is refused too.
func (s *Store) isOwn(table string) bool { return lastPart(table) == lastPart(s.table) }

func lastPart(table string) string {
	if !strings.HasPrefix(table, "arn:") {
		return table
	}
	return table[strings.LastIndexByte(table, '/')+1:]
}
