package passage

import "testing"

func TestEdition(t *testing.T) {
	p := Passage{ID: "a", Text: "b"}
	p.SetEdition("CMake 3.25.1")
	for _, test := range []struct{ line, want string }{
		{string(p.AppendLine(nil)), "CMake 3.25.1"},
		{`{"id":"a","text":"b","metadata":{}}`, ""},
		{`{"id":"a","text":"b","metadata":{"edition":["CMake 3.25.1"]}}`, ""},
	} {
		q, err := Decode([]byte(test.line))
		if err != nil || q.Edition() != test.want {
			t.Errorf("%s: %q, %v; want %q", test.line, q.Edition(), err, test.want)
		}
	}
}
