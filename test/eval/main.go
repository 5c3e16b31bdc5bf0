// Command eval measures the search on judged queries and prints the tables of
// docs/quality.md: run it as make eval. It needs the collections, which are not
// part of this repository (DOCSEARCH_EVAL, else ../shared/eval), and the pages
// that they judge (DOCSEARCH_EVAL_DOCS, else .cache/eval/docs, where they are
// brought to). It exits 1 if a figure falls below its floor.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/eval"
)

// docSets are the sets of documentation, and what of them is left out: pages
// whose questions are among the queries, and pages that are made of the others.
var docSets = []struct {
	name    string
	exclude []string
}{
	{"python", []string{"faq", "contents.html"}},
	{"postgresql", nil},
	{"django", []string{"faq", "contents.html"}},
	{"git", []string{"gitfaq.html", "RelNotes"}},
	{"sqlite", []string{"faq.html", "keyword_index*", "sitemap*", "matrix*"}},
	{"nodejs", []string{"all.html"}},
	{"cmake", []string{"/release"}},
}

// classicSets are the collections of documents that are one passage each.
var classicSets = []string{"cranfield", "cisi", "cacm", "scifact-train", "cosqa-dev"}

func main() {
	write := flag.String("write", "", "put the tables into this `file`, between the lines that mark their place")
	fit := flag.Bool("fit", false, "print the weights that confidence is reckoned with, fitted anew")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, *write, *fit)
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, write string, fit bool) (ok bool, err error) {
	l := &lab{ctx: ctx}
	if l.collections = os.Getenv("DOCSEARCH_EVAL"); l.collections == "" {
		l.collections = filepath.Join("..", "shared", "eval")
	}
	if _, err := os.Stat(filepath.Join(l.collections, "docs", "queries.jsonl")); errors.Is(err, os.ErrNotExist) {
		fmt.Printf("skipped: %s has no judged queries; DOCSEARCH_EVAL names the folder that has\n", l.collections)
		return true, nil
	}
	if err := l.prepare(); err != nil {
		return false, err
	}
	if fit {
		return true, l.fit(os.Stdout)
	}
	r, err := l.measure()
	if err != nil {
		return false, err
	}
	var b strings.Builder
	misses := r.tables(&b)
	fmt.Print(b.String())
	if write != "" {
		if err := put(write, b.String()); err != nil {
			return false, err
		}
	}
	for _, m := range misses {
		fmt.Fprintln(os.Stderr, "missed:", m)
	}
	return len(misses) == 0, nil
}

// A lab is where the measuring is done.
type lab struct {
	ctx         context.Context
	collections string
	docs        string // folder of the documentation sets
	program     string // docsearch
	data        string // folder of the databases
	baseline    baseline
}

func (l *lab) prepare() error {
	cache, err := filepath.Abs(filepath.Join(".cache", "eval"))
	if err != nil {
		return err
	}
	l.data = filepath.Join(cache, "data")
	if err := os.MkdirAll(l.data, 0o755); err != nil {
		return err
	}
	if l.docs = os.Getenv("DOCSEARCH_EVAL_DOCS"); l.docs == "" {
		l.docs = filepath.Join(cache, "docs")
		if _, err := os.Stat(filepath.Join(l.docs, docSets[len(docSets)-1].name)); err != nil {
			if err := l.command("bash", filepath.Join(l.collections, "docs", "fetch.sh"), l.docs).Run(); err != nil {
				return fmt.Errorf("bring the documentation: %w", err)
			}
		}
	}
	l.program = filepath.Join(cache, "docsearch")
	if runtime.GOOS == "windows" {
		l.program += ".exe"
	}
	if err := l.command("go", "build", "-trimpath", "-o", l.program, "./cmd/docsearch").Run(); err != nil {
		return fmt.Errorf("build docsearch: %w", err)
	}
	l.baseline = findBaseline(l.ctx)
	return nil
}

// command is a command that writes to standard error.
func (l *lab) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(l.ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "DOCSEARCH_DATA="+l.data, "DOCSEARCH_CONFIG_PATH="+filepath.Join(l.data, "no-config.json"))
	return cmd
}

// A report is all that was measured.
type report struct {
	scoped, unscoped evaluation
	built            []built
	baselines        map[string]eval.Measures // pages, by set
	all, allUnscoped *eval.Measures           // the baseline's, of all sets
	classic          []classic
	baseline         baseline
}

type built struct {
	Name      string
	Passages  int
	Documents int
	TextBytes int64 `json:"text_bytes"`
	Bytes     int64 `json:"index_bytes"`
	Took      time.Duration
}

type classic struct {
	name          string
	documents     int
	ours          eval.Measures
	baseline      *eval.Measures
	median, worst float64 // milliseconds
}

func (l *lab) measure() (*report, error) {
	r := &report{baseline: l.baseline}
	var databases []string
	for _, set := range docSets {
		args := []string{"--name", set.name, "--include", "*.html", "--exclude", "/_*"}
		for _, e := range set.exclude {
			args = append(args, "--exclude", e)
		}
		b, err := l.build(filepath.Join(l.docs, set.name), args...)
		if err != nil {
			return nil, err
		}
		b.Name = set.name
		r.built = append(r.built, b)
		databases = append(databases, "--db", set.name)
	}
	docs := filepath.Join(l.collections, "docs")
	queries := filepath.Join(docs, "queries.jsonl")
	args := append(databases, "--queries", queries)
	if err := l.eval(&r.scoped, append(args, "--identifiers", filepath.Join(docs, "identifiers.jsonl"), "--confidence")...); err != nil {
		return nil, err
	}
	if err := l.eval(&r.unscoped, append(args, "--unscoped")...); err != nil {
		return nil, err
	}
	if err := l.docsBaseline(r, queries); err != nil {
		return nil, err
	}
	for _, set := range classicSets {
		c, err := l.classic(set)
		if err != nil {
			return nil, err
		}
		r.classic = append(r.classic, c)
	}
	return r, nil
}

// build builds a database.
func (l *lab) build(source string, args ...string) (built, error) {
	cmd := l.command(l.program, append([]string{"index", "build", source, "--json"}, args...)...)
	cmd.Stdout = nil
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return built{}, fmt.Errorf("build %s: %w", source, err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var last struct {
		Built built
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		return built{}, fmt.Errorf("build %s: %w", source, err)
	}
	last.Built.Took = time.Since(began)
	return last.Built, nil
}

// eval runs docsearch eval.
func (l *lab) eval(out *evaluation, args ...string) error {
	cmd := l.command(l.program, append([]string{"eval", "--json"}, args...)...)
	cmd.Stdout = nil
	data, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("docsearch eval: %w", err)
	}
	return json.Unmarshal(data, out)
}

// classic measures a collection whose documents are passages.
func (l *lab) classic(set string) (classic, error) {
	c := classic{name: set}
	dir := filepath.Join(l.collections, "classic", set)
	documents, err := eval.ReadCorpus(dir)
	if err != nil {
		return c, err
	}
	c.documents = len(documents)
	database := filepath.Join(l.data, set)
	rows, err := writeCorpus(database, documents)
	if err != nil {
		return c, err
	}
	if _, err := l.build(database); err != nil {
		return c, err
	}
	queriesPath, qrels := filepath.Join(dir, "queries.jsonl"), filepath.Join(dir, "qrels.tsv")
	var out evaluation
	if err := l.eval(&out, "--db", database, "--queries", queriesPath, "--qrels", qrels); err != nil {
		return c, err
	}
	c.ours, c.median, c.worst = out.Queries.Page, out.Queries.Latency.P50, out.Queries.Latency.P99
	if !l.baseline.found() {
		return c, nil
	}
	queries, err := eval.ReadJudged(queriesPath, qrels)
	if err != nil {
		return c, err
	}
	ranked, err := l.baseline.rank(rows, queries)
	if err != nil {
		return c, err
	}
	var all []eval.Measures
	for i := range queries {
		var ids []string
		for _, n := range ranked[i] {
			ids = append(ids, documents[n].ID)
		}
		all = append(all, eval.Measure(queries[i].Ranked(ids)))
	}
	mean := eval.Mean(all)
	c.baseline = &mean
	return c, nil
}

// put replaces what stands between the marks in the file.
func put(path, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	marks := regexp.MustCompile(`(?s)(<!-- made by make eval -->\n).*(<!-- end -->\n)`)
	if !marks.Match(page) {
		return fmt.Errorf("%s has no place for the tables", path)
	}
	page = marks.ReplaceAll(page, []byte("${1}"+strings.ReplaceAll(text, "$", "$$")+"${2}"))
	return os.WriteFile(path, page, 0o644)
}
