package expr

// Names lists the top-level attributes that a condition reads, each as often as it is used.
func Names(cond Condition) []string {
	switch c := cond.(type) {
	case And:
		return append(Names(c.X), Names(c.Y)...)
	case Or:
		return append(Names(c.X), Names(c.Y)...)
	case Not:
		return Names(c.X)
	case Compare:
		return operandNames(c.X, c.Y)
	case Between:
		return operandNames(c.X, c.Lo, c.Hi)
	case In:
		return operandNames(append([]Operand{c.X}, c.List...)...)
	case Function:
		return operandNames(c.Args...)
	default:
		return nil
	}
}

func operandNames(operands ...Operand) []string {
	var names []string
	for _, o := range operands {
		switch o := o.(type) {
		case Path:
			names = append(names, o[0].Name)
		case Size:
			names = append(names, operandNames(o.Of)...)
		}
	}
	return names
}
