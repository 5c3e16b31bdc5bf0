// Command eval measures docsearch on judged data and prints the tables of
// docs/quality.md. Run it with make eval. It exits 1 if a figure falls below its
// floor. It needs three folders:
//
//   - the collections, which are not part of this repository (DOCSEARCH_EVAL,
//     default ../shared/eval)
//   - the judged pages (DOCSEARCH_EVAL_DOCS, default .cache/eval/docs)
//   - the manuals of the queries in testdata (DOCSEARCH_EVAL_MANUALS, default
//     .cache/eval/manuals)
//
// It downloads pages and manuals to their default folders if they are missing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// A measure prints the tables of one aspect of quality.
type measure struct {
	name string
	run  func(*lab, *output) error
}

// measures are all measures, in the order of their tables.
var measures = []measure{
	{"search", (*lab).search},
	{"variants", (*lab).variants},
	{"names", (*lab).names},
	{"denials", (*lab).denials},
	{"notes", (*lab).notes},
	{"failures", (*lab).failures},
}

// An output collects tables and figures below their floor.
type output struct {
	tables strings.Builder
	cases  io.Writer // receives the single cases behind the tables
	misses []string
}

func main() {
	write := flag.String("write", "", "write the tables to `FILE`, between its marks")
	fit := flag.Bool("fit", false, "fit the confidence model, print its weights, and measure the current model on the training searches")
	only := flag.String("only", "", "run only these `MEASURES`, separated by commas: "+names(measures))
	list := flag.Bool("list", false, "print the cases behind each table, and each denial in full (never held-out cases)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, *write, *only, *fit, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, write, only string, fit, list bool) (ok bool, err error) {
	chosen, err := choose(only)
	if err != nil {
		return false, err
	}
	if write != "" && len(chosen) < len(measures) {
		return false, errors.New("cannot write some of the tables: -write needs all measures")
	}
	l := &lab{ctx: ctx}
	if l.collections = os.Getenv("DOCSEARCH_EVAL"); l.collections == "" {
		l.collections = filepath.Join("..", "shared", "eval")
	}
	if _, err := os.Stat(filepath.Join(l.collections, "docs", "queries.jsonl")); errors.Is(err, os.ErrNotExist) {
		fmt.Printf("skipped: no judged queries in %s; set DOCSEARCH_EVAL to the folder with the collections\n", l.collections)
		return true, nil
	}
	if err := l.prepare(); err != nil {
		return false, err
	}
	if fit {
		_, err := l.run([]measure{{"fit", (*lab).fit}}, list)
		return err == nil, err
	}
	out, err := l.run(chosen, list)
	if err != nil {
		return false, err
	}
	if write != "" {
		if err := put(write, out.tables.String()); err != nil {
			return false, err
		}
	}
	for _, m := range out.misses {
		fmt.Fprintln(os.Stderr, "missed:", m)
	}
	return len(out.misses) == 0, nil
}

// run prints the tables of some measures as they come.
func (l *lab) run(chosen []measure, list bool) (*output, error) {
	out := &output{cases: io.Discard}
	if list {
		out.cases = os.Stdout
	}
	for _, m := range chosen {
		from := out.tables.Len()
		if err := m.run(l, out); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Print(out.tables.String()[from:])
	}
	return out, nil
}

// choose returns the measures in a comma-separated list, all if it is empty.
func choose(only string) ([]measure, error) {
	if only == "" {
		return measures, nil
	}
	var chosen []measure
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(measures, func(m measure) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("invalid measure %q: want %s", name, names(measures))
		}
		chosen = append(chosen, measures[i])
	}
	return chosen, nil
}

func names(measures []measure) string {
	var list []string
	for _, m := range measures {
		list = append(list, m.name)
	}
	return strings.Join(list, ", ")
}

// A lab is the environment of the measures: folders, the program, and databases.
type lab struct {
	ctx         context.Context
	collections string
	cache       string // folder of generated files
	program     string // docsearch
	data        string // folder of the databases
	baseline    baseline

	docs     []built // databases of docSets, once they are built
	further  []built // and of furtherSets
	training []built // and of trainingSets
}

func (l *lab) prepare() (err error) {
	if l.cache, err = filepath.Abs(filepath.Join(".cache", "eval")); err != nil {
		return err
	}
	l.data = filepath.Join(l.cache, "data")
	if err := os.MkdirAll(l.data, 0o755); err != nil {
		return err
	}
	l.program = filepath.Join(l.cache, "docsearch")
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

// put replaces the text between the marks in the file.
func put(path, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	marks := regexp.MustCompile(`(?s)(<!-- generated by make eval -->\n).*(<!-- end -->\n)`)
	if !marks.Match(page) {
		return fmt.Errorf("%s has no marks for the tables: want <!-- generated by make eval --> and <!-- end -->", path)
	}
	page = marks.ReplaceAll(page, []byte("${1}"+strings.ReplaceAll(text, "$", "$$")+"${2}"))
	return os.WriteFile(path, page, 0o644)
}
