package attr

// MaxItemSize is the largest item in bytes, names included.
const MaxItemSize = 400 << 10

// MaxDepth is how many levels of lists and maps an attribute may nest.
const MaxDepth = 32

// Sizes follow
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const (
	containerOverhead = 3
	elementOverhead   = 1
)

// Size is the number of bytes the value is billed for.
func (v Value) Size() int {
	size := 0
	switch v.Kind {
	case KindN:
		return v.Num.size()
	case KindBOOL, KindNULL:
		return 1
	case KindSS, KindBS:
		for _, s := range v.Strs {
			size += len(s)
		}
	case KindNS:
		for _, n := range v.Nums {
			size += n.size()
		}
	case KindL:
		size = containerOverhead
		for _, e := range v.List {
			size += elementOverhead + e.Size()
		}
	case KindM:
		size = containerOverhead + elementOverhead*len(v.Map) + v.Map.Size()
	default:
		size = len(v.Str)
	}
	return size
}

// Size is the number of bytes the item is billed for: names and values.
func (i Item) Size() int {
	size := 0
	for name, v := range i {
		size += len(name) + v.Size()
	}
	return size
}

// Length is the size function of expressions: characters' bytes, elements or entries.
// ok is false where the function does not apply.
func (v Value) Length() (n int, ok bool) {
	switch v.Kind {
	case KindS, KindB:
		return len(v.Str), true
	case KindSS, KindBS:
		return len(v.Strs), true
	case KindNS:
		return len(v.Nums), true
	case KindL:
		return len(v.List), true
	case KindM:
		return len(v.Map), true
	default:
		return 0, false
	}
}

func (v Value) depth() int {
	deepest := 0
	switch v.Kind {
	case KindL:
		for _, e := range v.List {
			deepest = max(deepest, e.depth())
		}
	case KindM:
		for _, e := range v.Map {
			deepest = max(deepest, e.depth())
		}
	default:
		return 0
	}
	return deepest + 1
}

func tooDeep() error {
	return errorf("Nesting Levels have exceeded supported limits: attributes can be nested up to %d levels", MaxDepth)
}

// CheckDepth rejects an item that nests lists and maps too deeply.
func (i Item) CheckDepth() error {
	for _, v := range i {
		if v.depth() > MaxDepth {
			return tooDeep()
		}
	}
	return nil
}
