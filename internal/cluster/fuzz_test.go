package cluster

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzAnswers feeds bytes to all parsers of answers. They must not panic, and must only
// accept values that their callers can use.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `[]`, `{}`, `"x"`,
		nodesAnswer,
		`{"error": [{"message": "x"}]}`, `{"code": 401, "message": "x"}`,
		`{"data": {"Get": {"DocsearchPassages1": [{"passage": "p", "document": "d", "place": 1, "slot": 3, "line": "{\"text\": \"x\"}", "record": "AQI=", "_additional": {"id": "f65b848f-0000-5000-8000-000000000000"}}]}}}`,
		`[{"id": "f65b848f-0000-5000-8000-000000000000", "result": {"status": "SUCCESS"}}]`,
		`[{"id": "x", "result": {"status": "FAILED", "errors": {"error": [{"message": "x"}]}}}]`,
		`{"properties": {"name": "x", "commit": "{}"}}`,
		`{"results": {"matches": 3, "successful": 3}}`,
		`{"data": {"Get": {"DocsearchParts1": [{"data": "c3RhdGlzdGljcw=="}]}}}`,
		`{"classes": [{"class": "X"}]}`,
		`[{"name": "django-00-00"}]`,
	} {
		f.Add([]byte(seed))
	}
	state := &State{Commit: &Commit{Passages: Slots{Count: 2, End: 5, Dead: Set{3}}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		message(data)
		if found, _, err := decodeFound(data, state); err == nil {
			for _, p := range found {
				if p.Place < 0 {
					t.Errorf("passage %+v", p)
				}
			}
		}
		if decodeBatch(data, []string{"f65b848f-0000-5000-8000-000000000000"}) == nil && len(data) < 60 {
			t.Error("a batch without an answer for its object is stored")
		}
		decodeProperties[databaseObject](data)
		decodePart(data)
		checkDeletion(data)
		if nodes, err := decodeNodes(data); err == nil && len(nodes) == 0 {
			t.Error("no nodes")
		}
		if names, err := decodeTenants(data); err == nil {
			for _, n := range names {
				if !validTenant(n) {
					t.Errorf("tenant %q", n)
				}
			}
		}
		decodeSchema(data)
		if list, err := decodePulled(data); err == nil {
			for _, p := range list {
				if err := checkLine(p.Line); err != nil {
					t.Errorf("line %q: %v", p.Line, err)
				}
			}
		}
	})
}

// FuzzCommit checks that a commit that is accepted is consistent, and that encoding and
// decoding it changes nothing.
func FuzzCommit(f *testing.F) {
	digest := "0000000000000000000000000000000000000000000000000000000000000000"
	f.Add(`{"format": 1, "name": "x", "tenant": "x-1-2", "statistics": {"sha256": "` + digest + `", "size": 3}, "passages": {"count": 1, "end": 3, "dead": "AAI="}}`)
	f.Add(`{"format": 2}`)
	f.Add(`{"format": 1, "tenant": "../x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := decodeCommit(text)
		if err != nil {
			return
		}
		visible := 0
		for slot := range min(c.Passages.End, 1000) {
			if c.Passages.visible(slot) {
				visible++
			}
		}
		if c.Passages.End < 1000 && visible < c.Passages.Count {
			t.Errorf("%d visible slots for %d objects", visible, c.Passages.Count)
		}
		encoded, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeCommit(string(encoded))
		if err != nil || !reflect.DeepEqual(c.Passages, again.Passages) || c.Tenant != again.Tenant {
			t.Errorf("%s is decoded as %+v, %v", encoded, again, err)
		}
	})
}

// FuzzID checks that only canonical IDs are accepted.
func FuzzID(f *testing.F) {
	f.Add("f65b848f-0000-5000-8000-000000000000")
	f.Add("F65B848F-0000-5000-8000-00000000000g")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := parseID(text)
		if err == nil && len(id.String()) != len(text) {
			t.Errorf("%q is parsed as %s", text, id)
		}
	})
}
