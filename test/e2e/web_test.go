//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/docsearch/docsearch/internal/file/filetest"
	"github.com/docsearch/docsearch/internal/index/indextest"
)

// axeVersion is the version of axe-core, which checks pages against WCAG.
const axeVersion = "4.14.1"

// webServer starts docsearch web and returns its address, with the token.
func webServer(t testing.TB, s *session) string {
	t.Helper()
	address, _ := webProcess(t, s)
	return address
}

// webProcess starts docsearch web and returns its address and its process ID.
func webProcess(t testing.TB, s *session) (address string, pid int) {
	t.Helper()
	cmd := exec.Command(program(t), "web", "--no-open")
	cmd.Dir, cmd.Env, cmd.Stderr = s.project, s.env, os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	address, err = bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address), cmd.Process.Pid
}

// A tab is a page in a headless browser, which may reach the server only.
type tab struct {
	context.Context
	base string

	mu      sync.Mutex
	strange []string // requests to others, errors and messages of scripts
}

// openTab opens an address of docsearch web.
func openTab(t testing.TB, address string) *tab {
	t.Helper()
	return openPage(t, address, address[:strings.Index(address, "/login")])
}

// openPage opens an address that leads to the pages of docsearch web at base.
func openPage(t testing.TB, address, base string) *tab {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("skipped: no Chromium on PATH")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.UserDataDir(filetest.TempDir(t)),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &tab{Context: ctx, base: base}
	chromedp.ListenTarget(ctx, b.observe)
	if err := chromedp.Run(ctx); err != nil { // starts the browser, which ends with this context
		t.Fatal(err)
	}
	b.run(t, network.Enable(), runtime.Enable(), chromedp.Navigate(address), chromedp.WaitReady("#query"))
	b.waitFor(t, `document.readyState === "complete"`) // Navigate waits only for the page that leads there
	return b
}

// observe records what no page may do.
func (b *tab) observe(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, b.base+"/") && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "file:") {
			b.strange = append(b.strange, "request to "+u)
		}
	case *runtime.EventExceptionThrown:
		b.strange = append(b.strange, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		b.strange = append(b.strange, fmt.Sprintf("console: %s %s", e.Type, e.Args[0].Value))
	}
}

func (b *tab) run(t testing.TB, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, 60*time.Second)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// eval returns the value of an expression in the page.
func eval[T any](t testing.TB, b *tab, expression string) (value T) {
	t.Helper()
	b.run(t, chromedp.Evaluate(expression, &value))
	return value
}

// check fails the test if the page did what no page may do.
func (b *tab) check(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.strange {
		t.Error(s)
	}
}

// The browser opens a file, so that its arguments, which other users see, contain neither
// the token nor the address. A server on another port of this machine does not get the
// cookie. A second use of the token ends the session, and the terminal says so.
func TestWebSession(t *testing.T) {
	s := webSession(t)
	bin, opened, stderr := t.TempDir(), filepath.Join(t.TempDir(), "opened"), filepath.Join(t.TempDir(), "stderr")
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$*\" >"+opened+".new\nmv "+opened+".new "+opened+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program(t), "web")
	cmd.Dir, cmd.Stderr = s.project, log
	cmd.Env = append(slices.Clone(s.env), "DISPLAY=:0", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	var arguments []byte
	for end := time.Now().Add(time.Minute); arguments == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		arguments, _ = os.ReadFile(opened)
	}
	file := string(arguments)
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 || strings.Contains(address, file) || strings.Contains(file, "token") {
		t.Fatalf("the browser opens %q: %v", file, err)
	}
	b := openPage(t, "file://"+file, address[:strings.Index(address, "/login")])
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
	b.check(t)

	cookies := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookies <- r.Header.Get("Cookie")
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>other</title>")
	}))
	defer other.Close()
	b.run(t, chromedp.Navigate(other.URL+"/login"), chromedp.WaitReady("title"))
	if got := <-cookies; got != "" {
		t.Errorf("a server on another port gets the cookie %q", got)
	}
	b.run(t, chromedp.Navigate(b.base+"/"), chromedp.WaitReady("#query"))

	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	b.run(t, chromedp.Navigate(b.base+"/"), chromedp.WaitReady("#main"))
	if response.StatusCode != http.StatusUnauthorized || eval[bool](t, b, `document.querySelector("#query") !== null`) {
		t.Errorf("after a second use of the token: status %s, and the session goes on", response.Status)
	}
	if text, err := os.ReadFile(stderr); err != nil || !strings.Contains(string(text), "used a second time") {
		t.Errorf("the terminal shows %q, %v", text, err)
	}
}

// webSession returns a session with a database and some decisions of the hook.
func webSession(t *testing.T) *session {
	t.Helper()
	s := &session{home: filetest.TempDir(t), project: filetest.TempDir(t)}
	s.env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filetest.TempDir(t), "LANG=C.UTF-8"}
	s.database(t)
	config := filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json")
	s.write(t, config, strings.Replace(read(t, config), "{", `{"hook": {"log_queries": true}, `, 1))
	for i, query := range []string{question, "docsearch config file", "weather in Oslo", question} {
		cmd := exec.Command(program(t), "hook")
		cmd.Dir, cmd.Env = s.project, s.env
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"web-%d","tool_name":"WebSearch","tool_input":{"query":%q}}`, i/3, query))
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 2 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return s
}

// Each page fits narrow and wide windows, in light and dark colors, and axe finds no
// violation. DOCSEARCH_SCREENSHOTS names a folder for pictures of them.
func TestWebPages(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(npm(t, "axe-core", axeVersion), "..", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := openTab(t, webServer(t, webSession(t)))
	b.run(t, chromedp.Navigate(b.base+"/?q=escape+hatch"), chromedp.WaitReady("#hits"))
	document := eval[string](t, b, `document.querySelector("#hit-1").href`)
	pages := map[string]string{"home": "/", "results": "/?q=escape+hatch", "why": "/?q=escape+hatch&why=1", "read": strings.TrimPrefix(document, b.base),
		"browse": "/browse?db=docsearch", "names": "/names?db=docsearch", "unknown": "/nowhere"}
	b.run(t, chromedp.Navigate(b.base+"/databases"), chromedp.WaitReady("#databases"))
	pages["details"] = strings.TrimPrefix(eval[string](t, b, `document.querySelector("#databases a").href`), b.base)
	for _, link := range eval[[]string](t, b, `[...document.querySelectorAll("header nav a")].map(a => a.href)`) {
		if link = strings.TrimPrefix(link, b.base); link != "/" {
			pages[strings.Trim(link, "/")] = link
		}
	}
	for _, name := range []string{"activity", "databases", "settings"} {
		if pages[name] == "" {
			t.Errorf("no page %s in %v", name, pages)
		}
	}
	for name, path := range pages {
		for _, width := range []int64{360, 800, 1440} {
			for _, scheme := range []string{"light", "dark"} {
				b.run(t, emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500),
					emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
					chromedp.Navigate(b.base+path), chromedp.WaitReady("#main"), chromedp.Sleep(200*time.Millisecond))
				if over := eval[int](t, b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
					t.Errorf("%s at %d pixels: %d pixels too wide", name, width, over)
				}
				var violations []string
				b.run(t, chromedp.Evaluate(string(axe), nil), chromedp.Evaluate(
					`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.html).slice(0, 3).join(" ")))`,
					&violations, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
				for _, v := range violations {
					t.Errorf("%s at %d pixels, %s: %s", name, width, scheme, v)
				}
				if folder := os.Getenv("DOCSEARCH_SCREENSHOTS"); folder != "" {
					b.picture(t, filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)))
				}
			}
		}
	}
	b.check(t)
}

// picture writes what the window shows to a file.
func (b *tab) picture(t testing.TB, path string) {
	t.Helper()
	var picture []byte
	b.run(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		picture, err = page.CaptureScreenshot().Do(ctx)
		return err
	}))
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestWebPicture writes the picture of the README to the file DOCSEARCH_PICTURE.
func TestWebPicture(t *testing.T) {
	path := os.Getenv("DOCSEARCH_PICTURE")
	if path == "" {
		t.Skip("skipped: DOCSEARCH_PICTURE names no file")
	}
	s := &session{home: filetest.TempDir(t), project: filetest.TempDir(t)}
	s.env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	// The picture shows the folder of the documents.
	folder := filepath.Join(os.TempDir(), "docsearch")
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(root(t), "docs"))); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	s.docsearch(t, "setup", "docsearch", folder, "--yes")
	b := openTab(t, webServer(t, s))
	b.run(t, emulation.SetDeviceMetricsOverride(1000, 760, 1, false), chromedp.Navigate(b.base+"/?q=docsearch+retry+a+denied+search&why=1"), chromedp.WaitReady("#hits"))
	b.picture(t, path)
}

// BenchmarkWeb measures the page in a browser: the size of the first load, the time until
// it can be used, and the time from a changed query until its results are painted.
// DOCSEARCH_BENCH_LARGE selects a database of 1,000,000 passages.
func BenchmarkWeb(b *testing.B) {
	passages := 36_000
	if os.Getenv("DOCSEARCH_BENCH_LARGE") != "" {
		passages = 1_000_000
	}
	s := &session{home: b.TempDir(), project: b.TempDir()}
	s.env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
	config := map[string]any{"databases": []any{map[string]any{"keywords": []string{"manual"}, "description": "made-up manual", "path": indextest.Database(b, passages)}}}
	data, err := json.Marshal(config)
	if err != nil {
		b.Fatal(err)
	}
	s.write(b, filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json"), string(data))
	page := openTab(b, webServer(b, s))
	queries, err := json.Marshal(indextest.Queries(100))
	if err != nil {
		b.Fatal(err)
	}
	painted := fmt.Sprintf(`(async queries => {
		const field = document.getElementById("query"), results = document.getElementById("results"), times = [];
		for (const text of queries) {
			const done = new Promise(ok => new MutationObserver((_, o) => {
				o.disconnect();
				requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => ok(performance.now()); c.port2.postMessage(0); });
			}).observe(results, {childList: true}));
			field.value = text;
			const start = performance.now();
			field.dispatchEvent(new Event("input", {bubbles: true}));
			times.push(await done - start);
		}
		return times.sort((a, b) => a - b);
	})(%s)`, queries)
	for b.Loop() {
		page.run(b, network.SetCacheDisabled(true), chromedp.Navigate(page.base+"/"), chromedp.WaitReady("#query"))
		loaded := eval[[]float64](b, page, `[performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd, ["navigation", "resource"].flatMap(t => performance.getEntriesByType(t)).reduce((n, e) => n + e.transferSize, 0)]`)
		var times []float64
		page.run(b, chromedp.Evaluate(painted, &times, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		b.ReportMetric(loaded[0], "usable-ms")
		b.ReportMetric(loaded[1]/1000, "load-kB")
		b.ReportMetric(times[len(times)/2], "painted-p50-ms")
		b.ReportMetric(times[len(times)*95/100], "painted-p95-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// Ten tasks need only the keyboard.
func TestWebTasks(t *testing.T) {
	b := openTab(t, webServer(t, webSession(t)))
	press := func(key, code string, modifiers input.Modifier) { // without its character: the protocol sends that even if the page prevents it
		b.run(t, input.DispatchKeyEvent(input.KeyRawDown).WithKey(key).WithCode(code).WithModifiers(modifiers),
			input.DispatchKeyEvent(input.KeyUp).WithKey(key).WithCode(code).WithModifiers(modifiers))
	}
	enter := func(selector string) {
		b.tabTo(t, selector)
		b.run(t, chromedp.KeyEvent(kb.Enter))
	}
	write := func(text string) { // in the search field, in place of its text
		press("k", "KeyK", input.ModifierCtrl)
		b.waitFor(t, `document.activeElement.id === "query"`)
		b.run(t, chromedp.KeyEvent(text))
	}
	home := func() { b.run(t, chromedp.Navigate(b.base+"/"), chromedp.WaitReady("#home")) }
	for _, task := range []struct {
		name string
		do   func()
	}{
		{"go to the search from any page", func() {
			b.run(t, chromedp.Navigate(b.base+"/settings"), chromedp.WaitReady("#doctor"))
			press("k", "KeyK", input.ModifierCtrl)
			b.waitFor(t, `document.activeElement.id === "query" && document.querySelector("#home") !== null`)
			b.run(t, chromedp.Evaluate(`document.activeElement.blur()`, nil))
			press("/", "Slash", 0)
			b.waitFor(t, `document.activeElement.id === "query"`)
		}},
		{"search and read a result", func() {
			write("escape hatch")
			b.waitFor(t, `location.search === "?q=escape+hatch" && document.querySelector("#hit-2") !== null && document.querySelector("#home").hidden`)
			b.run(t, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
			b.waitFor(t, `document.activeElement.id === "hit-2"`)
			b.run(t, chromedp.KeyEvent(kb.Enter), chromedp.WaitReady("#document .marked"))
		}},
		{"return to the same result", func() {
			b.run(t, chromedp.NavigateBack())
			b.waitFor(t, `document.activeElement.id === "hit-2" && document.querySelector("#query").value === "escape hatch"`)
		}},
		{"take the correction of a word", func() {
			write("kyeword matching")
			b.run(t, chromedp.WaitReady("#correction"))
			enter("#correction a")
			b.waitFor(t, `document.querySelector("#query")?.value === "keyword matching" && document.querySelector("#correction") === null`)
		}},
		{"browse to a page", func() {
			home()
			enter(`.databases h3 a`)
			b.run(t, chromedp.WaitReady("#places"))
			enter("#places a")
			b.run(t, chromedp.WaitReady("#document"))
		}},
		{"find a name", func() {
			home()
			enter(`a[aria-label^="Names, A to Z"]`)
			b.run(t, chromedp.WaitReady(".path"))
			enter(`.path a:not([aria-current]):not([href$="%23"])`)
			b.run(t, chromedp.WaitReady("#places"))
			enter("#places a")
			b.run(t, chromedp.WaitReady("#document .marked"))
		}},
		{"repeat a search", func() {
			home()
			enter("#recent a")
			b.run(t, chromedp.WaitReady("#hits"))
		}},
		{"see what happens to a web search", func() {
			write(question)
			b.waitFor(t, `new URLSearchParams(location.search).get("q") === document.querySelector("#query").value`)
			enter("#why")
			b.run(t, chromedp.WaitReady("#verdict"))
			enter("#verdict summary")
			b.waitFor(t, `document.querySelector("#verdict details").open`)
		}},
		{"mark a decision as wrong", func() {
			home()
			enter(`#events a[href$="/activity"]`)
			b.run(t, chromedp.WaitReady(`[aria-label^="This was wrong"]`))
			enter(`[aria-label^="This was wrong"]`)
			b.run(t, chromedp.WaitReady(`[aria-label^="Undo"]`))
		}},
		{"change the keywords and the mode of a database", func() {
			enter(`header a[href$="/databases"]`)
			b.run(t, chromedp.WaitReady("#databases"))
			enter("#databases .asked a")
			b.run(t, chromedp.WaitReady("#keywords"))
			b.tabTo(t, "#keywords")
			b.run(t, chromedp.KeyEvent(kb.End+", escape hatch"))
			b.tabTo(t, "#mode")
			b.run(t, chromedp.KeyEvent(kb.End))
			b.tabTo(t, "#save")
			b.run(t, chromedp.KeyEvent(kb.Enter))
			b.waitFor(t, `location.hash === "#settings" && document.querySelector("#keywords").value === "docsearch, escape hatch" && document.querySelector("#mode").value === "off"`)
		}},
	} {
		t.Log(task.name)
		task.do()
	}
	b.check(t)
}

// tabTo presses Tab until an element has the focus.
func (b *tab) tabTo(t *testing.T, selector string) {
	t.Helper()
	for range 80 {
		b.run(t, chromedp.KeyEvent(kb.Tab))
		if eval[bool](t, b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	t.Fatalf("Tab never reaches %s", selector)
}

// waitFor waits until an expression is true, also on a page that follows.
func (b *tab) waitFor(t testing.TB, expression string) {
	t.Helper()
	for range 300 {
		var is bool
		if chromedp.Run(b, chromedp.Evaluate(expression, &is)) == nil && is { // an error: between two pages
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("never true: %s", expression)
}

// Rebuilding and removing a database, and checking the installation, need only the keyboard.
func TestWebManagementKeyboard(t *testing.T) {
	s := webSession(t)
	b := openTab(t, webServer(t, s))
	b.run(t, chromedp.Navigate(b.base+"/databases"), chromedp.WaitReady("#databases"))
	b.tabTo(t, `[aria-label^="Rebuild"]`)
	b.run(t, chromedp.KeyEvent(kb.Enter))
	b.waitFor(t, `document.querySelector("#jobs .outcome")?.textContent === "done"`)

	b.run(t, chromedp.Navigate(b.base+"/settings"))
	b.tabTo(t, "#check")
	b.run(t, chromedp.KeyEvent(kb.Enter))
	b.waitFor(t, `document.querySelector("#doctor").innerText.includes("config")`)

	b.run(t, chromedp.Navigate(b.base+"/databases"), chromedp.WaitReady("#databases"))
	b.tabTo(t, `[aria-label^="Remove"]`)
	b.run(t, chromedp.KeyEvent(kb.Enter), chromedp.WaitReady(`form[method="post"][action$="/databases/remove"]`))
	b.tabTo(t, `form[method="post"][action$="/databases/remove"] button`)
	b.run(t, chromedp.KeyEvent(kb.Enter))
	b.waitFor(t, `document.querySelector("#databases")?.innerText.includes("no databases")`)
	if _, err := os.Stat(filepath.Join(s.home, ".local", "share", "docsearch", "docsearch")); err == nil {
		t.Error("the database is still there")
	}
	b.check(t)
}

// Nothing in a document runs or loads anything, and the page stays usable.
func TestWebHostileDocuments(t *testing.T) {
	s := &session{home: filetest.TempDir(t), project: filetest.TempDir(t)}
	s.env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filetest.TempDir(t)}
	attacks := []string{
		`<script>window.harm=1</script>`, `<img src="https://evil.example/x.png" onerror="window.harm=1">`,
		`[link](javascript:window.harm=1)`, `<a href="javascript:window.harm=1">a</a>`, `<svg onload="window.harm=1"><script>window.harm=1</script></svg>`,
		`<style>@import "https://evil.example/a.css"; main{display:none}</style>`, `<div style="position:fixed;inset:0;background:url(https://evil.example/b)">x</div>`,
		`</main></body><script>window.harm=1</script>`, `<iframe srcdoc="<script>parent.harm=1</script>"></iframe>`, `<base href="https://evil.example/">`,
		`<form action="https://evil.example/"><button>send</button></form>`, `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
		`![image](https://evil.example/c.png)`, `<b><i><b><table><tr><td></b>broken nesting`, strings.Repeat("long line ", 1<<20),
	}
	folder := filepath.Join(s.project, "hostile")
	for i, attack := range attacks {
		s.write(t, filepath.Join(folder, fmt.Sprintf("attack%d.md", i)), fmt.Sprintf("# Attack %d zebra\n\n%s\n\nThe zebra ends here.\n", i, attack))
	}
	s.docsearch(t, "index", "build", folder, "--name", "hostile")
	b := openTab(t, webServer(t, s))
	for i := range attacks {
		b.run(t, chromedp.Navigate(fmt.Sprintf("%s/?q=attack+%d+zebra", b.base, i)), chromedp.WaitReady("#hits"),
			chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll("#hits a")].find(a => a.textContent.includes("Attack %d zebra")).click()`, i), nil),
			chromedp.WaitReady("#document"), chromedp.Sleep(100*time.Millisecond))
		if eval[bool](t, b, `"harm" in window`) {
			t.Errorf("attack %d ran: %.80s", i, attacks[i])
		}
		if text := eval[string](t, b, `document.querySelector("#document h1").innerText`); !strings.Contains(text, "Attack") {
			t.Errorf("attack %d: the page shows %q", i, text)
		}
		if found := eval[int](t, b, `document.querySelectorAll("#document :is(script, iframe, object, embed, style, form, base, meta, img, [style], [onerror], [onload])").length`); found > 0 {
			t.Errorf("attack %d: %d elements that may do harm", i, found)
		}
	}
	b.check(t)

	// A page of another site can neither frame the page nor read it.
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<iframe src=%q></iframe><script>fetch(%q, {credentials: "include"}).then(r => r.text()).then(() => document.title = "read", () => document.title = "refused")</script>`, b.base+"/", b.base+"/")
	}))
	defer other.Close()
	b.run(t, chromedp.Navigate(other.URL), chromedp.Poll(`document.title !== ""`, nil))
	if title := eval[string](t, b, `document.title`); title != "refused" {
		t.Errorf("another site has %s the page", title)
	}
	if eval[bool](t, b, `(() => { try { return frames[0].document !== null } catch { return false } })()`) {
		t.Error("another site has framed the page")
	}
	for name, change := range map[string]func(*http.Request){
		"another host": func(r *http.Request) { r.Host = "docs.example.com" },
		"no session":   func(*http.Request) {},
		"other origin": func(r *http.Request) { r.Method = http.MethodPost; r.Header.Set("Origin", "https://evil.example") },
	} {
		r, err := http.NewRequest(http.MethodGet, b.base+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode < 400 {
			t.Errorf("%s: status %s", name, response.Status)
		}
	}
}
