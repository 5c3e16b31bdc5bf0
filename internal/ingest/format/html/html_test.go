package html

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
)

func TestDecode(t *testing.T) {
	const latin, greek, kanji = "naïve café", "καφές", "日本語のページ"
	encoded := func(s string, enc interface{ String(string) (string, error) }) string {
		b, err := enc.String(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, test := range []struct{ name, page, contentType, want string }{
		{"UTF-8 unsaid", latin, "", latin},
		{"UTF-8 called something else", `<meta charset="iso-8859-7">` + greek, "text/html; charset=iso-8859-1", greek},
		{"by the server", encoded(greek, charmap.ISO8859_7.NewEncoder()), "text/html; charset=iso-8859-7", greek},
		{"by the page", `<meta charset=windows-1253>` + encoded(greek, charmap.Windows1253.NewEncoder()), "text/html", greek},
		{"server before page", `<meta charset=iso-8859-1>` + encoded(greek, charmap.ISO8859_7.NewEncoder()), "text/html; charset=iso-8859-7", greek},
		{"page before a server that is wrong", `<meta charset=iso-8859-7>` + encoded(greek, charmap.ISO8859_7.NewEncoder()), "text/html; charset=utf-8", greek},
		{"neither is right", `<meta charset=utf-8>` + encoded(latin, charmap.Windows1252.NewEncoder()), "text/html; charset=utf-8", latin},
		{"Latin unsaid", encoded(latin, charmap.Windows1252.NewEncoder()), "", latin},
		{"one bad byte", greek + "\xff", "text/html; charset=utf-8", greek + "\uFFFD"},
		{"Shift JIS", encoded(kanji, japanese.ShiftJIS.NewEncoder()), "text/html; charset=Shift_JIS", kanji},
		{"ISO-2022-JP is ASCII", encoded(kanji, japanese.ISO2022JP.NewEncoder()), "text/html; charset=ISO-2022-JP", kanji},
		{"UTF-16", encoded(kanji, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()), "", kanji},
		{"unknown charset", latin, "text/html; charset=klingon", latin},
		{"no content type at all", latin, "; ;=", latin},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := string(decode([]byte(test.page), test.contentType))
			if !strings.HasSuffix(strings.TrimPrefix(got, "\uFEFF"), test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// markdown returns the content of a page with that body.
func markdown(t *testing.T, body string) string {
	t.Helper()
	page, err := Parse([]byte("<main><p>Before."+body+"</main>"), "", "dir/page.html")
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, s := range page.Sections {
		if len(s.Headings) > 0 {
			parts = append(parts, "["+strings.Join(s.Headings, "/")+" #"+s.Anchor+"]")
		}
		parts = append(parts, s.Markdown)
	}
	return strings.TrimLeft(strings.TrimPrefix(strings.Join(parts, "\n"), "Before."), "\n")
}

func TestMarkdown(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"white space", "<p> a\n\t b&nbsp;&nbsp;c\u00ad d ", "a b c d"},
		{"emphasis", "<p>a<b> b </b>c <i>d<b>e</b></i><em></em><strong><code>f</code></strong>", "a **b** c *d**e***`f`"},
		{"code spans", "<p><code>a</code><code>b</code> <code> c  d </code><tt>e`f</tt><kbd></kbd>", "`ab` `c d` `` e`f ``"},
		{"code in code", "<p><code>a <code>b</code> <em>c</em></code>", "`a b c`"},
		{"line breaks", "<p>a<br>b<br/><br>c", "a\nb\nc"},
		{"what would begin a block", "<p># a<p>&gt; b<p>```<p>---<p>#c", "\\# a\n\n\\> b\n\n\\```\n\n\\---\n\n#c"},
		{"lists", "<ul><li>a<ol start=3><li>b<li><p>c<p>d</ol><li><li>e</ul>", "- a\n  3. b\n  4. c\n\n     d\n- e"},
		{"list in a list without an item", "<ul><li>a<ul><li>b</ul><ul><li>c</ul></ul>", "- a\n  - b\n  - c"},
		{"code in a list", "<ul><li>a<pre>b\n\nc</pre>d<li><pre>e</pre></ul>", "- a\n  ```\n  b\n\n  c\n  ```\n\n  d\n- ```\n  e\n  ```"},
		{"fences", "<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"},
		{"code with lines broken", "<pre class='brush: js'>a<br>b</pre>", "```javascript\na\nb\n```"},
		{"language around", "<div class='highlight-c++ notranslate'><div class=highlight><pre>a</pre></div></div>", "```c++\na\n```"},
		{"language that is none", "<pre class=language-plaintext>a</pre>", "```\na\n```"},
		{"empty code", "<pre> \n </pre>a", "a"},
		{"quote", "<blockquote><p>a<p>b</blockquote>c", "> a\n>\n> b\n\nc"},
		{"indented, not quoted", "<blockquote><pre>a</pre></blockquote>", "```\na\n```"},
		{"terms", "<dl><dt>a<dt>b:<dd>c<dd>d<dt><code>e</code><dd><ul><li>f</ul></dl>", "- **a, b**: c\n\n  d\n- `e`:\n  - f"},
		{"definition", "<dl><dt id=x>f(a)<dd>b<dt>g</dl>c", "- **g**\n\nc\n[f(a) #x]\nb"},
		{"definition of several names", "<dl><dt id=x><span>-a<br></span><span>--all</span><dd>b<dt id=y>f()<dt>f(x)<dd>c</dl>", "[-a, --all #x]\nb\n[f() #y]\n`f(x)`\n\nc"},
		{"definition with a long signature", "<dl><dt id=x>f(" + strings.Repeat("parameter, ", 12) + "x)<dd>b</dl>", "[f(…) #x]\n`f(" + strings.Repeat("parameter, ", 12) + "x)`\n\nb"},
		{"definition in a list", "<ul><li><dl><dt id=x>f<dd>b</dl><li>c</ul>", "- c\n[f #x]\nb"},
		{"table", "<table><tr><th>a<th>b<tr><td>c|d<td><code>e|f</code></table>", "| a | b |\n| --- | --- |\n| c\\|d | `e\\|f` |"},
		{"table without a header", "<table><tr><td>a<td>b<tr><td>c</table>", "|  |  |\n| --- | --- |\n| a | b |\n| c |  |"},
		{"spans", "<table><tr><th>a<th colspan=2>b<tr><td rowspan=2>c<td>d<td>e<tr><td>f<td>g</table>", "| a | b |  |\n| --- | --- | --- |\n| c | d | e |\n|  | f | g |"},
		{"cells of several blocks", "<table><tr><th>a<tr><td><p>b.<p>c<ul><li>d<li>e</ul></table>", "| a |\n| --- |\n| b. c; d; e |"},
		{"code in cells", "<table><tr><th>a<th>b<tr><td>c<td><pre>d\ne</pre></table>", "- **a:** c\n\n  **b:**\n  ```\n  d\n  e\n  ```"},
		{"table for the looks", "<table><tr><td><p>a<p>b</table>", "a\n\nb"},
		{"headings in a table", "<table><tr><td><h2 id=x>a</h2><tr><td>b<td>c</table>", "[a #x]\n|  |  |\n| --- | --- |\n| b | c |"},
		{"note", "<div class='note warning'><p class=admonition-title>Take care<p>a<p>b</div>", "**Take care:** a\n\nb"},
		{"note that begins with code", "<div class=tip><p class=title>Tip</p><pre>a</pre></div>", "**Tip:**\n\n```\na\n```"},
		{"note with a table", "<div class=note><p class=title>Tip<p>a<table><tr><th>b<tr><td>c</table></div>", "**Tip:** a\n\n| b |\n| --- |\n| c |"},
		{"note around sections", "<div class=note><p>a<h2>b</h2>c</div>", "a\n[b #]\nc"},
		{"details", "<details><summary>a</summary><p>b</details>", "**a**\n\nb"},
		{"details with a heading", "<details><summary><h3 id=x>a</h3></summary><p>b</details>", "[a #x]\nb"},
		{"raised and lowered", "<p>a<sup>2</sup> b<sub>i j</sub> c<sup><a href=#f>1</a></sup> <sup>d</sup>", "a^2 b (i j) c[1] d"},
		{"formula", "<p><math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></semantics></math><math><mi>y</mi></math>", "$x^2$y"},
		{"images", "<p><img src=a.png alt='a b'><img src=b.png alt='b.png'><img class=math alt='x^2'>", "[image: a b]$x^2$"},
		{"links", "<p><a href=x>a</a> <a href=https://y/>here</a>. <a href=javascript:z>b</a>", "a here (https://y/). b"},
		{"a link around blocks", "<a href=x><div>a</div><div>b</div></a>", "a\n\nb"},
		{"boxes to tick", "<ul><li><input type=checkbox checked>a<li><input type=checkbox disabled>b</ul>", "- [x] a\n- [ ] b"},
		{"no content", "<script>a</script><style>b</style><nav>c</nav><button>d</button><svg><title>e</title></svg>f", "f"},
		{"not seen", "<p hidden>a<p style='display : NONE'>b<p style='color:#fff;background:#fff'>c<p aria-hidden=true>d<p>e", "e"},
		{"seen after a click", "<button aria-controls=x></button><div id=x hidden>a</div><div role=tabpanel hidden>b</div>", "a\n\nb"},
		{"drawing", "<svg><title>t</title><text>a b</text><text>c</text></svg>", "[diagram: a b c]"},
		{"anchor before a heading", "<a name=x></a><h2>a</h2>b", "[a #x]\nb"},
		{"anchor in a heading", "<h2><a name=x>a</a></h2>b", "[a #x]\nb"},
		{"anchor around a heading", "<section id=x><h2>a</h2>b</section>", "[a #x]\nb"},
		{"anchor of the permalink", "<section id=x><h2 id=y>a<a href='#x'>¶</a></h2>b</section>", "[a #x]\nb"},
		{"own anchor", "<section id=x><h2 id=y>a</h2>b</section>", "[a #y]\nb"},
		{"paths", "<h2>a</h2><h4>b</h4><h3>c</h3><h2>d</h2>e", "[a #]\n\n[a/b #]\n\n[a/c #]\n\n[d #]\ne"},
		{"empty heading", "<h2><img src=x></h2>a", "a"},
		{"heading of code", "<h2><code>f(x)</code></h2>a", "[f(x) #]\na"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, markdown(t, test.in)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.in, diff)
			}
		})
	}
}

// Elements such as <script/> close themselves only in pages that declare XHTML.
func TestXHTML(t *testing.T) {
	const doctype = `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">`
	for _, empty := range []string{`<script src="a.js"/>`, `<iframe src="b.html"/>`, `<style/>`, `<title/>`, `<noscript/>`, `<textarea/>`, `<div class="x"/>`} {
		body := "<body><h1>Reels</h1>" + empty + "<p>The reel turns.</p></body></html>"
		for name, test := range map[string]struct {
			start, contentType string
			want               bool
		}{
			"doctype":      {doctype + "\n<html>", "text/html", true},
			"lower case":   {strings.ToLower(doctype) + "<html>", "", true},
			"namespace":    {"<!DOCTYPE html>\n<!-- a\nlicense -->\n<html\nlang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">", "text/html", true},
			"declaration":  {"\ufeff<?xml version=\"1.0\"?>\n<html>", "text/html", true},
			"content type": {"<html>", "application/xhtml+xml; charset=utf-8", true},
			"HTML":         {"<!DOCTYPE html>\n<html lang=\"en\"><!-- not xhtml -->", "text/html", strings.HasPrefix(empty, "<div")},
		} {
			page, err := Parse([]byte(test.start+body), test.contentType, "page.html")
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, s := range page.Sections {
				text += s.Markdown
			}
			if got := strings.Contains(text, "The reel turns."); got != test.want {
				t.Errorf("%s with %s: text %t, want %t", name, empty, got, test.want)
			}
		}
	}
}

func TestHead(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     Page
	}{
		{"nothing", "<p>a", Page{}},
		{"title alone", "<title> A \n B </title><p>a", Page{Title: "A B"}},
		{"title with the site's name", "<title>A - Site</title><h1>A</h1>", Page{Title: "A"}},
		{"site's name first", "<title>Site | A</title><h1>A</h1>", Page{Title: "A"}},
		{"site's name known", "<meta property=og:site_name content=Site><title>A - B - Site</title><p>a", Page{Title: "A - B"}},
		{"site's name not known", "<title>A - B</title><p>a", Page{Title: "A - B"}},
		{"heading alone", "<h1>A</h1>", Page{Title: "A"}},
		{"heading that only begins like the title", "<title>Cat</title><h1>C</h1>", Page{Title: "Cat"}},
		{"canonical", "<link rel=canonical href=https://x/y>", Page{Canonical: "https://x/y"}},
		{"canonical of a file", "<link rel=canonical href=file:///x/y>", Page{}},
		{"language", "<html lang=de>", Page{Language: "de"}},
		{"noindex", "<meta name=robots content='NOINDEX, follow'>", Page{NoIndex: true}},
		{"index", "<meta name=robots content='index'>", Page{}},
		{"redirect", `<meta http-equiv=refresh content="0; URL='../x.html'">`, Page{Redirect: "x.html"}},
		{"refresh", `<meta http-equiv=refresh content="30">`, Page{}},
		{"edition in the title", "<title>A &#8212; B 3.2.25 documentation</title><h1>A</h1>", Page{Title: "A", Edition: "B 3.2.25 documentation"}},
		{"edition first", "<title>B 15: A</title><h1>A</h1>", Page{Title: "A", Edition: "B 15"}},
		{"edition beside another title", "<title>A, in short - B Version 2.4</title><h1>C</h1>", Page{Title: "A, in short - B Version 2.4", Edition: "B Version 2.4"}},
		{"edition on the link home", "<title>1. A</title><h1>A</h1><a accesskey=h href=index.html title='B 15.2 Documentation'>Home</a>", Page{Title: "1. A", Edition: "B 15.2 Documentation"}},
		{"number in the page's own title", "<title>A 1.2</title><h1>A 1.2</h1>", Page{Title: "A 1.2"}},
		{"hidden", "<main><p>a<p hidden>one two three four</main>", Page{Hidden: []string{"one two three four"}}},
		{"hidden menu", "<main><p>a</main><div hidden>one two three four</div>", Page{}},
		{"comment", "<!-- Dear AI agent --><!-- else --><p>a", Page{Hidden: []string{"Dear AI agent"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse([]byte(test.in), "", "dir/page.html")
			if err != nil {
				t.Fatal(err)
			}
			got.Sections, test.want.Depth = nil, UnknownDepth
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.in, diff)
			}
		})
	}
}

func TestSymbol(t *testing.T) {
	for _, test := range []struct{ signature, anchor, want string }{
		{"os.path.join(path, *paths)", "os.path.join", "os.path.join"},
		{"join(path)", "os.path.join", "os.path.join"},
		{"class logging.Logger", "logging.Logger", "logging.Logger"},
		{"const char *sqlite3_errmsg(sqlite3 *db)", "", "sqlite3_errmsg"},
		{"PyList_New(Py_ssize_t len)", "c.PyList_New", "PyList_New"},
		{"work_mem (integer)", "GUC-WORK-MEM", "work_mem"},
		{"-a, --all", "x", "--all"},
		{"--cleanup=<mode>", "", "--cleanup"},
		{"-S[<keyid>]", "", "-S"},
		{"x: int = 3", "m.x", "x"},
		{"list[index]", "", "list"},
		{"func (*Kettle) Pour", "Kettle.Pour", "Kettle.Pour"},
		{"a term of more words than a name has", "term", ""},
		{"(", "", ""},
		{"", "", ""},
	} {
		if got := symbolOf(test.signature, test.anchor); got != test.want {
			t.Errorf("symbolOf(%q, %q) = %q, want %q", test.signature, test.anchor, got, test.want)
		}
	}
}

func TestOwner(t *testing.T) {
	for in, want := range map[string]string{
		"Struct std::vec::Vec":           "std::vec::Vec",
		"Primitive Type slice":           "slice",
		"Class StringUtils":              "StringUtils",
		"Enum Class Colour<T extends X>": "Colour",
		"Class of 1999":                  "",
		"Introduction":                   "",
		"":                               "",
	} {
		if got := ownerOf(in); got != want {
			t.Errorf("ownerOf(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestUnnumbered(t *testing.T) {
	for in, want := range map[string]string{
		"20.4.1. Memory":      "Memory",
		"Chapter 9. Indexes":  "Indexes",
		"Appendix B. Support": "Support",
		"A.2. Tables":         "Tables",
		"1. Overview":         "Overview",
		"3 blind mice":        "3 blind mice",
		"2.0 is out":          "2.0 is out",
		"A. N. Other":         "A. N. Other",
		"Memory":              "Memory",
		"20.4.":               "20.4.",
	} {
		if got := unnumbered(in); got != want {
			t.Errorf("unnumbered(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, test := range []struct{ page, base, ref, want string }{
		{"library/os.html", "", "os.path.html#os.path.join", "library/os.path.html#os.path.join"},
		{"library/os.html", "", "../index.html", "index.html"},
		{"library/os.html", "", "../../../../etc/passwd", "etc/passwd"},
		{"library/os.html", "", "#a%20b", "library/os.html#a b"},
		{"library/os.html", "", "?q=1#x", "library/os.html#x"},
		{"a b/c%d.html", "", "e.html", "a b/e.html"},
		{"/usr/doc/a.html", "", "b.html", "/usr/doc/b.html"},
		{"C:/doc/a.html", "", "b.html", "C:/doc/b.html"},
		{"https://x.org/d/a.html", "", "b?c=d#e(f)", "https://x.org/d/b?c=d#e(f)"},
		{"https://x.org/d/a.html#z", "", "#y", "https://x.org/d/a.html#y"},
		{"https://x.org/d/a.html", "/e/", "b", "https://x.org/e/b"},
		{"https://x.org/d/a.html", "https://evil.org/", "b", "https://x.org/d/b"},
		{"https://x.org/d/a.html", "", "//y.org", "https://y.org"},
		{"https://x.org/", "", "mailto:a@b", ""},
		{"https://x.org/", "", "data:text/html,x", ""},
		{"https://x.org/", "", "file:///etc/passwd", ""},
		{"https://x.org/", "", "#", ""},
		{"a.html", "", "%zz", ""},
		{"a.html", "", "javascript:void(0)", ""},
	} {
		if got := newResolver(test.page, test.base).resolve(test.ref); got != test.want {
			t.Errorf("from %s (base %q), %s is %q, want %q", test.page, test.base, test.ref, got, test.want)
		}
	}
}

// The fast path for common references agrees with the general one.
func FuzzResolvePlain(f *testing.F) {
	for _, page := range []string{"library/os.html", "os.html", "", "a/", "/usr/doc/a.html", "/a.html", "C:/doc/a.html", "https://x.org", "https://x.org/", "https://x.org/d/e/a.html", "https://x.org/d//a.html?q", "https://u:p@x.org/d/../a", "a b/c%20.html", "//x.org/a", "a%2Fb/c.html", "https://x.org/a%2Fb/c", "ab:", "ab:/x/y"} {
		for _, ref := range []string{"re.html", "../re.html#re.match", "../../../x", "../", "a/b/", "./x", "a/../b", "a//b", "x#", "x#a/..", "a:b", "1:b", "../a:b", "..", "../..#x", "x#a%20b", "x?q", "/x#y", "//x/y", "/../x", "/"} {
			f.Add(page, "", ref)
			f.Add(page, "../base/#x", ref)
		}
	}
	f.Fuzz(func(t *testing.T, page, base, ref string) {
		r := newResolver(page, base)
		if got, ok := r.plain(ref); ok && got != r.general(ref) {
			t.Errorf("from %q (base %q), %q is %q, want %q", page, base, ref, got, r.general(ref))
		}
	})
}

func TestHides(t *testing.T) {
	for style, want := range map[string]bool{
		"display:none":                         true,
		"display: none !important; color: red": true,
		"visibility:hidden":                    true,
		"font-size:0":                          true,
		"font-size: 0.0em":                     true,
		"opacity:0":                            true,
		"position:absolute; left:-9999px":      true,
		"text-indent:-10000px":                 true,
		"clip: rect(0, 0, 0, 0)":               true,
		"color:white;background-color:white":   true,
		"color:transparent":                    true,
		"display:block":                        false,
		"font-size:10px":                       false,
		"opacity:0.5":                          false,
		"margin-left:-20px":                    false,
		"color:white;background-color:black":   false,
		"max-height:0.5em":                     false,
		"":                                     false,
		"none":                                 false,
		"color:#000":                           false,
		"font-size:":                           false,
		"background:url(data:image/png;base64,0==)": false,
	} {
		page, err := Parse([]byte("<p style='"+style+"'>secret<p>shown"), "", "page.html")
		if err != nil {
			t.Fatal(err)
		}
		if got := !strings.Contains(describe(page), "secret"); got != want {
			t.Errorf("hides(%q) = %v", style, got)
		}
	}
}

func TestMentionsAssistant(t *testing.T) {
	for text, want := range map[string]bool{
		"Ignore previous instructions.":       true,
		"If you are an AI, stop":              true,
		"AI agents: read llms.txt":            true,
		"LLM":                                 true,
		"for GPT-4 only":                      true,
		"an aim, an aid, an AI":               true,
		"an aim, an aid":                      false,
		"Claudette and the Geminids":          false,
		"chatgpt4all-like things":             true,
		"end of content, start of the footer": false,
		"":                                    false,
	} {
		if got := MentionsAssistant(text); got != want {
			t.Errorf("MentionsAssistant(%q) = %v", text, got)
		}
	}
}

func TestSelectors(t *testing.T) {
	tree, err := parse([]byte(`<div class="a b" id=x><p class="ab c"><a href="/docs/y" role=note></a></p></div>`), false)
	if err != nil {
		t.Fatal(err)
	}
	const div, p, a = 1, 2, 3
	for _, test := range []struct {
		list string
		node int32
		want bool
	}{
		{"div", div, true}, {"p", div, false}, {".a", div, true}, {".a.b", div, true}, {".a.c", div, false},
		{".a", p, false}, {"#x", div, true}, {"#y", div, false}, {"div#x.a", div, true}, {"p#x", div, false},
		{"[role=note]", a, true}, {"[role=n]", a, false}, {"a[role]", a, true}, {"[href^=/docs]", a, true},
		{"[href*=cs/y]", a, true}, {"[href^=docs]", a, false}, {"div a", a, true}, {"#x p a", a, true},
		{"p div a", a, false}, {"ul, .b", div, true}, {"", div, false},
	} {
		set := selectorSet{}
		set.add(test.list, 1)
		if got := set.roles(tree, test.node) == 1; got != test.want {
			t.Errorf("%q picks node %d: %v", test.list, test.node, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, page := range []string{
		"<dl><dt id=a>x<dd><table><tr><h1><pre></dl><ul><li><dd>x",
		"<meta name=generator content=docbook><div class=sect1 id=A><h2 class=title>1.2. T</h2><dl><dt id=B><span class=term>t</span><dd><div class=note><h3 class=title>Note</h3><p>n",
		"<body class=rustdoc><section id=main-content><h1>Struct a::B</h1><h4 class=code-header>fn c()</h4><h5>d</h5>",
		"<main><div class=tabbed-set><div class=tabbed-labels><label>a</label></div><div class=tabbed-block><pre><code class=language-c>b",
		"<title>a - b</title><base href=/c><h1>a<a href='#x'>#</a></h1><p>d<br><b>e<code>`</code></b><a href=f>here</a>",
		"<table><thead><tr><th rowspan=2 colspan=3>a<tbody><tr><td><ul><li>b<ol start=7><li>c</table><blockquote>d",
		"<svg><text>a b c</text></svg><p hidden>one two three four<p aria-hidden=true>x<math><annotation encoding=tex>x",
		"<?xml version='1.0'?><p><a name='x'/><b>bold</b></p>",
		strings.Repeat("<ol><li>a", 40), strings.Repeat("<blockquote>a", 40), strings.Repeat("<dl><dt id=a>b<dd>", 40), strings.Repeat("<div aria-hidden=true>a", 40),
	} {
		f.Add([]byte(page), "text/html", "docs/page.html")
	}
	f.Add([]byte("<p>\xe9t\xe9"), "application/xhtml+xml; charset=latin1", "https://x.org/a#b")
	f.Fuzz(func(t *testing.T, data []byte, contentType, base string) {
		page, err := Parse(data, contentType, base)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Sections {
			s := &page.Sections[i]
			if s.Level != len(s.Headings) {
				t.Errorf("section %d is %d deep and has path %q", i, s.Level, s.Headings)
			}
			for _, text := range append(s.Headings, s.Markdown, s.Anchor, s.Symbol) {
				if !utf8.ValidString(text) {
					t.Errorf("not UTF-8: %q", text)
				}
			}
			for _, h := range s.Headings {
				if h == "" || strings.ContainsAny(h, "\n") {
					t.Errorf("heading %q", h)
				}
			}
			if s.Markdown != strings.Trim(s.Markdown, "\n") {
				t.Errorf("Markdown with empty lines around: %q", s.Markdown)
			}
		}
		again, err := Parse(data, contentType, base)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(page, again); diff != "" {
			t.Errorf("the same page is read differently again:\n%s", diff)
		}
	})
}

// Offsets lead to the block of each anchor.
func TestOffsets(t *testing.T) {
	page, err := Parse([]byte(`<main><a id=before></a><h1 id=top>Top</h1><p>one <a id=in>two</a></p><a id=between></a><ul><li id=item>three</ul>
<p id=top>four</p><p id=last>five</p><a id=end></a></main>`), "", "a.html")
	if err != nil {
		t.Fatal(err)
	}
	s := page.Sections[0]
	got := map[string]string{}
	for i, a := range s.Anchors {
		got[a] = strings.TrimSpace(s.Markdown[s.Offsets[i]:])
	}
	want := map[string]string{
		"before": s.Markdown, "in": s.Markdown, "between": "- three\n\nfour\n\nfive", "item": "- three\n\nfour\n\nfive", "last": "five", "end": "",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(s.Offsets) != len(s.Anchors) {
		t.Errorf("what stands behind the anchors (-want +got)\n%s", diff)
	}
}

func TestDepth(t *testing.T) {
	for _, test := range []struct {
		links string
		want  int
	}{
		{"", UnknownDepth},
		{"<link rel=stylesheet href=_static/a.css>", 0},
		{"<link rel=stylesheet href=./_static/a.css>", 0},
		{"<link rel='alternate stylesheet' href=../../_static/a.css>", 2},
		{"<link rel=canonical href=../a.html><link rel=stylesheet href=/a.css>", UnknownDepth},
		{"<link rel=stylesheet href=https://example.org/a.css><link rel=stylesheet href=../a.css>", 1},
		{"<link rel=stylesheet href=//example.org/a.css><link rel=stylesheet>", UnknownDepth},
	} {
		page, err := Parse([]byte("<html><head>"+test.links+"</head><body>text</body></html>"), "", "a/b.html")
		if err != nil {
			t.Fatal(err)
		}
		if page.Depth != test.want {
			t.Errorf("%s: %d, want %d", test.links, page.Depth, test.want)
		}
	}
}

// Text after an empty definition belongs to the definition.
func TestUndescribed(t *testing.T) {
	const sig = "<dl><dt id=%s>%s</dt><dd></dd></dl>"
	def := func(name string) string { return strings.ReplaceAll(sig, "%s", name) }
	for _, test := range []struct{ name, in, want string }{
		{"one", def("a") + "<p>A.<p>More.", "[a #a]\nA.\n\nMore."},
		{"two", def("a") + "<p>A." + def("b") + "<p>B.", "[a #a]\nA.\n[b #b]\nB."},
		{"two without text between", def("a") + def("b") + "<p>B.", "[a #a]\n\n[b #b]\nB."},
		{"up to a heading", def("a") + "<p>A.<h4 id=h>H</h4><p>B.", "[a #a]\nA.\n[H #h]\nB."},
		{"up to the end of its element", "<div>" + def("a") + "<p>A.</div><p>B.", "B.\n[a #a]\nA."},
		{"in another definition", "<dl><dt id=o>o</dt><dd><p>O.</p>" + def("a") + "<p>A.</p></dd></dl><p>B.", "B.\n[o #o]\nO.\n[o/a #a]\nA."},
		{"under a heading of its name", "<h2 id=h><code>x.a</code></h2>" + def("a") + "<p>A.", "[x.a #h]\n\n[x.a/a #a]\nA."},
		{"under a heading that is its name", "<h2 id=h><code>a</code></h2>" + def("x.a") + "<p>A.", "[a #h]\n`x.a`\n\nA."},
		{"described", "<dl><dt id=a>a</dt><dd>A.</dd></dl><p>B.", "B.\n[a #a]\nA."},
		{"not the last", "<dl><dt id=a>a</dt><dd></dd><dt id=b>b</dt><dd>B.</dd></dl><p>C.", "C.\n[a #a]\n\n[b #b]\nB."},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, strings.TrimPrefix(markdown(t, test.in), "\n")); diff != "" {
				t.Errorf("sections (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFootnotes(t *testing.T) {
	long := strings.Repeat("long ", maxFootnoteBytes/5+1)
	for _, test := range []struct{ name, in, want string }{
		{"docutils", `<p>A <a class="footnote-reference brackets" href="#id2" id="id1"><span>[</span>1<span>]</span></a>.<p>B.
			<p class="rubric">Footnotes</p><aside class="footnote-list brackets"><aside class="footnote brackets" id="id2" role="doc-footnote">
			<span class="label"><span>[</span><a role="doc-backlink" href="#id1">1</a><span>]</span></span><p>Note.</p></aside></aside>`,
			"A [1].\n\n[1] Note.\n\nB."},
		{"docutils' lists", `<p>A <a class="footnote-reference brackets" href="#id2" id="id1">1</a>.<p>B.<dl class="footnote brackets">
			<dt class="label" id="id2"><span class="brackets"><a class="fn-backref" href="#id1">1</a></span></dt><dd><p>Note.</p></dd></dl>`,
			"A [1].\n\n[1] Note.\n\nB."},
		{"docutils' tables", `<p>A <a class="footnote-reference" href="#note" id="id1">[1]</a>.<p>B.<table class="docutils footnote" id="note">
			<tbody><tr><td class="label"><a class="fn-backref" href="#id1">[1]</a></td><td>A <em>note</em>.</td></tr></tbody></table>`,
			"A [1].\n\n[1] A *note*.\n\nB."},
		{"Markdown", `<p>A<sup id="fnref:1"><a class="footnote-ref" href="#fn:1">1</a></sup>.<p>B.<div class="footnotes" role="doc-endnotes"><hr><ol>
			<li id="fn:1"><p>Note.&#160;<a href="#fnref:1" class="footnote-backref">&#8617;</a></p></li></ol></div>`,
			"A[1].\n\n[1] Note.\n\nB."},
		{"GitHub's", `<p>A<sup><a href="#user-content-fn-1" id="user-content-fnref-1" data-footnote-ref>1</a></sup>.<p>B.
			<section data-footnotes class="footnotes"><h2 id="footnote-label">Footnotes</h2><ol>
			<li id="user-content-fn-1"><p>Note. <a href="#user-content-fnref-1" data-footnote-backref>↩</a></p></li></ol></section>`,
			"A[1].\n\n[1] Note.\n\nB."},
		{"DocBook", `<p>A<a href="#ftn.x" class="footnote"><sup class="footnote" id="x">[7]</sup></a>.<p>B.<div class="footnotes"><br><hr>
			<div id="ftn.x" class="footnote"><p><a href="#x" class="para"><sup class="para">[7] </sup></a> Note.</p></div></div>`,
			"A[7].\n\n[7] Note.\n\nB."},
		{"AsciiDoc", `<p>A<sup class="footnote">[<a id="_footnoteref_1" class="footnote" href="#_footnotedef_1">1</a>]</sup>.<p>B.
			<div id="footnotes"><hr><div class="footnote" id="_footnotedef_1"><a href="#_footnoteref_1">1</a>. Note.</div></div>`,
			"A[1].\n\n[1] Note.\n\nB."},
		{"mdBook", `<p>A<sup class="footnote-reference"><a href="#n">1</a></sup>.<p>B.<div class="footnote-definition" id="n">
			<sup class="footnote-definition-label">1</sup><p>Note.</p></div>`,
			"A[1].\n\n[1] Note.\n\nB."},
		{"cited twice", `<p>A<sup><a href="#n">1</a></sup>.<p>B<sup><a href="#n">1</a></sup>.<div class="footnotes"><ol><li id="n">Note.</li></ol></div>`,
			"A[1].\n\n[1] Note.\n\nB[1]."},
		{"cited in a list", `<ul><li>A<sup><a href="#n">1</a></sup>.<li>B.</ul><div class="footnotes"><ol><li id="n">Note.</li></ol></div>`,
			"- A[1].\n\n  [1] Note.\n- B."},
		{"cited in a table", `<table><tr><th>A<th>B<tr><td>a<sup><a href="#n">1</a></sup><td>b</table><div class="footnotes"><ol><li id="n">Note.</li></ol></div>`,
			"| A | B |\n| --- | --- |\n| a[1] | b |\n\n[1] Note."},
		{"cited in a heading", `<h2>A<sup><a href="#n">1</a></sup></h2><p>B.<div class="footnotes"><ol><li id="n">Note.</li></ol></div>`,
			"[A[1] #]\nB.\n\n[1] Note."},
		{"not cited", `<p>A.<div class="footnotes"><ol><li id="n">Note.</li></ol></div>`, "A.\n\n1. Note."},
		{"cited by another only", `<p>A.<div class="footnotes"><ol><li id="n">One<a href="#m">2</a>.<li id="m">Two.</li></ol></div>`, "A.\n\n1. One2.\n2. Two."},
		{"long", `<p>A<sup><a href="#n">1</a></sup>.<p>B.<div class="footnotes"><ol><li id="n">` + long + `</ol></div>`,
			"A[1].\n\nB.\n\n1. " + strings.TrimSpace(long)},
		{"with code", `<p>A<sup><a href="#n">1</a></sup>.<p>B.<div class="footnotes"><ol><li id="n"><pre>code</pre></ol></div>`,
			"A[1].\n\nB.\n\n1. ```\n   code\n   ```"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, markdown(t, test.in)); diff != "" {
				t.Errorf("sections (-want +got):\n%s", diff)
			}
		})
	}
}

// A link to a footnote leads to its new position.
func TestFootnoteAnchors(t *testing.T) {
	page, err := Parse([]byte(`<main><h1>T</h1><p>A<sup><a href="#n">1</a></sup>.<h2>H</h2><p>B.<div class="footnotes"><ol><li id="n">Note.</li></ol></div></main>`), "", "a.html")
	if err != nil {
		t.Fatal(err)
	}
	if s := page.Sections[0]; len(s.Anchors) != 1 || s.Anchors[0] != "n" || s.Offsets[0] != len("A[1].") {
		t.Errorf("anchors %q at %v of %q", s.Anchors, s.Offsets, s.Markdown)
	}
}
