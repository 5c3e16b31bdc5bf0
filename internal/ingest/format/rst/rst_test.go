package rst

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

func TestGolden(t *testing.T) {
	mdtest.Golden(t, "testdata/*.rst", func(_ string, data []byte) (mdwriter.Document, error) { return Parse(data), nil })
}

func TestInline(t *testing.T) {
	p := &parser{budget: 1000, substitutions: map[string]string{"product": "Kettle"}, titles: map[string]string{"ref known": "The title", "doc ../gear": "All `gears`"}}
	for in, want := range map[string]string{
		"``a | b`` and ``x`y``":                 "`a | b` and `` x`y ``",
		":func:`os.path.join` :meth:`~A.b.run`": "`os.path.join` `run`",
		":py:class:`!Foo` :class:`the x <X>`":   "`Foo` `the x`",
		":ref:`how to <label>` :ref:`label`":    "how to label",
		":ref:`known` :ref:`Known`":             "The title The title",
		":doc:`../gear` :doc:`it <../gear>`":    "All `gears` it",
		":doc:`/other` :std:ref:`known`":        "/other The title",
		":class:`_orm.A.b` :meth:`.A.c`":        "`A.b` `A.c`",
		":attr:`__dict__` :class:`~.A.B`":       "`__dict__` `B`",
		"`text <http://x>`_ `named`_ word_ a__": "text named word a",
		"snake_case _private __init__ PATH_*":   "snake_case _private __init__ PATH_*",
		"|product| is |unknown|":                "Kettle is |unknown|",
		`\*not\* :ref:x C:\\dir`:                `*not* :ref:x C:\dir`,
		"see [1]_, *em* and **strong**":         "see [1], *em* and **strong**",
		":rfc:`2324` :pep:`8` H\\ :sub:`2`\\ O": "RFC 2324 PEP 8 H_2O",
		"`default` `code`:func:":                "`default` `code`",
		"unclosed `tick and ``two":              "unclosed `tick and ``two",
		"time 10:30:`x`":                        "time 10:30:`x`",
	} {
		if got := p.inline(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestFieldName(t *testing.T) {
	for name, want := range map[string]string{
		"param str ml": "str ml", "returns": "returns", "raises Dry": "raises Dry", "<header Accept": "request header Accept",
		">json boolean hot": "response JSON boolean hot", "query limit": "query parameter limit", "code 404": "status 404",
		"status": "status", "code": "code", "Author": "Author",
	} {
		if got := fieldName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A simple table ends at a border before a blank line. Without one, and with two blank lines
// in it, the lines are text.
func TestSimpleTable(t *testing.T) {
	for in, want := range map[string]string{
		"== ==\na  b\n\nc  d\n== ==\n\nend":      "| a | b |\n| --- | --- |\n| c | d |\n\nend",
		"== ==\na  b\n\n\nc  d\n== ==\n\nend":    "",
		"== ==\na  b\n== ==":                     "| a | b |\n| --- | --- |",
		"== ==\na  b\n== ==\nc  d\n== ==\n\nend": "| a | b |\n| --- | --- |\n| c | d |\n\nend",
	} {
		var lines []string
		for _, s := range Parse([]byte(in)).Sections {
			for _, l := range s.Lines {
				lines = append(lines, l.Text)
			}
		}
		got := strings.Trim(strings.Join(lines, "\n"), "\n")
		if want == "" && strings.Contains(got, "|") || want != "" && got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestBlocks(t *testing.T) {
	for in, want := range map[string]string{
		".. centered:: Big words":                 "**Big words**",
		".. container:: box\n\n   text":           "text",
		"A. Writer was born\nin that year.":       "A. Writer was born\nin that year.",
		"A. one\n   or more\nB. two":              "A. one\n   or more\nB. two",
		".. image:: a.png\n   :alt: the whole":    "[image: the whole]",
		".. image:: a.png\n   :alt: a/b the file": "",
		".. figure:: a.png\n\n   Caption":         "Caption",
	} {
		var lines []string
		for _, s := range Parse([]byte(in + "\n")).Sections {
			for _, l := range s.Lines {
				lines = append(lines, l.Text)
			}
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestTitles(t *testing.T) {
	doc := Parse([]byte("=====\nTitle\n=====\n\nA\n=\n\nB: x\n----\n\nShort line\n-----\n\nC\n=\n\ntext\n--\n"))
	var got []string
	for _, s := range doc.Sections {
		got = append(got, "######"[:s.Level]+" "+s.Heading+" #"+s.Anchors[0].Name)
	}
	want := []string{"# Title #title", "## A #a", "### B: x #b-x", "### Short line #short-line", "## C #c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestReferences(t *testing.T) {
	doc := Parse([]byte("See :ref:`b-label` and :ref:`C Label`.\n\n.. _b-label:\n\nThe *B* title\n=============\n\n.. _C label:\n.. _d:\n\n=====\nTwo C\n=====\n\n.. _e:\n\nNo title.\n\n:ref:`e`\n"))
	got := ""
	for _, s := range doc.Sections {
		for _, l := range s.Lines {
			got += l.Text + "\n"
		}
	}
	if want := "See The B title and Two C.\nNo title.\n\ne\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIs(t *testing.T) {
	for in, want := range map[string]bool{
		"A\n====\n\n.. versionadded:: 1\n":                         true,
		".. _a:\n\nA\n====\n\ntext\n":                              true,
		".. currentmodule:: a\n\n.. function:: b\n":                true,
		"Title\n=====\n\nSee :doc:`a` and\n:ref:`b`.\n":            true,
		"Title\n=====\n\nUnderlined text, with no other markup.\n": false,
		".. and so on\n.. to the end\n":                            false,
		"Use ``a`` or :b: here.\n\n1. c\n":                         false,
		"To see one:`x`, and two:`y`\n":                            false,
	} {
		if got := Is([]byte(in)); got != want {
			t.Errorf("%q: %t", in, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"A\n=\n\n.. note:: x\n\n   y\n\n.. code-block:: c\n   :caption: z\n\n   int x;\n",
		"+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n\n== ==\na  b\n== ==\n1  2\n== ==\n",
		"- a\n\n  1. b\n\n     x\n       y\n\n:f: v\n-o X  opt\n\n| l\n| m\n\n>>> 1\n",
		".. class:: A(b)\n\n   .. method:: c()\n\n      d `e <f>`_ |g|\n\n.. |g| replace:: h\n",
		".. list-table::\n\n   * - a\n     - b\n   * - c\n\n.. csv-table::\n   :header: x, y\n\n   1, \"2\n",
		".. |a| replace:: |a||a|\n\n|a| |a|\n\n" + strings.Repeat("* ", 40) + "x\n",
		".. _a:\n\nB :ref:`a`\n==========\n\n:ref:`a` :c:`_d.e` :c:`.` :c:`~.` :c:`_.`\n",
		"x::\n\n> a\n> b\n\n.. _l:\n\n.. [1] n\n.. index:: pair: a; b\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		Is(in)
		mdtest.Check(t, Parse(in), len(in), bytes.Count(in, []byte("\n"))+1)
	})
}
