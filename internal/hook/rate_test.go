package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
)

// A rule with a rate applies only to calls that exceed it, and later rules apply to the
// others. Each session and each rule is counted separately.
func TestRate(t *testing.T) {
	rated, next := rule("poll", "Bash", "gh run view", config.ActionDeny), rule("gh", "Bash", "gh", config.ActionWarn)
	rated.Rate = config.Rate{Calls: 2, Seconds: 60}
	c, l := testConfig("", ""), config.Locations{State: t.TempDir()}
	routes := rulesIn(t, rated, next)
	var got []string
	for i, step := range []struct {
		second  int64
		session string
		line    string
	}{
		{0, "a", "gh run view 1"}, {10, "a", "gh run view 1"}, {20, "a", "gh run view 2"}, {30, "b", "gh run view 1"},
		{40, "a", "gh pr list"}, {59, "a", "gh run view 1"}, {61, "a", "gh run view 1"}, {62, "a", "gh run view 1"}, {71, "a", "gh run view 1"},
	} {
		p := &Process{Now: func() time.Time { return at(step.second) }, Getenv: noEnv}
		p.Rules = func(_ string, candidate func(*config.Rule) bool) ([]config.Rule, []string, error) {
			rules, err := routes.Rules(candidate)
			return rules, nil, err
		}
		e := bashEvent(step.line)
		e.Session, e.Use = step.session, fmt.Sprint("use", i)
		d := p.Decide(e, c, l, fakeSearcher{})
		if len(d.Faults) > 0 {
			t.Errorf("faults %q", d.Faults)
		}
		got = append(got, fmt.Sprintf("%d %s: %s%s%s", step.second, step.session, d.Verdict, d.Reason, d.Context))
	}
	want := []string{
		"0 a: no gh", "10 a: no gh", "20 a: denyno poll", "30 b: no gh",
		"40 a: no gh", "59 a: denyno poll", "61 a: no gh", "62 a: denyno poll", "71 a: no gh",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Without a count, no call is denied.
func TestRateWithoutState(t *testing.T) {
	rated := rule("poll", "Bash", "gh", config.ActionDeny)
	rated.Rate = config.Rate{Calls: 1, Seconds: 60}
	p := &Process{Now: func() time.Time { return at(0) }, Getenv: noEnv}
	p.Rules = func(string, func(*config.Rule) bool) ([]config.Rule, []string, error) {
		return []config.Rule{rated}, nil, nil
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"", file} {
		for range 3 {
			d := p.Decide(bashEvent("gh x"), testConfig("", ""), config.Locations{State: state}, fakeSearcher{})
			if d.Verdict != Pass || len(d.Faults) != 1 || !strings.HasPrefix(d.Faults[0], "rule poll skipped: cannot count calls: ") {
				t.Errorf("verdict %q, faults %q", d.Verdict, d.Faults)
			}
		}
	}
}

// A Run that needs main after the count does not count the call again.
func TestRateIsCountedOnce(t *testing.T) {
	rated := rule("poll", "Bash", "gh", config.ActionDeny)
	rated.Rate = config.Rate{Calls: 1, Seconds: 60}
	parsed := rule("parsed", "Bash", "gh", config.ActionWarn)
	parsed.Parsed = true
	rules, err := rulesIn(t, rated, parsed).Rules(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{Now: func() time.Time { return at(0) }, Getenv: noEnv}
	p.Rules = func(string, func(*config.Rule) bool) ([]config.Rule, []string, error) { return rules, nil, nil }
	l := config.Locations{State: t.TempDir()}
	e := bashEvent("gh x")
	d := p.Decide(e, testConfig("", ""), l, fakeSearcher{})
	if !d.NeedsMain {
		t.Fatalf("%+v", d)
	}
	p.NeedsMain = true
	p.Commands = func(line string) ([]string, error) { return []string{line}, nil }
	if d := p.Decide(e, testConfig("", ""), l, fakeSearcher{}); d.Verdict != Pass || d.Context != "no parsed" {
		t.Errorf("%+v", d)
	}
	p.NeedsMain = false
	if d := p.Decide(e, testConfig("", ""), l, fakeSearcher{}); d.Verdict != Deny {
		t.Errorf("the next call: %+v", d)
	}
}

func TestCountCall(t *testing.T) {
	store, rate := Store{t.TempDir()}, config.Rate{Calls: 2, Seconds: 10}
	count := func(rule, use string, second int64, want int) {
		t.Helper()
		if n, err := store.countCall("a/b", rule, use, rate, at(second)); err != nil || n != want {
			t.Errorf("%q of %s at %d: call %d, %v; want %d", use, rule, second, n, err, want)
		}
	}
	count("r\t\n", "1", 0, 1)
	count("r\t\n", "1", 0, 1) // a copy of the hook
	count("r\t\n", "2", 1, 2)
	count("r\t\n", "1", 1, 1)
	count("r\t\n", "3", 2, 3)
	count("r\t\n", "3", 3, 3)
	count("r", "3", 3, 1)
	count("r\t\n", "4", 10, 2) // the first one has expired
	count("r\t\n", "5", 10, 3)
	path := filepath.Join(store.Dir, mustGlob(t, store.Dir, "docsearch-rates-a_b-*.txt"))
	if err := os.WriteFile(path, []byte("corrupt\n\n9999999999999999999\t\"r\"\n\xff\t"), 0o600); err != nil {
		t.Fatal(err)
	}
	count("r", "6", 20, 1)
	if err := os.Truncate(path, maxRatesFile+1); err != nil {
		t.Fatal(err)
	}
	count("r", "7", 21, 1)
	old := at(0)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := store.countCall("new", "r", "", rate, old.Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := mustGlob(t, store.Dir, "docsearch-rates-*"); got != "docsearch-rates-new.txt" {
		t.Errorf("files %s", got)
	}
}

func mustGlob(t *testing.T, dir, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %q, %v", pattern, paths, err)
	}
	return filepath.Base(paths[0])
}

// Parallel calls are all counted.
func TestCountCallInParallel(t *testing.T) {
	store, rate := Store{t.TempDir()}, config.Rate{Calls: 10, Seconds: 60}
	var mu sync.Mutex
	var wg sync.WaitGroup
	allowed := 0
	for i := range 30 {
		wg.Go(func() {
			n, err := store.countCall("s", "r", fmt.Sprint(i), rate, at(0))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if n <= rate.Calls {
				allowed++
			}
		})
	}
	wg.Wait()
	if allowed != rate.Calls {
		t.Errorf("%d calls ran, want %d", allowed, rate.Calls)
	}
}
