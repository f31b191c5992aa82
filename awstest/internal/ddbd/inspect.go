package ddbd

// Items is what a table holds, in the order of a scan and in Go's own types; nil for a table that does not exist. Nobody is
// billed for it.
func (s *Server) Items(table string) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[table]
	if t == nil {
		return nil
	}
	items := []map[string]any{}
	for row := range t.rows.from(rowKey{}) {
		items = append(items, row.item.Plain())
	}
	return items
}
