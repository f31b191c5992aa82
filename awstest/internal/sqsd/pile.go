package sqsd

// pile is a heap of messages, for container/heap; a message lies in at most one.
type pile struct {
	list []*message
	less func(a, b *message) bool
}

func bySeq(a, b *message) bool { return a.seq < b.seq }

func byTime(a, b *message) bool {
	if !a.visible.Equal(b.visible) {
		return a.visible.Before(b.visible)
	}
	return bySeq(a, b)
}

func (p *pile) Len() int           { return len(p.list) }
func (p *pile) Less(i, j int) bool { return p.less(p.list[i], p.list[j]) }

func (p *pile) Swap(i, j int) {
	p.list[i], p.list[j] = p.list[j], p.list[i]
	p.list[i].index, p.list[j].index = i, j
}

// Push implements [container/heap.Interface].
func (p *pile) Push(x any) {
	m := x.(*message) //nolint:forcetypeassert // nothing else is ever pushed
	m.in, m.index = p, len(p.list)
	p.list = append(p.list, m)
}

// Pop implements [container/heap.Interface].
func (p *pile) Pop() any {
	last := len(p.list) - 1
	m := p.list[last]
	p.list[last] = nil
	p.list = p.list[:last]
	m.in = nil
	return m
}
