package ddbd

type receipt struct{}
