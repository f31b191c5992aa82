package ddbd

import (
	"encoding/json"
	"slices"
)

type updateTableInput struct {
	TableName                   string
	AttributeDefinitions        []attributeDefinition
	BillingMode                 string
	ProvisionedThroughput       *throughput
	GlobalSecondaryIndexUpdates []indexUpdate
	DeletionProtectionEnabled   *bool
	StreamSpecification         json.RawMessage
	ReplicaUpdates              json.RawMessage
}

type indexUpdate struct {
	Create *indexInput
	Delete *struct{ IndexName string }
	Update *struct {
		IndexName             string
		ProvisionedThroughput *throughput
	}
}

func (s *Server) updateTable(in *updateTableInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	t, err := s.namedTable(in.TableName)
	if err != nil {
		return nil, err
	}
	// A copy takes the changes, so that a refused one leaves no half of them.
	changed := *t
	changed.indexes = slices.Clone(t.indexes)
	if in.AttributeDefinitions != nil {
		changed.definitions = mergeDefinitions(t, in.AttributeDefinitions)
	}
	if in.DeletionProtectionEnabled != nil {
		changed.protected = *in.DeletionProtectionEnabled
	}
	if in.BillingMode != "" {
		changed.onDemand = in.BillingMode == onDemand
		changed.throughput = throughput{}
	}
	if in.ProvisionedThroughput != nil {
		changed.throughput = *in.ProvisionedThroughput
	}
	for i := range in.GlobalSecondaryIndexUpdates {
		if err := changed.updateIndex(&in.GlobalSecondaryIndexUpdates[i]); err != nil {
			return nil, err
		}
	}
	changed.dropUnusedDefinitions()
	*t = changed
	return map[string]any{"TableDescription": t.describe("UPDATING")}, nil
}

func (in *updateTableInput) check() error {
	nothing := in.BillingMode == "" && in.ProvisionedThroughput == nil && in.GlobalSecondaryIndexUpdates == nil && in.DeletionProtectionEnabled == nil
	switch {
	case in.StreamSpecification != nil || in.ReplicaUpdates != nil:
		return unsupported("UpdateTable with StreamSpecification or ReplicaUpdates")
	case nothing:
		return invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required")
	case in.BillingMode == provisioned && in.ProvisionedThroughput == nil:
		return invalid("One or more parameter values were invalid: ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	}
	if in.BillingMode != "" {
		if err := checkBilling(in.BillingMode, in.ProvisionedThroughput); err != nil {
			return err
		}
	}
	if err := in.ProvisionedThroughput.check(""); err != nil {
		return err
	}
	if err := checkDefinitions(in.AttributeDefinitions); err != nil {
		return err
	}
	builds := 0
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if u.Create != nil || u.Delete != nil {
			builds++
		}
	}
	if builds > 1 {
		return refuse(codeLimit, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
	}
	return nil
}

func (t *table) updateIndex(u *indexUpdate) error {
	switch {
	case u.Create != nil && len(t.indexes) == maxIndexes:
		return invalid("One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of %d", maxIndexes)
	case u.Create != nil && t.index(u.Create.IndexName) != nil:
		return invalid("Attempting to create an index which already exists")
	case u.Create != nil:
		return t.addIndex(u.Create)
	case u.Delete != nil:
		if t.index(u.Delete.IndexName) == nil {
			return refuse(codeNotFound, "Requested resource not found: Index: %s not found", u.Delete.IndexName)
		}
		t.indexes = slices.DeleteFunc(t.indexes, func(x *index) bool { return x.name == u.Delete.IndexName })
		return nil
	case u.Update != nil:
		x := t.index(u.Update.IndexName)
		if x == nil {
			return refuse(codeNotFound, "Requested resource not found: Index: %s not found", u.Update.IndexName)
		}
		if u.Update.ProvisionedThroughput == nil {
			return missingMember("globalSecondaryIndexUpdates.1.member.update.provisionedThroughput")
		}
		x.throughput = *u.Update.ProvisionedThroughput
		return nil
	default:
		return invalid("One or more parameter values were invalid: One of GlobalSecondaryIndexUpdate.Update, " +
			"GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null")
	}
}

// mergeDefinitions keeps the definitions that existing keys need; the request's come first.
func mergeDefinitions(t *table, given []attributeDefinition) []attributeDefinition {
	merged := slices.Clone(given)
	for _, d := range t.definitions {
		if !slices.ContainsFunc(given, func(g attributeDefinition) bool { return g.AttributeName == d.AttributeName }) {
			merged = append(merged, d)
		}
	}
	return merged
}

func (t *table) dropUnusedDefinitions() {
	used := t.usedKeys()
	t.definitions = slices.DeleteFunc(slices.Clone(t.definitions), func(d attributeDefinition) bool {
		return !slices.ContainsFunc(used, func(e keyElement) bool { return e.AttributeName == d.AttributeName })
	})
}
