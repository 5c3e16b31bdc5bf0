//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Fifty tabs are open while their database is rebuilt and removed. Each shows results, or
// says why not, and the memory of the server stays bounded.
func TestWebManyTabs(t *testing.T) {
	s := webSession(t)
	address, pid := webProcess(t, s)
	first := openTab(t, address)
	path := filepath.Join(s.home, ".local", "share", "docsearch", "docsearch")
	pages := []string{"/?q=escape+hatch", "/?q=escape+hatch&why=1", "/databases", "/databases/details?path=" + url.QueryEscape(path), "/activity"}
	tabs := []*tab{first}
	for len(tabs) < 50 {
		ctx, closeTab := chromedp.NewContext(first.Context)
		t.Cleanup(closeTab)
		b := &tab{Context: ctx, base: first.base}
		chromedp.ListenTarget(ctx, b.observe)
		if err := chromedp.Run(ctx); err != nil { // opens the tab, which ends with this context
			t.Fatal(err)
		}
		b.run(t, network.Enable(), runtime.Enable(), chromedp.Navigate(b.base+pages[len(tabs)%len(pages)]), chromedp.WaitReady("#main"))
		tabs = append(tabs, b)
	}
	search := func(step string, want func(text string) bool) {
		for i, b := range tabs {
			b.run(t, chromedp.Navigate(b.base+fmt.Sprintf("/?q=escape+hatch+%d", i)), chromedp.WaitReady("#results"))
			if text := eval[string](t, b, `document.querySelector("#main").innerText`); !want(text) {
				t.Errorf("%s: tab %d shows\n%s", step, i, text)
			}
		}
	}
	hasResults := func(text string) bool { return strings.Contains(text, "hook.md") }
	ctx, stop := context.WithCancel(t.Context())
	rebuilds := make(chan int, 1)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			cmd := exec.Command(program(t), "index", "build", filepath.Join(root(t), "docs"), "--name", "docsearch")
			cmd.Dir, cmd.Env = s.project, s.env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("cannot rebuild: %v\n%s", err, out)
			}
		}
		rebuilds <- n
	}()
	t.Cleanup(stop)
	search("during rebuilds", hasResults)
	stop()
	if n := <-rebuilds; n < 2 {
		t.Errorf("%d rebuilds, want at least 2", n)
	}
	search("after rebuilds", hasResults)
	s.docsearch(t, "index", "remove", "docsearch", "--yes")
	search("after the removal", func(text string) bool { return strings.Contains(text, "no databases") && !hasResults(text) })
	for _, b := range tabs {
		b.check(t)
	}
	if peak, limit := peakMemory(t, pid), 100; peak > limit {
		t.Errorf("the server needs %d MB, want at most %d MB", peak, limit)
	} else {
		t.Logf("the server needs %d MB", peak)
	}
}

// peakMemory returns the peak resident memory of a process in MB, or 0 if
// the system does not report it.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes / 1000
}
