package fingerprint

// Canonical shows tests the text that is hashed.
func (d *Digester) Canonical(body []byte) ([]byte, error) { return d.own.content(body) }
