package web

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// hostile are documents that try to run, load or change something.
var hostile = []string{
	`<script>alert(1)</script>`,
	"text <img src=x onerror=alert(1)> text",
	`[click](javascript:alert(1))`,
	`[click](JaVaScRiPt&colon;alert(1))`,
	"[click](java\tscript:alert(1))",
	`[click](data:text/html;base64,PHNjcmlwdD4=)`,
	`[click](vbscript:x)`,
	`[click](file:///etc/passwd)`,
	`[click](%X/../databases)`,
	`[click](//evil.example/x)`,
	`<javascript:alert(1)>`,
	`![pixel](https://evil.example/pixel.png)`,
	`![pixel](data:image/svg+xml,<svg/onload=alert(1)>)`,
	`<svg onload=alert(1)><script>alert(1)</script></svg>`,
	`<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>`,
	`<style>body{display:none}</style>`,
	`<link rel=stylesheet href=https://evil.example/x.css>`,
	`<iframe src="https://evil.example"></iframe>`,
	`<object data="x"></object><embed src="x">`,
	`<form action=https://evil.example><input name=q><button>go</button></form>`,
	`<meta http-equiv=refresh content="0;url=https://evil.example">`,
	`<base href=https://evil.example/>`,
	`<a href="x" style="position:fixed;inset:0" onclick="alert(1)">x</a>`,
	`<div id="main" class="problem">clobber</div>`,
	"</section></article></main></body></html><h1>out",
	"<table><tr><td><div><p>broken",
	"<!-- open comment\n\ntext",
	"<![CDATA[ x",
	"```html\n</code></pre><script>alert(1)</script>\n```",
	"```\"><script>alert(1)</script>\ncode\n```",
	"`</code><script>alert(1)</script>`",
	"| a | b |\n|---|---|\n| <script>alert(1)</script> | [x](javascript:x) |",
	"# <script>alert(1)</script>",
	"a\x00b \xff\xfe \u202e \u2028",
	strings.Repeat("> ", 5000) + "deep",
	strings.Repeat("[", 9000),
	strings.Repeat("*a _b ", 3000),
	strings.Repeat("![[]()", 3000),
	strings.Repeat("<a ", 5000),
	"```go\n" + strings.Repeat("`\\", 9000) + "\n```",
	strings.Repeat("a", 10<<20),
}

// checkSafe fails unless HTML contains only what the renderer permits, in a well-formed
// tree: nothing that runs, loads or styles.
func checkSafe(t *testing.T, source, out string) {
	t.Helper()
	allowed := map[string]bool{}
	for tag := range strings.FieldsSeq("h2 h3 h4 h5 h6 p br hr em strong del blockquote pre code ul ol li table thead tbody tr th td span div a") {
		allowed[tag] = true
	}
	var open []string
	z := html.NewTokenizer(strings.NewReader(out))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		if kind == html.CommentToken || kind == html.DoctypeToken {
			t.Fatalf("%.80q contains %v", source, token)
		}
		if kind == html.TextToken {
			continue
		}
		if !allowed[token.Data] {
			t.Fatalf("%.80q becomes <%s>", source, token.Data)
		}
		for _, a := range token.Attr {
			switch {
			case a.Key == "href" && (strings.HasPrefix(a.Val, "/read?") || strings.HasPrefix(a.Val, "http://") || strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "mailto:")):
			case a.Key == "rel", a.Key == "tabindex" && a.Val == "0", a.Key == "start":
			case a.Key == "class" && token.Data != "a":
			default:
				t.Fatalf("%.80q gets the attribute %s=%q", source, a.Key, a.Val)
			}
		}
		switch void := token.Data == "br" || token.Data == "hr"; {
		case kind == html.StartTagToken && !void:
			open = append(open, token.Data)
		case kind == html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("%.80q: </%s> closes %v", source, token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Fatalf("%.80q leaves %v open", source, open)
	}
}

// linkToSite is a linkTo that leads all links to this site, as far as they have a target.
func linkToSite(to string) string {
	r := &reader{key: "https://docs.example.com/guide/page"}
	r.entry.Name = "manual"
	return r.linkTo(to)
}

func TestHostileDocuments(t *testing.T) {
	for _, source := range hostile {
		started := time.Now()
		checkSafe(t, source, string(newDocumentRenderer().render(source, linkToSite)))
		checkSafe(t, source, string(snippetForTest(source)))
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("%.40q takes %v", source, took)
		}
	}
}

// snippetForTest is a snippet without its marks, which checkSafe does not permit in
// documents.
func snippetForTest(source string) string {
	return strings.NewReplacer("<mark>", "", "</mark>", "").Replace(string(snippet(&passage.Passage{Text: source}, []string{"alert", "script"})))
}

// The text of a snippet has no syntax of Markdown and no tags, but all signs of the text.
func TestSnippet(t *testing.T) {
	for _, test := range []struct{ path, source, want string }{
		{"a.md", "# Title\n\nTurn the *crank*, **twice**. See [the wheel](wheel#spin).", "Turn the crank, twice. See the wheel."},
		{"a.md", "Call `__init__` with *args* or \\*kwargs:\n\n```py\na_b_c = [1](2)\n```\n", "Call __init__ with args or *kwargs: a_b_c = [1](2)"},
		{"a.md", "| name | use |\n| --- | --- |\n| `-q` | quiet &amp; fast |", "name use -q quiet &amp; fast"},
		{"a.md", "- one\n- <b>two</b> <https://example.com/>\n\n<div>three &lt;</div>", "one two https://example.com/ three &lt;"},
		{"a.md", "# Only a title", "Only a title"},
		{"a.txt", "# no *Markdown*", "# no *Markdown*"},
		{"a.go", "// a_b_c *T", "// a_b_c *T"},
	} {
		if got := string(snippet(&passage.Passage{Path: test.path, Text: test.source}, nil)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.source, got, test.want)
		}
	}
}

func TestRender(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"# A\n\n*b* **c** ~~d~~ `e`", "<h2>A</h2>\n<p><em>b</em> <strong>c</strong> <del>d</del> <code>e</code></p>\n"},
		{"[x](../other#y)", `<p><a href="/read?db=manual&amp;ref=https%3A%2F%2Fdocs.example.com%2Fother%23y#passage">x</a></p>` + "\n"},
		{"[x](https://other.example/y)", `<p><a href="https://other.example/y" rel="noreferrer">x</a></p>` + "\n"},
		{"[x](javascript:y)", "<p>x</p>\n"},
		{"![a picture](https://other.example/y.png)", `<p><span class="image">a picture</span></p>` + "\n"},
		{"<details>\n<summary>More</summary>\nhidden\n</details>", "<p>More\nhidden</p>\n"},
		{"a <b>bold</b> word", "<p>a bold word</p>\n"},
		{"|a|\n|-|\n|b|", `<div class="scroll" tabindex="0"><table>` + "\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n</tbody>\n</table></div>\n"},
		{"3. x", `<ol start="3">` + "\n<li>x</li>\n</ol>\n"},
		{"```go\nif x < \"a\" { // 1\n```", `<pre tabindex="0"><code><span class="keyword">if</span> x &lt; <span class="string">&#34;a&#34;</span> { <span class="comment">// 1</span>` + "\n</code></pre>\n"},
	} {
		if got := string(newDocumentRenderer().render(test.source, linkToSite)); got != test.want {
			t.Errorf("%q becomes\n%s\nwant\n%s", test.source, got, test.want)
		}
	}
}

func TestResolveLink(t *testing.T) {
	for _, test := range []struct{ key, to, want string }{
		{"https://a.example/x/y", "z", "https://a.example/x/z"},
		{"https://a.example/x/y", "#z", "https://a.example/x/y#z"},
		{"/docs/x/y.md", "../z.md#a", "/docs/z.md#a"},
		{"docs/y.md", "/z.md", "/z.md"},
		{"docs/y.md", "https://b.example/", "https://b.example/"},
		{"docs/y.md", "mailto:a@b.example", ""},
		{"docs/y.md", "", ""},
	} {
		if got := resolveLink(test.key, test.to); got != test.want {
			t.Errorf("%q in %q leads to %q, want %q", test.to, test.key, got, test.want)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, source := range hostile {
		if len(source) < 200 {
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4096 {
			return
		}
		checkSafe(t, source, string(newDocumentRenderer().render(source, linkToSite)))
		checkSafe(t, source, snippetForTest(source))
	})
}

// FuzzHighlight holds that highlighting adds spans and changes nothing else.
func FuzzHighlight(f *testing.F) {
	f.Add("func x() { return \"a\" } // b", "go")
	f.Add("# a\nif '", "python")
	f.Add("/* open", "c")
	f.Add("`\\", "js")
	f.Fuzz(func(t *testing.T, code, language string) {
		var text strings.Builder
		z := html.NewTokenizer(strings.NewReader(highlight(code, language)))
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			if kind == html.TextToken {
				text.WriteString(z.Token().Data)
			}
		}
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD").Replace(strings.ToValidUTF8(code, "\uFFFD"))
		if text.String() != want {
			t.Errorf("%q becomes %q", want, text.String())
		}
	})
}
