package ddbd

import "github.com/claimonce/claimonce/awstest/internal/ddbd/attr"

const (
	maxHashKey = 2048
	maxSortKey = 1024
)

// checkKey validates a Key parameter: the key's attributes and nothing else.
func (t *table) checkKey(key attr.Item) error {
	return t.keys.check(key)
}

func (k keySchema) check(key attr.Item) error {
	attrs := k.attrs()
	if len(key) != len(attrs) {
		return invalid("The provided key element does not match the schema")
	}
	for i, a := range attrs {
		v := key[a.name]
		if v.Kind != a.kind {
			return invalid("The provided key element does not match the schema")
		}
		if emptyKey(v) {
			return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", kindWord(v.Kind), a.name)
		}
		if err := checkKeySize(v, i == 0); err != nil {
			return err
		}
	}
	return nil
}

func emptyKey(v attr.Value) bool { return v.Kind != attr.KindN && v.Str == "" }

func kindWord(k attr.Kind) string {
	if k == attr.KindB {
		return "binary"
	}
	return "string"
}

func checkKeySize(v attr.Value, hash bool) error {
	switch {
	case v.Kind == attr.KindN:
		return nil
	case hash && len(v.Str) > maxHashKey:
		// The service's message lacks the blank too.
		return invalid("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKey)
	case !hash && len(v.Str) > maxSortKey:
		return invalid("One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of %d bytes", maxSortKey)
	}
	return nil
}

// checkItem validates an item about to be put: the table's keys and those of its indexes.
func (t *table) checkItem(item attr.Item) error {
	for i, a := range t.keys.attrs() {
		v, ok := item[a.name]
		switch {
		case !ok:
			return invalid("One or more parameter values were invalid: Missing the key %s in the item", a.name)
		case v.Kind != a.kind:
			return invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s", a.name, a.kind, v.Kind)
		case emptyKey(v):
			return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", kindWord(v.Kind), a.name)
		}
		if err := checkKeySize(v, i == 0); err != nil {
			return err
		}
	}
	return t.checkIndexKeys(nil, item)
}

// checkIndexKeys refuses values that an index could not hold. An absent attribute is
// fine: the item then stays out of the index. So is one as old has it, stored before the
// index was created.
func (t *table) checkIndexKeys(old, item attr.Item) error {
	for _, x := range t.indexes {
		for i, a := range x.keys.attrs() {
			v, ok := item[a.name]
			switch {
			case !ok || v.Equal(old[a.name]):
				continue
			case v.Kind != a.kind:
				return invalid("One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", a.name, a.kind, v.Kind, x.name)
			case emptyKey(v):
				return invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "+
					"The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s", kindWord(v.Kind), x.name, a.name)
			}
			if err := checkKeySize(v, i == 0); err != nil {
				return err
			}
		}
	}
	return nil
}
