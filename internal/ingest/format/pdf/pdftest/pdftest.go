// Package pdftest generates PDF files for tests.
package pdftest

import (
	"bytes"
	"fmt"
	"strings"
)

// File generates a file from objects, the first of which is the root. In the
// trailer, XREF is replaced with the offset of the object table.
func File(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1,
		strings.ReplaceAll(trailer, "XREF", fmt.Sprint(at)), at)
	return b.Bytes()
}
