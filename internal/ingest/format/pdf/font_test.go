package pdf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
	"github.com/docsearch/docsearch/internal/ingest/format/pdf/pdftest"
)

// fontFile returns a PDF file with a page that has a font with these entries.
func fontFile(font, stream, content string) []byte {
	object := func(s string) string { return fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(s), s) }
	return pdftest.File("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /CMR10 "+font+" >> >> >> >>",
		object("BT /F1 10 Tf 72 700 Td "+content+" ET"), object(stream))
}

func TestFonts(t *testing.T) {
	const table = "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange\n" +
		"2 beginbfchar <01> <00660069> <02>\n<006C> endbfchar 2 beginbfrange <03> <04> <0065> <05> <06> [<006E> <0061>] endbfrange endcmap"
	for name, tt := range map[string]struct{ font, stream, content, want string }{
		"table for Unicode": {"/ToUnicode 5 0 R /Encoding << /Differences [1 /A /B /C /D /E /F] >>", table, "(\\001\\002\\003 \\005\\006\\004) Tj", "file naf"},
		"encoding in the font": {"/FontDescriptor << /FontFile 5 0 R >>", "/Encoding 256 array\ndup 12 /fi put\ndup 34 /quotedblright put\ndup 14/f_f_i put\ncurrentfile eexec dup 97 /b put",
			"(\\014le\" o\\016ce a) Tj", "file” office a"},
		"narrow spaces": {"", "", "[(should) -160 (con) 20 (tact) -30 (s)] TJ", "should contacts"},
		"variants":      {"/FontDescriptor << /FontFile 5 0 R >>", "dup 1 /a.sc put dup 2 /uni00E9 put dup 300 /b put dup 3 /nothing put", "(\\001\\002) Tj", "aé"},
	} {
		// All characters of the font are half as wide as the type.
		doc, left, err := Parse(fontFile(tt.font, tt.stream, tt.content))
		if got := mdtest.Describe(doc); err != nil || len(left) > 0 || !strings.HasSuffix(got, "   0  "+tt.want+"\n") {
			t.Errorf("%s: %v %v\n%s", name, err, left, got)
		}
	}
}
