package ddbd

// bills are those of one request over several tables, in order of first use.
type bills []*bill

func (b *bills) of(t *table) *bill {
	for _, one := range *b {
		if one.table == t {
			return one
		}
	}
	one := newBill(t)
	*b = append(*b, one)
	return one
}

func (b bills) scale(factor float64) {
	for _, one := range b {
		one.scale(factor)
	}
}

func (b bills) charge() {
	for _, one := range b {
		one.charge()
	}
}

func (b bills) report(mode string, transaction bool) []*consumedCapacity {
	var out []*consumedCapacity
	for _, one := range b {
		if c := one.report(mode, transaction); c != nil {
			out = append(out, c)
		}
	}
	return out
}
