package ddbd

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

type indexInput struct {
	IndexName             string
	KeySchema             []keyElement
	Projection            *projection
	ProvisionedThroughput *throughput
}

type createTableInput struct {
	TableName                 string
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keyElement
	BillingMode               string
	ProvisionedThroughput     *throughput
	GlobalSecondaryIndexes    []indexInput
	LocalSecondaryIndexes     json.RawMessage
	StreamSpecification       *struct{ StreamEnabled bool }
	DeletionProtectionEnabled bool
}

const maxIndexes = 20

func (s *Server) createTable(in *createTableInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if s.tables[in.TableName] != nil {
		return nil, refuse(codeInUse, "Table already exists: %s", in.TableName)
	}
	t := &table{
		name: in.TableName, id: newID(), arn: s.arn + in.TableName, created: time.Now(), definitions: in.AttributeDefinitions,
		onDemand: in.BillingMode == onDemand, protected: in.DeletionProtectionEnabled,
	}
	if in.ProvisionedThroughput != nil {
		t.throughput = *in.ProvisionedThroughput
	}
	var err error
	if t.keys, err = newKeySchema(in.KeySchema, in.AttributeDefinitions); err != nil {
		return nil, err
	}
	for i := range in.GlobalSecondaryIndexes {
		if err := t.addIndex(&in.GlobalSecondaryIndexes[i]); err != nil {
			return nil, err
		}
	}
	if err := t.checkDefinitionsUsed(); err != nil {
		return nil, err
	}
	s.tables[t.name] = t
	return map[string]any{"TableDescription": t.describe("CREATING")}, nil
}

func (in *createTableInput) check() error {
	if err := checkTableName(in.TableName); err != nil {
		return err
	}
	if err := checkDefinitions(in.AttributeDefinitions); err != nil {
		return err
	}
	if err := checkBilling(in.BillingMode, in.ProvisionedThroughput); err != nil {
		return err
	}
	switch {
	case in.LocalSecondaryIndexes != nil && string(in.LocalSecondaryIndexes) != "null":
		return unsupported("LocalSecondaryIndexes")
	case in.StreamSpecification != nil && in.StreamSpecification.StreamEnabled:
		return unsupported("StreamSpecification")
	case in.GlobalSecondaryIndexes != nil && len(in.GlobalSecondaryIndexes) == 0:
		return invalid("One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty")
	case len(in.GlobalSecondaryIndexes) > maxIndexes:
		return invalid("One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of %d", maxIndexes)
	}
	return nil
}

func checkBilling(mode string, units *throughput) error {
	if err := oneOf(mode, "billingMode", provisioned, onDemand); err != nil {
		return err
	}
	if mode == onDemand && units != nil {
		return invalid("One or more parameter values were invalid: " +
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	}
	if mode != onDemand && units == nil {
		return invalid("One or more parameter values were invalid: " +
			"ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	}
	return units.check("")
}

func (u *throughput) check(member string) error {
	if u == nil {
		return nil
	}
	for name, n := range map[string]int64{"readCapacityUnits": u.ReadCapacityUnits, "writeCapacityUnits": u.WriteCapacityUnits} {
		if n < 1 {
			return badValue(fmt.Sprintf("'%d'", n), member+"provisionedThroughput."+name, "Member must have value greater than or equal to 1")
		}
	}
	return nil
}

// addIndex validates an index and fills it from the table's items.
func (t *table) addIndex(in *indexInput) error {
	if len(in.IndexName) < 3 || len(in.IndexName) > 255 {
		return invalid("IndexName must be at least 3 characters long and at most 255 characters long")
	}
	if err := checkPattern(in.IndexName, "indexName"); err != nil {
		return err
	}
	if t.index(in.IndexName) != nil {
		return invalid("One or more parameter values were invalid: Duplicate index name: %s", in.IndexName)
	}
	keys, err := newKeySchema(in.KeySchema, t.definitions)
	if err != nil {
		return err
	}
	if err := in.Projection.check(); err != nil {
		return err
	}
	if err := in.checkThroughput(t.onDemand); err != nil {
		return err
	}
	x := &index{name: in.IndexName, keys: keys, projection: *in.Projection}
	if in.ProvisionedThroughput != nil {
		x.throughput = *in.ProvisionedThroughput
	}
	x.fill(t)
	t.indexes = append(t.indexes, x)
	return nil
}

func (in *indexInput) checkThroughput(onDemand bool) error {
	switch {
	case onDemand && in.ProvisionedThroughput != nil:
		return invalid("One or more parameter values were invalid: ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST", in.IndexName)
	case !onDemand && in.ProvisionedThroughput == nil:
		return invalid("One or more parameter values were invalid: ProvisionedThroughput must be specified for index: %s", in.IndexName)
	}
	return in.ProvisionedThroughput.check("globalSecondaryIndexes.member.")
}

// checkDefinitionsUsed refuses definitions that are no key of anything: the mistake of
// listing every attribute.
func (t *table) checkDefinitionsUsed() error {
	unused := slices.ContainsFunc(t.definitions, func(d attributeDefinition) bool {
		inIndex := slices.ContainsFunc(t.indexes, func(x *index) bool { return x.keys.has(d.AttributeName) })
		return !t.keys.has(d.AttributeName) && !inIndex
	})
	switch {
	case unused && len(t.indexes) == 0:
		return invalid("One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
	case unused:
		return invalid("One or more parameter values were invalid: Some AttributeDefinitions are not used. AttributeDefinitions: %s, keys used: %s",
			definitionNames(t.definitions), keyNames(t.usedKeys()))
	}
	return nil
}

func (t *table) usedKeys() []keyElement {
	used := t.keys.elements()
	for _, x := range t.indexes {
		used = append(used, x.keys.elements()...)
	}
	return used
}

// newID makes a random UUID, the form of a TableId.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
