package pod

import (
	"bytes"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"=head1 NAME\n\nKettle - boils\n\n=head2 B<-q> X<quiet>I<file>":                                          "title: Kettle\n\n=== 1 # NAME {#NAME +0}\n   3  Kettle - boils\n\n=== 5 ## -q file {#-q-file +0}\nterms: quiet\n",
		"a C<x> C<< y > z >> C<I<b>> F<f> B<I<both>>S< c>Z<>":                                                    "a `x` `y > z` `b` f both c",
		"E<lt>E<eacute>E<0x41>E<66>E<sol> L<perl> L<text|perl/x> L<perl/\"A b\"> L</here> L<https://a.example/>": "<éAB/ perl text \"A b\" in perl \"here\" https://a.example/",
		"one\n\n  code\n\n    more\n\ntwo":                                                                       "one\n\n```\ncode\n\n  more\n```\n\ntwo",
		"=over 4\n\n=item *\n\none\n\n=item * two\n\nmore\n\n=back\n\nafter":                                     "- one\n\n- two\n\n  more\n\nafter",
		"=over\n\n=item 1.\n\na\n\n=item 2. b\n\n=back":                                                          "1. a\n\n1. b",
		"=over\n\n=item C<-a>\n\n=item C<-b>\n\ntext\n\n  code\n\n=over\n\n=item x\n\ny\n\n=back\n\n=back":       "terms: -a, -b, x\n- `-a`\n- `-b`\n  text\n\n  ```\n  code\n  ```\n\n  - x\n    y",
		"=begin html\n\n<b>\n\n=end html\n\n=for html <i>\n\n=begin :text\n\nkept\n\n=end :text":                 "kept",
		"C<open\n\nnext": "`open`\n\nnext",
	} {
		doc, err := Parse([]byte(in), false)
		got := mdtest.Describe(doc)
		if !strings.HasPrefix(in, "=head") {
			var lines []string
			for _, line := range strings.Split(strings.TrimSpace(got), "\n")[3:] {
				if !strings.HasPrefix(line, "terms") && len(line) > 6 {
					line = line[6:]
				} else if !strings.HasPrefix(line, "terms") {
					line = ""
				}
				lines = append(lines, line)
			}
			got = strings.Join(lines, "\n")
		}
		if err != nil || got != want {
			t.Errorf("%q: %v\n%s\nwant\n%s", in, err, got, want)
		}
	}
}

func TestProgram(t *testing.T) {
	text := "package Kettle;\n\n=head1 NAME\n\nKettle - boils\n\n=cut\n\nsub boil {\n  1\n}\n\n=head2 boil\n\nBoils.\n\n=cut\n\n1;\n"
	if !IsMain([]byte(text)) || IsMain([]byte("package A;\n1;\n")) || IsMain([]byte(strings.Repeat("1;\n", 50)+text)) {
		t.Error("not told apart")
	}
	doc, err := Parse([]byte(text), true)
	want := "title: Kettle\n\n=== 3 # NAME {#NAME +0}\n   5  Kettle - boils\n\n=== 13 ## boil {#boil +0}\n  15  Boils.\n"
	if got := mdtest.Describe(doc); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := Parse([]byte("1;\n"), true); err == nil {
		t.Error("took code for documentation")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("=head1 A\n\nB<C<< d >> E<gt>> L<a|b>\n\n=over\n\n=item *\n\nx\n\n\tcode\n\n=back\n\n=begin a\n\n=end\n\n=cut\n\n1"), false)
	f.Add([]byte("1;\n\n=item 5\n=back\n\n=for :a b\n\nX<<  y\n>>"), true)
	f.Fuzz(func(t *testing.T, in []byte, isProgram bool) {
		if doc, err := Parse(in, isProgram); err == nil {
			mdtest.Check(t, doc, len(in), bytes.Count(in, []byte("\n"))+1)
		}
	})
}
