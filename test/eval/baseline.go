package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// A baseline runs SQLite's full-text search in the first available program that
// supports it. It uses Porter stemming, query words joined by OR, and bm25 with
// default weights, as many documentation search tools do.
type baseline struct {
	ctx     context.Context
	command []string // reads SQL, one statement per line, and writes rows with columns separated by |
	version string
}

// pythonShell makes python3 read SQL from standard input, as sqlite3 does.
const pythonShell = `import sqlite3, sys
db = sqlite3.connect(":memory:")
for line in sys.stdin:
    for row in db.execute(line):
        print("|".join(map(str, row)))`

func findBaseline(ctx context.Context) baseline {
	for _, command := range [][]string{{"sqlite3", "-batch", ":memory:"}, {"python3", "-c", pythonShell}} {
		b := baseline{ctx: ctx, command: command}
		rows, err := b.run([]byte("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61');\nSELECT sqlite_version();\n"))
		if err == nil && len(rows) == 1 {
			b.version = rows[0]
			return b
		}
	}
	return baseline{}
}

func (b *baseline) found() bool { return b.version != "" }

func (b *baseline) run(sql []byte) ([]string, error) {
	cmd := exec.CommandContext(b.ctx, b.command[0], b.command[1:]...)
	cmd.Stdin = bytes.NewReader(sql)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.command[0], err)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}

// A row is a passage in the baseline's table.
type row struct{ title, headings, text string }

// rank returns the numbers of the best rows for each query.
func (b *baseline) rank(rows []row, queries []eval.Query) ([][]int, error) {
	const limit = 100 // because a page may have many rows
	var sql bytes.Buffer
	sql.WriteString("CREATE VIRTUAL TABLE t USING fts5(title, headings, text, tokenize = 'porter unicode61');\nBEGIN;\n")
	for i, r := range rows {
		fmt.Fprintf(&sql, "INSERT INTO t(rowid, title, headings, text) VALUES (%d, %s, %s, %s);\n", i, literal(r.title), literal(r.headings), literal(r.text))
	}
	sql.WriteString("COMMIT;\n")
	for i := range queries {
		var words []string
		for _, w := range strings.FieldsFunc(queries[i].Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
			words = append(words, `"`+w+`"`)
		}
		if len(words) > 0 {
			fmt.Fprintf(&sql, "SELECT %d, rowid FROM t WHERE t MATCH %s ORDER BY rank LIMIT %d;\n", i, literal(strings.Join(words, " OR ")), limit)
		}
	}
	out, err := b.run(sql.Bytes())
	if err != nil {
		return nil, err
	}
	ranked := make([][]int, len(queries))
	for _, line := range out {
		query, rowid, _ := strings.Cut(line, "|")
		q, err := strconv.Atoi(query)
		if err != nil {
			return nil, fmt.Errorf("unexpected output of %s: %q", b.command[0], line)
		}
		n, err := strconv.Atoi(rowid)
		if err != nil {
			return nil, fmt.Errorf("unexpected output of %s: %q", b.command[0], line)
		}
		ranked[q] = append(ranked[q], n)
	}
	return ranked, nil
}

// literal returns an SQL string literal on one line.
func literal(s string) string {
	s = strings.NewReplacer("'", "''", "\n", " ", "\r", " ", "\x00", " ").Replace(s)
	return "'" + s + "'"
}

// docsBaseline measures the baseline on the passages of the documentation sets, each
// alone and all together.
func (l *harness) docsBaseline(r *report, queriesPath string) error {
	if !l.baseline.found() {
		return nil
	}
	queries, err := eval.ReadJudged(queriesPath, "")
	if err != nil {
		return err
	}
	r.baselines = map[string]eval.Measures{}
	var everything []row
	var places []eval.Place // of everything; pages are prefixed with the set
	var all, unscoped []eval.Measures
	for _, set := range docSets {
		rows, where, err := readPassages(filepath.Join(l.data, set.name))
		if err != nil {
			return err
		}
		setQueries := slices.DeleteFunc(slices.Clone(queries), func(q eval.Query) bool { return q.Set != set.name })
		measures, err := l.rankPages(rows, where, setQueries)
		if err != nil {
			return err
		}
		r.baselines[set.name] = eval.Mean(measures)
		all = append(all, measures...)
		everything = append(everything, rows...)
		for _, p := range where {
			places = append(places, eval.Place{Page: set.name + "/" + p.Page})
		}
	}
	for i := range queries {
		for k := range queries[i].Targets {
			t := &queries[i].Targets[k]
			t.Page = queries[i].Set + "/" + t.Page
		}
	}
	if unscoped, err = l.rankPages(everything, places, queries); err != nil {
		return err
	}
	mean, meanUnscoped := eval.Mean(all), eval.Mean(unscoped)
	r.all, r.allUnscoped = &mean, &meanUnscoped
	return nil
}

func (l *harness) rankPages(rows []row, places []eval.Place, queries []eval.Query) ([]eval.Measures, error) {
	ranked, err := l.baseline.rank(rows, queries)
	if err != nil {
		return nil, err
	}
	var measures []eval.Measures
	for i := range queries {
		var found []eval.Place
		for _, n := range ranked[i] {
			found = append(found, places[n])
		}
		measures = append(measures, eval.Measure(queries[i].RankedPages(found)))
	}
	return measures, nil
}

// passagesName is the name of a database's passages file.
const passagesName = "documents.leann.passages.jsonl"

// readPassages reads a database's passages.
func readPassages(dir string) (rows []row, places []eval.Place, err error) {
	err = eachPassage(dir, func(p *passage.Passage) {
		rows = append(rows, row{p.Title, strings.Join(p.Headings, " "), p.Text})
		places = append(places, eval.Place{Page: p.Document(), Anchors: p.Anchors})
	})
	return rows, places, err
}

// eachPassage calls a function with each passage of a database.
func eachPassage(dir string, each func(*passage.Passage)) error {
	path := filepath.Join(dir, passagesName)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, passage.MaxLine)
	for s.Scan() {
		p, err := passage.Decode(s.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		each(&p)
	}
	return s.Err()
}

// writeCorpus writes the documents to a passages file and returns their rows.
func writeCorpus(dir string, documents []eval.Document) ([]row, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var rows []row
	var lines []map[string]any
	for _, d := range documents {
		lines = append(lines, map[string]any{"id": d.ID, "text": d.Text, "metadata": map[string]string{"title": d.Title}})
		rows = append(rows, row{title: d.Title, text: d.Text})
	}
	return rows, writeLines(filepath.Join(dir, passagesName), lines)
}
