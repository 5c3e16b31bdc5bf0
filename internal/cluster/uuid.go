package cluster

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
)

// An objectID is the UUID of an object in the cluster.
type objectID [16]byte

// newID returns a UUID of version 5 (RFC 9562) for a name. The same name always gives the
// same ID, so that sending an object again replaces it.
func newID(name ...[]byte) objectID {
	h := sha1.New()
	h.Write(namespace[:])
	for _, part := range name {
		fmt.Fprintf(h, "%d:", len(part)) // so that other parts never give the same bytes
		h.Write(part)
	}
	var id objectID
	copy(id[:], h.Sum(nil))
	id[6] = id[6]&0x0f | 0x50
	id[8] = id[8]&0x3f | 0x80
	return id
}

// namespace is a random UUID of docsearch's own.
var namespace = objectID{0x8c, 0x1f, 0x3a, 0x6e, 0x52, 0xd4, 0x4b, 0x0a, 0x9e, 0x77, 0x21, 0xb8, 0x5d, 0xc0, 0x64, 0xf3}

// String returns the ID as 8-4-4-4-12 hexadecimal digits.
func (id objectID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// parseID parses a UUID as String writes it.
func parseID(text string) (id objectID, err error) {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return id, fmt.Errorf("invalid ID %q", text)
	}
	digits := text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
		return id, fmt.Errorf("invalid ID %q", text)
	}
	return id, nil
}
