package ddbd

import (
	"regexp"
	"slices"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

type attributeDefinition struct {
	AttributeName, AttributeType string
}

type keyElement struct {
	AttributeName, KeyType string
}

type throughput struct {
	ReadCapacityUnits, WriteCapacityUnits int64
}

type projection struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

const (
	projectAll  = "ALL"
	projectKeys = "KEYS_ONLY"
	projectSome = "INCLUDE"
)

const (
	onDemand    = "PAY_PER_REQUEST"
	provisioned = "PROVISIONED"
)

func checkTableName(name string) error {
	switch {
	case name == "":
		return missingMember("tableName")
	case len(name) < 3 || len(name) > 255:
		return invalid("TableName must be at least 3 characters long and at most 255 characters long")
	}
	return checkPattern(name, "tableName")
}

func checkPattern(name, member string) error {
	const pattern = `[a-zA-Z0-9_.-]+`
	if !regexp.MustCompile("^" + pattern + "$").MatchString(name) {
		return badValue("'"+name+"'", member, "Member must satisfy regular expression pattern: "+pattern)
	}
	return nil
}

func checkDefinitions(definitions []attributeDefinition) error {
	for i, d := range definitions {
		if d.AttributeName == "" {
			return missingMember("attributeDefinitions.member.attributeName")
		}
		if !slices.Contains([]string{"S", "N", "B"}, d.AttributeType) {
			return badValue("'"+d.AttributeType+"'", "attributeDefinitions.1.member.attributeType", "Member must satisfy enum value set: [B, N, S]")
		}
		if slices.ContainsFunc(definitions[:i], func(o attributeDefinition) bool { return o.AttributeName == d.AttributeName }) {
			return invalid("One or more parameter values were invalid: Duplicate AttributeName in AttributeDefinitions: %s", d.AttributeName)
		}
	}
	return nil
}

// newKeySchema validates a KeySchema against the definitions.
func newKeySchema(elements []keyElement, definitions []attributeDefinition) (keySchema, error) {
	var k keySchema
	switch {
	case len(elements) == 0:
		return k, missingMember("keySchema")
	case len(elements) > 2:
		return k, badValue("'"+keyNames(elements)+"'", "keySchema", "Member must have length less than or equal to 2")
	case elements[0].KeyType != "HASH":
		return k, invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	case len(elements) == 2 && elements[1].KeyType != "RANGE":
		return k, invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	case len(elements) == 2 && elements[0].AttributeName == elements[1].AttributeName:
		return k, invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	for i, target := range []*keyAttr{&k.hash, &k.sort}[:len(elements)] {
		d := slices.IndexFunc(definitions, func(d attributeDefinition) bool { return d.AttributeName == elements[i].AttributeName })
		if d < 0 {
			return k, invalid("One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. "+
				"Keys: %s, AttributeDefinitions: %s", keyNames(elements), definitionNames(definitions))
		}
		*target = keyAttr{elements[i].AttributeName, attr.KindOf(definitions[d].AttributeType)}
	}
	return k, nil
}

func keyNames(elements []keyElement) string {
	names := make([]string, len(elements))
	for i, e := range elements {
		names[i] = e.AttributeName
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func definitionNames(definitions []attributeDefinition) string {
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.AttributeName
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func (k keySchema) elements() []keyElement {
	out := []keyElement{{k.hash.name, "HASH"}}
	if k.sort.name != "" {
		out = append(out, keyElement{k.sort.name, "RANGE"})
	}
	return out
}

func (p *projection) check() error {
	if p == nil || p.ProjectionType == "" {
		return invalid("One or more parameter values were invalid: Unknown ProjectionType: null")
	}
	if err := oneOf(p.ProjectionType, "projection.projectionType", projectAll, projectSome, projectKeys); err != nil {
		return err
	}
	if p.ProjectionType == projectSome && len(p.NonKeyAttributes) == 0 {
		return invalid("One or more parameter values were invalid: ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	}
	if p.ProjectionType != projectSome && p.NonKeyAttributes != nil {
		return invalid("One or more parameter values were invalid: ProjectionType is %s, but NonKeyAttributes is specified", p.ProjectionType)
	}
	return nil
}
