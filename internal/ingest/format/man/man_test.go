package man

import (
	"bytes"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

func TestGolden(t *testing.T) {
	mdtest.Golden(t, "testdata/*.[1-8]", func(_ string, data []byte) (mdwriter.Document, error) { return Parse(data) })
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

// textOf returns the text after the first section's heading.
func textOf(t *testing.T, page string) string {
	t.Helper()
	doc, err := Parse([]byte(page))
	if err != nil {
		t.Fatalf("%q: %v", page, err)
	}
	var lines []string
	for _, s := range doc.Sections {
		if s.Heading != "D" && s.Level > 1 {
			lines = append(lines, strings.Repeat("#", s.Level)+" "+s.Heading)
		}
		for _, l := range s.Lines {
			lines = append(lines, l.Text)
		}
	}
	return strings.Join(lines, "\n")
}

func TestEscapes(t *testing.T) {
	for in, want := range map[string]string{
		`a\-b \'c\` + "`d":                             "a-b 'c`d",
		`back\\slash \e x`:                             `back\slash \ x`,
		`a\ b\~c\0d\te`:                                "a b c d e",
		`a\&b\|c\%d\:e\zf`:                             "abcdef",
		`\fBbold\fR \f(CWx\f[] \m[red]y\m[]`:           "bold x y",
		`\nx and \n+y and \n(xx and \n[long]`:          "0 and 0 and 0 and 0",
		`\*(lqq\*(rq \*R \*(C+ \*[nothing]`:            "“q” ® C++",
		`\(em \(bu \[u00e9] \[char65] \[odd]`:          "— • é A odd",
		`\('e \(:u \(/o \(,c \[oa] \(/x`:               "é ü ø ç å",
		`\(*a \(*W \(*q \[*m] \(ts \(*1 \[*@]`:         "α Ω ψ μ ς *1 *@",
		`\[u] \[uZZZZ] \[u110000] \[char7]`:            "u uZZZZ u110000 char7",
		`\s+1big\s0 \s-2x \s(12y \s[9]z \s'+1'w \s12v`: "big x y z w v",
		`\h'2m'x\v'1'y\w'z'`:                           "xy",
		`\N'65' \N'7' \N'x'`:                           "A",
		`\o'ab'c`:                                      "abc",
		`\q\é`:                                         "qé",
		`text \" a comment`:                            "text",
		`text \# a comment`:                            "text",
		`ends with \`:                                  "ends with",
		`ends with \f`:                                 "ends with",
		`ends with \(`:                                 "ends with",
		`ends with \[open`:                             "ends with",
		`ends with \h`:                                 "ends with",
		`ends with \h'open`:                            "ends with",
		`ends with \s`:                                 "ends with",
	} {
		if got := textOf(t, ".TH A 1\n.SH D\n"+in+"\n"); got != want {
			t.Errorf("%s is read as %q, want %q", in, got, want)
		}
	}
}

func TestMan(t *testing.T) {
	for in, want := range map[string]string{
		".B bold\n.I\nitalic\n.SM small words":                 "bold\nitalic\nsmall words",
		".BR a (1) ,\n.IB x y":                                 "a(1),\nxy",
		".BI one \\c\ntwo":                                     "onetwo",
		".B a\\c\nb":                                           "ab",
		"one \\c\ntwo":                                         "one two",
		"one\\c\ntwo\\c\n.B three":                             "onetwothree",
		"\\fBone\\c\\fR\ntwo \\c\\\" why\nthree":               "onetwo three",
		".B \"one \\c\"\ntwo":                                  "one two",
		"one\n\\c\ntwo":                                        "one\ntwo",
		"a\\\\c\nb":                                            "a\\c\nb",
		".nf\none \\c\ntwo\n.fi":                               "```\none two\n```",
		".TP\n.B one\\c\n.I two\ntext":                         "- `onetwo`\n  text",
		".SS\nUnder\ntext":                                     "### Under\ntext",
		".IP 1.\none\n.IP 2)\ntwo\n.IP [3]\nthree":             "1. one\n\n2. two\n\n3. three",
		".IP \\(bu 2\ndot\n.IP -\ndash\n.IP\nmore":             "- dot\n\n- dash\n\n  more",
		".IP \"•  \"\ndot\n.IP word\nwhat it is":               "- dot\n\n- `word`\n  what it is",
		".TP\n.B a\n.TQ\n.B b\nboth":                           "- `a`\n  `b`\n  both",
		".RS\nindented\n.RE\n.RE\nafter":                       "indented\n\nafter",
		".nf\nfixed  text\n.sp\n.br\nmore\n.fi\nfilled":        "```\nfixed  text\n\nmore\n```\n\nfilled",
		"a\n.br\nb\n.sp\nc\n.ne 4\nd":                          "a\nb\n\nc\nd",
		".UR http://x.y\nsite\n.UE .\n.MT a@b\n.ME":            "http://x.y\nsite.\na@b",
		".SY make\n.OP -f file\n.YS":                           "make\n[-f file]",
		".ft B\n.ad l\ntext":                                   "text",
		".UNKNOWN some words\n.unknown other words\n.Empty":    "some words",
		".ds name value \\(em\n.ds q \"quoted\n\\*[name] \\*q": "value — quoted",
		".de XX\n.B \\\\$1 [\\\\$*]\n..\n.XX a b":              "a [a b]",
		".de1 XX YY\nnever\n.YY\n.am XX\nnever\n..\n.XX":       "never",
		".de XX\n.if t \\{\\\nnever\n.\\}\n..\n.XX\nafter":     "after",
		".ig\nnever\n..\ntext":                                 "text",
		".ig ZZ\nnever\n.ZZ\ntext":                             "text",
		".if n yes\n.if t no\n.if !t also\n.while n never":     "yes\nalso",
		".ie 'a'a' same\n.el other":                            "same",
		".ie 'a'b' same\n.el other\n.el nothing":               "other",
		".if 1 one\n.if 0 zero\n.if \\n(.g groff\n.if":         "one\ngroff",
		".if 'open never\n.if d\n.if n":                        "",
		".if t \\{\\\n.if n \\{\nnever\n.\\}\n.\\}\nafter":     "after",
		".if n \\{\\\nyes\n.\\}\nafter":                        "yes\nafter",
		".if n \\{\\\nyes\n.\\}.B no dot":                      "yes\nno dot",
		".if n \\{\\\nyes\n.\\}B dot missing":                  "yes\ndot missing",
		".EQ\nx over y\n.EN\n.PS\nbox\n.PE\nafter":             "after",
		".B \"two words\" \"a \"\"quoted\"\" one\"\n.B a\\\"x": "two words a \"quoted\" one\na",
		"'B other control\n. \t B spaced":                      "other control\nspaced",
	} {
		if got := textOf(t, ".TH A 1\n.SH D\n"+in+"\n"); got != want {
			t.Errorf("%q is read as\n%q, want\n%q", in, got, want)
		}
	}
}

func TestTables(t *testing.T) {
	for in, want := range map[string]string{
		"l l.\na\tb\n_\nc\td":                                 "| a | b |\n| --- | --- |\n| c | d |",
		"tab(@) box;\nl l.\na@b\n.T&\nl l.\nc@d":              "| a | b |\n| --- | --- |\n| c | d |",
		"tab (|);\nl l.\na|b\nc|d":                            "| a | b |\n| --- | --- |\n| c | d |",
		"l l l.\na\tT{\nb\n.B c\n.BR d (1)\n.sp\nT}\te\nf\tg": "| a | b c d(1) | e |\n| --- | --- | --- |\n| f | g |  |",
		"l.\na\n.B x\nT{\nopen":                               "| a |\n| --- |\n| open |",
	} {
		if got := textOf(t, ".TH A 1\n.SH D\n.TS\n"+in+"\n.TE\n"); got != want {
			t.Errorf("%q is read as\n%q, want\n%q", in, got, want)
		}
	}
}

func TestMdoc(t *testing.T) {
	for in, want := range map[string]string{
		".Op Fl a Ar b\n.Bq x\n.Aq y\n.Brq z":                     "[-a b]\n[x]\n<y>\n{z}",
		".Dq a b .\n.Qq c\n.Sq d\n.Ql e":                          "\"a b\".\n\"c\"\n'd'\n'e'",
		".Fl v , Fl Fl verbose\n.Fl\n.Fl a | b\n.Fl Ns x":         "-v, --verbose\n\\-\n-a | -b\n-x",
		".Oo\n.Ar a\n.Oc\n.Ao b Ac\n.Bro c Brc\n.So d Sc":         "[\na\n]\n<b>\n{c}\n'd'",
		".Po a Pc\n.Bo b Bc\n.Do c Dc\n.Qo d Qc":                  "(a)\n[b]\n\"c\"\n\"d\"",
		".Ar\n.Ar x y\n.Nm\n.Nm other":                            "file ...\nx y\nfoo\nother",
		".Fn f\n.Fn g \"int a\" b\n.In stdio.h":                   "f()\ng(int a, b)\n<stdio.h>",
		".Lk http://x the site\n.Lk http://y\n.Xr ls 1 ,\n.Xr ls": "the site (http://x)\nhttp://y\nls(1),\nls",
		".Pf ( Ar x\n.Em a Ap s\n.No no":                          "(x\na's\nno",
		".Ux\n.Fx 14\n.Bx 4.4\n.At v7\n.St -p1003.1\n.Ex -std":    "UNIX\nFreeBSD 14\nBSD 4.4\nAT&T UNIX v7\np1003.1\nThe foo utility exits 0 on success, and >0 if an error occurs.",
		".Rv -std f":                                          "Returns 0 if successful; otherwise -1, and errno is set.",
		".Fo f\n.Fa \"int a\"\n.Fc ;\nafter":                  "f(int a);\nafter",
		".Rs\n.%A A. Author\n.%T Title\n.Re":                  "A. Author,\nTitle.",
		".Bl -enum\n.It\none\n.It\ntwo\n.El":                  "1. one\n\n2. two",
		".Bl -column a b\n.It x Ta y z\n.It u\n.Ta v\n.El":    "| x | y z |\n| --- | --- |\n| u | v |",
		".Bl -tag\n.It Fl a Xo\n.Ar b\nplain\n.Xc\ntext\n.El": "- `-a b plain`\n  text",
		".Bl -tag\n.It Fl a Xo\n.Ar b\n.It c\ntext\n.El":      "- `-a b`\n\n- `c`\n  text",
		".Bd -literal\na  b\n.Ed\n.Bd -ragged\nc  d\n.Ed":     "```\na  b\n```\n\nc d",
		".D1 Fl a b\n.Dl x":                                   "```\n-a -b\n```\n\n```\nx\n```",
		".Ss Under\n.Pp\ntext\n.Xo a\n.Bk\n.Ek":               "### Under\ntext\na",
	} {
		if got := textOf(t, ".Dd x\n.Dt A 1\n.Sh NAME\n.Nm foo\n.Sh D\n"+in+"\n"); got != "## NAME\nfoo\n"+want {
			t.Errorf("%q is read as\n%q, want\n%q", in, got, "## NAME\nfoo\n"+want)
		}
	}
	words := ".Em" + strings.Repeat(" a", 1001)
	if got := textOf(t, ".Dd x\n.Dt A 1\n.Sh D\n"+words+"\n"); got != words[4:] {
		t.Errorf("a macro with too many arguments is read as %.50q", got)
	}
}

func TestNoPage(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "not a manual page",
		"1\n2\n3\n":              "not a manual page",
		".so man1/other.1\n":     "the same as man1/other.1",
		".\\\" x\n.so other.1\n": "the same as other.1",
	} {
		if doc, err := Parse([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%q is read as %+v, %v; want the error %q", in, doc, err, want)
		}
	}
	if got := textOf(t, ".TH MixedCase 1\n.TH B 2\n.SH D\ntext\n.so b\n"); got != "text" {
		t.Errorf("a page that includes another behind its text is read as %q", got)
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
