package hostile

import (
	"archive/tar"
	"bytes"
	"testing"
)

// tarOf returns a tar archive with a page per subject.
func tarOf(t *testing.T, subjects []string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, s := range subjects {
		text := page(s)
		if err := w.WriteHeader(&tar.Header{Name: "docs/" + s + ".md", Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
