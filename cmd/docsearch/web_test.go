package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWeb uses the page of "docsearch web" as a browser does.
func TestWeb(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{"HOME": dir, "DOCSEARCH_DATA": filepath.Join(dir, "data"), "DOCSEARCH_STATE_DIR": filepath.Join(dir, "state"),
		"DOCSEARCH_CACHE_DIR": filepath.Join(dir, "cache"), "DOCSEARCH_CONFIG_PATH": filepath.Join(dir, "config.json")} {
		t.Setenv(name, value)
	}
	t.Chdir(dir)
	for name, text := range map[string]string{
		"docs/widget.md": "# Widgets\n\n## Spin a widget backwards\n\nTurn the crank of the widget to the left: the widget spins backwards.\n",
		"config.json":    `{"databases": [{"keywords": ["widget"], "path": "` + filepath.ToSlash(filepath.Join(dir, "widget")) + `", "description": "Widgets"}]}`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code := run(t.Context(), []string{"index", "build", "docs", "--out", "widget", "--quiet"}, strings.NewReader(""), io.Discard, os.Stderr); code != exitOK {
		t.Fatalf("index build: exit code %d", code)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	stdout, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"web", "--no-open"}, strings.NewReader(""), w, os.Stderr)
		w.Close()
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != exitOK {
			t.Errorf("exit code %d", code)
		}
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base, _, _ := strings.Cut(address, "/login")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(browser.CloseIdleConnections)
	get := func(url string) string {
		res, err := browser.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s %v", url, res.Status, body, err)
		}
		return string(body)
	}
	get(strings.TrimSpace(address))
	page := get(base + "/?q=widget+spin+backwards+crank&why=1")
	for _, want := range []string{"denied, with passages from widget", "keyword: &#34;widget&#34;", "Found in local documentation (Widgets)", `class="hit-link"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
