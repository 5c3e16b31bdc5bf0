package man

import (
	"bytes"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/md"
	"github.com/docsearch/docsearch/internal/ingest/md/mdtest"
)

func TestGolden(t *testing.T) {
	mdtest.Golden(t, "testdata/*.[1-8]", func(_ string, data []byte) (md.Document, error) { return Parse(data) })
}

func TestEdition(t *testing.T) {
	for _, test := range []struct{ header, want string }{
		{`.TH A 1 "2025-01-01" "perl v5.36.0" "Perl Programmers Reference Guide"`, "perl v5.36.0"},
		{`.TH "GIT\-SHOW" "1" "01/01/2025" "Git 2\&.39\&.5" "Git Manual"`, "Git 2.39.5"},
		{`.TH A 3SSL "2025-01-01" "3.0.17" "OpenSSL"`, "3.0.17 OpenSSL"},
		{`.TH A 1 "2025-01-01" "GNU" "Manual 2"`, ""},
		{`.TH A 1 "2025-01-01" " " "9"`, ""},
		{".TH A 1", ""},
	} {
		doc, err := Parse([]byte(test.header + "\n.SH NAME\na \\- b\n"))
		if err != nil || doc.Edition != test.want {
			t.Errorf("%s: edition %q, %v; want %q", test.header, doc.Edition, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		".TH A 1\n.SH NAME\na \\- b\n.TP\n.B \\-c\nd\n.RS\n.IP \\(bu 2\ne\n.RE\n.nf\nf\n.fi\n",
		".Dd x\n.Dt A 1\n.Sh NAME\n.Nm a\n.Nd b\n.Bl -tag\n.It Fl c Ar d Xo\n.Op e\n.Xc\nf\n.El\n",
		".TH A 1\n.TS\ntab(@);\nl l.\na@b\nT{\nc\nT}@d\n.TE\n.ie n \\{\\\nx\\}\n.el y\n.de Z\n..\n",
		".TH A 1\n.ds x y\n\\*x \\fB\\(em\\fR \\s+1\\h'1' \\[u00e9] \\N'65' \\:\\c\n.so b\n",
		".TH A 1\n.SH A\n.de A\n.A\n.A\n..\n.A\n.ds b \\*b\\*b\n\\*b\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		doc, err := Parse(in)
		if err == nil {
			mdtest.Check(t, doc, len(in), bytes.Count(in, []byte("\n"))+1)
		}
	})
}
