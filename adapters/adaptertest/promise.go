package adaptertest

// A Promise is one thing that [consumer.Source] or an ability beside it promises.
type Promise struct {
	Name     string // short and stable: lists of known failures go by it
	Sentence string // what holds, for people

	check func(t *probe)
}

// Promises lists all of them, in the order in which they are checked. Which of them a source is asked for its abilities and
// the [Rig] decide.
func Promises() []Promise {
	var all []Promise
	for _, part := range [][]Promise{
		abilities(), // first: on real time the longest wait of all is among them
		contents(), sizes(), identity(), receiving(), hiding(), settling(), givingUp(), losing(), crashing(), closing(), stopping(),
		groups(), deadLetters(),
	} {
		all = append(all, part...)
	}
	return all
}
