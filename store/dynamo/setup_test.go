package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// table describes a table to be made for a test: parts of its definition, wrong or right.
type table struct {
	key        string // its partition key; its type is S
	index      string // the attention index's keys, as "name type name type"; "": no index
	projection types.ProjectionType
	ttl        string // attribute; "": off
}

func (d table) make(t *testing.T, client *dynamodb.Client, name string) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &d.key, AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &d.key, KeyType: types.KeyTypeHash}},
	}
	if d.index != "" {
		f := strings.Fields(d.index)
		for i := 0; i < len(f); i += 2 {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &f[i], AttributeType: types.ScalarAttributeType(f[i+1])})
		}
		x := types.GlobalSecondaryIndex{
			IndexName: aws.String(dynamo.AttentionIndex), Projection: &types.Projection{ProjectionType: d.projection},
			KeySchema: []types.KeySchemaElement{{AttributeName: &f[0], KeyType: types.KeyTypeHash}},
		}
		if len(f) > 2 {
			x.KeySchema = append(x.KeySchema, types.KeySchemaElement{AttributeName: &f[2], KeyType: types.KeyTypeRange})
		}
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{x}
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if d.ttl == "" {
		return
	}
	if _, err := client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: &name, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &d.ttl, Enabled: aws.Bool(true)},
	}); err != nil {
		t.Fatal(err)
	}
}

const goodIndex = "attention_shard S attention_at N"

func TestEverythingThatIsWrongWithATableIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	good := table{key: "id", index: goodIndex, projection: types.ProjectionTypeKeysOnly, ttl: "expires_at"}
	for name, c := range map[string]struct {
		change func(*table)
		want   []string
	}{
		"nothing": {func(*table) {}, nil},
		"its key": {func(d *table) { d.key = "pk" }, []string{"its key is pk (S, HASH), not id (S, HASH)"}},
		"no index": {func(d *table) { d.index = "" }, []string{
			"it has no index attention", "attention_shard (S, HASH) and attention_at (N, RANGE)",
		}},
		"index without sort key": {func(d *table) { d.index = "attention_shard S" }, []string{"the keys of its index attention are attention_shard (S, HASH), not"}},
		"index of another type":  {func(d *table) { d.index = "attention_shard N attention_at N" }, []string{"attention_shard (N, HASH)"}},
		"projection":             {func(d *table) { d.projection = types.ProjectionTypeAll }, []string{"is ALL, not KEYS_ONLY"}},
		"TTL off":                {func(d *table) { d.ttl = "" }, []string{"its TTL is off"}},
		"TTL elsewhere":          {func(d *table) { d.ttl = "ttl" }, []string{"its TTL is on the attribute ttl, not expires_at"}},
		"all of it": {func(d *table) { *d = table{key: "pk", index: "x S", projection: types.ProjectionTypeAll} }, []string{
			"its key is", "the keys of its index", "is ALL", "its TTL is off",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := clientOf(awstest.New(awstest.Config{}))
			d := good
			c.change(&d)
			d.make(t, client, "records")
			s, err := dynamo.New(client, "records", dynamo.Config{})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Check(t.Context())
			if (err != nil) != (len(c.want) > 0) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %v\nwant it to say %q", err, part)
				}
			}
		})
	}
}

func TestSetupFinishesWhatIsMissingAndChangesNothing(t *testing.T) {
	t.Parallel()
	good := table{key: "id", index: goodIndex, projection: types.ProjectionTypeKeysOnly, ttl: "expires_at"}
	for name, c := range map[string]struct {
		there    *table
		created  bool
		added    []string
		problems int
	}{
		"no table":          {nil, true, nil, 0},
		"all there":         {&good, false, nil, 0},
		"interrupted":       {&table{key: "id", index: goodIndex, projection: types.ProjectionTypeKeysOnly}, false, []string{"TTL on expires_at"}, 0},
		"no index":          {&table{key: "id", ttl: "expires_at"}, false, []string{"index attention"}, 0},
		"somebody else's":   {&table{key: "pk"}, false, nil, 2},
		"another index":     {&table{key: "id", index: "x S", projection: types.ProjectionTypeAll, ttl: "expires_at"}, false, nil, 2},
		"TTL of somebody":   {&table{key: "id", index: goodIndex, projection: types.ProjectionTypeKeysOnly, ttl: "ttl"}, false, nil, 1},
		"neither index nor": {&table{key: "id"}, false, []string{"index attention", "TTL on expires_at"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := clientOf(awstest.New(awstest.Config{}))
				if c.there != nil {
					c.there.make(t, client, "records")
				}
				rep, err := dynamo.Setup(t.Context(), client, "records")
				if err != nil {
					t.Fatal(err)
				}
				if rep.Created != c.created || !slices.Equal(rep.Added, c.added) || len(rep.Problems) != c.problems || len(rep.Warnings) > 0 {
					t.Errorf("got %+v, want created %v, added %q, %d problems", rep, c.created, c.added, c.problems)
				}
				again, err := dynamo.Setup(t.Context(), client, "records")
				if err != nil || again.Created || len(again.Added) > 0 || len(again.Problems) != c.problems {
					t.Errorf("again: got %+v, %v, want nothing new", again, err)
				}
			})
		})
	}
}

// Some local servers know no TTL at all, or only the question after it.
func TestMissingTTLIsAWarning(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"DescribeTimeToLive", "UpdateTimeToLive"} {
		server := awstest.New(awstest.Config{})
		server.Inject(awstest.FailBefore(operation, 400, "UnknownOperationException"))
		rep, err := dynamo.Setup(t.Context(), clientOf(server), "records")
		if err != nil || len(rep.Problems) > 0 || len(rep.Warnings) != 1 {
			t.Errorf("without %s: got %+v, %v, want a warning", operation, rep, err)
		}
	}
}

func TestSetupEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := awstest.New(awstest.Config{})
		server.Inject(awstest.FailBefore("DescribeTable", 400, "ResourceNotFoundException")) // never visible
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := dynamo.Setup(ctx, clientOf(server), "records"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}

func TestBadSettingsAreRefusedTogether(t *testing.T) {
	t.Parallel()
	_, err := dynamo.New(nil, "", dynamo.Config{MaxAttempts: -1, CallTimeout: -1})
	for _, part := range []string{"client is nil", "no name", "MaxAttempts is -1", "CallTimeout is -1ns"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want it to say %q", err, part)
		}
	}
}

func TestDDB22_MissingTableMidRunIsSaidAndOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l, key, ran := newLedger(t, r.store, dedupe.Config{}), keyOf(t), 0
		attempt := func() error {
			_, err := dedupe.Do(t.Context(), l, key, 1, func(context.Context, *dedupe.Operation) (int, error) {
				ran++
				return 1, nil
			})
			return err
		}
		for code, says := range map[string]string{
			"ResourceNotFoundException": "there is no such table", "AccessDeniedException": "lack a permission",
			"UnrecognizedClientException": "credentials are not accepted", "InternalServerError": "InternalServerError",
		} {
			remove := r.server.Inject(awstest.FailBefore("", 400, code))
			err := attempt()
			for _, part := range []string{says, r.table, "eu-central-1"} {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%s: got %v, want it to say %q", code, err, part)
				}
			}
			if errors.Is(err, dedupe.ErrConflict) || ran > 0 {
				t.Errorf("%s: taken for a conflict, or run: %v, %d runs", code, err, ran)
			}
			if strings.Contains(fmt.Sprint(err), key.ID) {
				t.Errorf("%s: the error shows the key: %v", code, err)
			}
			remove()
		}
		if err := attempt(); err != nil || ran != 1 {
			t.Errorf("after the fault: %v, %d runs, want one", err, ran)
		}
	})
}
