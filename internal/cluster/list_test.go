package cluster

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A node that returns the same full page again and again ends neither a list nor a pull.
func TestEndlessLists(t *testing.T) {
	page := func(n int) http.HandlerFunc {
		var objects []string
		for i := range n {
			objects = append(objects, fmt.Sprintf(`{"document": "d", "slot": 0, "line": "{\"id\": \"p\", \"text\": \"x\"}", "_additional": {"id": "f65b848f-0000-5000-8000-%012x"}}`, i))
		}
		answer := `{"data": {"Get": {"` + classPassages + `": [` + strings.Join(objects, ",") + `]}}}`
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answer) }
	}
	for name, test := range map[string]struct {
		objects int
		read    func(*Client) error
		want    string
	}{
		"list": {listPage, func(c *Client) error {
			_, err := c.list(t.Context(), classPassages, "t")
			return err
		}, "the list does not end"},
		"pull": {pullPage, func(c *Client) error {
			_, err := c.download(t.Context(), &Commit{Tenant: "t", Passages: Slots{Count: pullPage, End: 1}}, io.Discard, nil)
			return err
		}, "more passages than the database has"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := NewClient(Options{URLs: []string{serve(t, page(test.objects))}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := test.read(c); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
