// Command eval measures docsearch on judged data and prints the tables of
// docs/quality.md. Run it with make eval, in the folder of the repository. It exits with status 1 if a figure is below
// its floor. It needs four folders:
//
//   - the collections, which are not part of this repository (DOCSEARCH_EVAL,
//     default ../shared/eval)
//   - the judged pages (DOCSEARCH_EVAL_DOCS, default .cache/eval/docs)
//   - the manuals of the queries in testdata (DOCSEARCH_EVAL_MANUALS, default
//     .cache/eval/manuals)
//   - the manuals of the calibration searches (DOCSEARCH_EVAL_CALIBRATION, default
//     .cache/eval/calibration)
//
// It downloads missing pages and manuals to their default folders.
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
	run  func(*harness, *output) error
}

// measures lists all measures in the order of their tables.
var measures = []measure{
	{"search", (*harness).search},
	{"variants", (*harness).variants},
	{"names", (*harness).names},
	{"denials", (*harness).denials},
	{"calibration", (*harness).calibrate},
	{"phrases", (*harness).phrases},
	{"cost", (*harness).cost},
	{"notes", (*harness).notes},
	{"failures", (*harness).failures},
	{"cluster", (*harness).cluster},
}

// An output collects the tables and the figures below their floor.
type output struct {
	tables strings.Builder
	cases  io.Writer // receives the individual cases behind the tables
	misses []string
}

// check records a figure that is below its floor.
func (o *output) check(figure string, have, floor float64) {
	if have < floor {
		o.misses = append(o.misses, fmt.Sprintf("%s is %.3f, below its floor of %.3f", figure, have, floor))
	}
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
	l := &harness{ctx: ctx}
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
		_, err := l.run([]measure{{"fit", (*harness).fit}}, list)
		return err == nil, err
	}
	out, err := l.run(chosen, list)
	if err != nil {
		return false, err
	}
	if write != "" {
		if err := replaceTables(write, out.tables.String()); err != nil {
			return false, err
		}
	}
	for _, m := range out.misses {
		fmt.Fprintln(os.Stderr, "missed:", m)
	}
	return len(out.misses) == 0, nil
}

// run runs measures and prints their tables.
func (l *harness) run(chosen []measure, list bool) (*output, error) {
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

// choose parses a comma-separated list of measures. An empty list means all.
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

// A harness contains the environment of the measures: folders, the program, and
// databases.
type harness struct {
	ctx         context.Context
	collections string
	cache       string // folder of generated files
	program     string // path of docsearch
	data        string // folder of the databases
	baseline    baseline

	docs, further, training, calibration library
}

func (l *harness) prepare() (err error) {
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
	script := filepath.Join("test", "eval", "manuals.sh")
	l.docs = library{manuals: docSets, variable: "DOCSEARCH_EVAL_DOCS", folder: "docs", script: filepath.Join(l.collections, "docs", "fetch.sh")}
	l.further = library{manuals: furtherSets, variable: "DOCSEARCH_EVAL_MANUALS", folder: "manuals", script: script}
	l.training = library{manuals: trainingSets, variable: "DOCSEARCH_EVAL_MANUALS", folder: "manuals", script: script}
	l.calibration = library{manuals: calibrationSets, variable: "DOCSEARCH_EVAL_CALIBRATION", folder: "calibration", script: filepath.Join("test", "eval", "calibration.sh")}
	return nil
}

// command returns a command that writes to standard error.
func (l *harness) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(l.ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "DOCSEARCH_DATA="+l.data, "DOCSEARCH_CONFIG_PATH="+filepath.Join(l.data, "no-config.json"))
	return cmd
}

// replaceTables replaces the text between the marks in the file.
func replaceTables(path, text string) error {
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
