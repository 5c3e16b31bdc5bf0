// Package indextest builds databases for tests and benchmarks from generated
// documentation with realistic word statistics. The result is deterministic.
package indextest

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// Database builds a database of n generated passages in a temporary folder and returns
// the folder. Only passage 0 answers Question.
func Database(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	Passages(tb, dir, n)
	build(tb, dir, index.BuildOptions{})
	return dir
}

// Build builds a database of the passages in the folder dir.
func Build(tb testing.TB, dir string, opt index.BuildOptions, passages ...passage.Passage) {
	tb.Helper()
	var lines []byte
	for i := range passages {
		lines = passages[i].AppendLine(lines)
	}
	if err := atomicfile.WriteCache(filepath.Join(dir, passagesFile), lines, 0o644); err != nil {
		tb.Fatal(err)
	}
	build(tb, dir, opt)
}

// passagesFile is the name of a passages file that LEANN writes.
const passagesFile = "documents.leann.passages.jsonl"

func build(tb testing.TB, dir string, opt index.BuildOptions) {
	tb.Helper()
	found, err := leann.Find(dir)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := index.Build(tb.Context(), dir, index.FromLEANN(found), opt); err != nil {
		tb.Fatal(err)
	}
}

// Question is answered by passage 0 of every database. Answer occurs only in that
// passage.
const (
	Question = "how do I rotate the signing certificate of the artifact registry"
	Answer   = "zymotic rotate --signing-certificate"
)

// Passages writes a LEANN passages file with n generated passages into dir.
func Passages(tb testing.TB, dir string, n int) {
	tb.Helper()
	f, err := os.Create(filepath.Join(dir, passagesFile))
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriter(f)
	rng := rand.New(rand.NewPCG(1, 2))
	words := vocabulary(rng, vocabularySize)
	// The question's words occur in other passages too.
	for i, w := range strings.Fields(Question) {
		words[50+37*i] = w
	}
	zipf := rand.NewZipf(rng, 1.07, 4, uint64(len(words)-1))
	// Consecutive pages share a subject and its words.
	subject := make([]string, 30)
	text := func(length int) string {
		var b strings.Builder
		for i := range length {
			if i > 0 {
				b.WriteByte(" \n"[min(1, max(0, i%13-11))])
			}
			if rng.IntN(10) < 3 {
				b.WriteString(subject[min(rng.IntN(len(subject)), rng.IntN(len(subject)))])
			} else {
				b.WriteString(words[zipf.Uint64()])
			}
		}
		return b.String()
	}
	var line []byte
	for i := range n {
		page := i / 7
		if i%(7*20) == 0 {
			for k := range subject {
				subject[k] = words[zipf.Uint64()]
			}
		}
		p := passage.Passage{
			ID: fmt.Sprintf("p%07d", i), Title: text(3), Headings: []string{text(2), text(3)},
			Text: text(60 + rng.IntN(120)),
			URL:  fmt.Sprintf("https://docs.example.org/%s/page-%d.html#s%d", words[page%len(words)], page, i%7),
		}
		if i == 0 {
			p.Title, p.Headings = "Artifact registry", []string{"Security", "Rotate the signing certificate"}
			p.Text = "To rotate the signing certificate of the artifact registry, run `" + Answer +
				"` and restart the registry.\n" + p.Text
		}
		line = p.AppendLine(line[:0])
		w.Write(line)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

// Queries generates n queries of three to seven frequent and rare words of the
// passages.
func Queries(n int) []string {
	words := vocabulary(rand.New(rand.NewPCG(1, 2)), vocabularySize)
	rng := rand.New(rand.NewPCG(3, 4))
	queries := make([]string, n)
	for i := range queries {
		var picked []string
		for range 3 + rng.IntN(5) {
			const commonest = 50
			rank := commonest * math.Pow(vocabularySize/commonest, rng.Float64())
			picked = append(picked, words[int(rank)])
		}
		queries[i] = strings.Join(picked, " ")
	}
	return queries
}

const vocabularySize = 20_000

// vocabulary generates n different words of two to four syllables.
func vocabulary(rng *rand.Rand, n int) []string {
	const consonants, vowels = "bcdfghjklmnprstvw", "aeiou"
	seen := make(map[string]bool, n)
	words := make([]string, 0, n)
	for len(words) < n {
		var b strings.Builder
		for range 2 + rng.IntN(3) {
			b.WriteByte(consonants[rng.IntN(len(consonants))])
			b.WriteByte(vowels[rng.IntN(len(vowels))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}
