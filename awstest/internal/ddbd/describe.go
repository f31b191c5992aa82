package ddbd

import (
	"maps"
	"slices"
	"time"
)

type throughputDescription struct {
	throughput
	NumberOfDecreasesToday int64
}

type indexDescription struct {
	IndexName             string
	IndexArn              string
	IndexStatus           string
	KeySchema             []keyElement
	Projection            projection
	ProvisionedThroughput throughputDescription
	IndexSizeBytes        int
	ItemCount             int
}

type billingSummary struct {
	BillingMode                       string
	LastUpdateToPayPerRequestDateTime float64
}

type tableDescription struct {
	TableName                 string
	TableArn, TableId         string
	TableStatus               string
	CreationDateTime          float64
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keyElement
	ProvisionedThroughput     throughputDescription
	BillingModeSummary        *billingSummary    `json:",omitempty"`
	GlobalSecondaryIndexes    []indexDescription `json:",omitempty"`
	TableSizeBytes            int
	ItemCount                 int
	DeletionProtectionEnabled bool
}

func (t *table) describe(status string) tableDescription {
	d := tableDescription{
		TableName: t.name, TableArn: t.arn, TableId: t.id, TableStatus: status,
		CreationDateTime:     seconds(t.created),
		AttributeDefinitions: slices.Clone(t.definitions), KeySchema: t.keys.elements(),
		ProvisionedThroughput: throughputDescription{throughput: t.throughput},
		TableSizeBytes:        t.rows.bytes, ItemCount: t.rows.count,
		DeletionProtectionEnabled: t.protected,
	}
	if t.onDemand {
		d.BillingModeSummary = &billingSummary{onDemand, seconds(t.created)}
	}
	indexStatus := "ACTIVE"
	if status == "CREATING" || status == "DELETING" {
		indexStatus = status
	}
	for _, x := range t.indexes {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, indexDescription{
			IndexName: x.name, IndexArn: t.arn + "/index/" + x.name, IndexStatus: indexStatus,
			KeySchema: x.keys.elements(), Projection: x.projection,
			ProvisionedThroughput: throughputDescription{throughput: x.throughput},
			IndexSizeBytes:        x.rows.bytes, ItemCount: x.rows.count,
		})
	}
	return d
}

// seconds is a timestamp in the protocol's form: epoch seconds with a fraction.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

type tableInput struct{ TableName string }

func (s *Server) describeTable(in *tableInput) (any, error) {
	t, err := s.namedTable(in.TableName)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Table": t.describe("ACTIVE")}, nil
}

func (s *Server) deleteTable(in *tableInput) (any, error) {
	t, err := s.namedTable(in.TableName)
	if err != nil {
		return nil, err
	}
	if t.protected {
		return nil, invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	delete(s.tables, t.name)
	return map[string]any{"TableDescription": t.describe("DELETING")}, nil
}

type listTablesInput struct {
	ExclusiveStartTableName string
	Limit                   *int
}

type listTablesOutput struct {
	TableNames             []string
	LastEvaluatedTableName string `json:",omitempty"`
}

const maxTablesListed = 100

func (s *Server) listTables(in *listTablesInput) (any, error) {
	limit := maxTablesListed
	if in.Limit != nil {
		limit = *in.Limit
	}
	if err := checkRange(limit, "limit", 1, maxTablesListed); err != nil {
		return nil, err
	}
	out := &listTablesOutput{TableNames: []string{}}
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		if name <= in.ExclusiveStartTableName {
			continue
		}
		if len(out.TableNames) == limit {
			out.LastEvaluatedTableName = out.TableNames[limit-1]
			break
		}
		out.TableNames = append(out.TableNames, name)
	}
	return out, nil
}
