//go:build ignore

// Gen_background generates background.txt from documentation databases, given as folders
// with an index: go run gen_background.go FOLDER... > background.txt
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// minShare is the share of passages, per 10,000, below which a term is omitted.
const minShare = 12

func main() {
	analyzer, err := lexical.NewAnalyzer("")
	if err != nil {
		log.Fatal(err)
	}
	shares := make(map[string]float64)
	for _, dir := range os.Args[1:] {
		g, err := generation.Current(dir)
		if err != nil {
			log.Fatal(err)
		}
		data, err := os.ReadFile(g.Path(passage.ShardName(0)))
		if err != nil {
			log.Fatal(err)
		}
		df, n := make(map[string]int), 0
		for line := range bytes.Lines(data) {
			p, err := passage.Decode(line)
			if err != nil {
				log.Fatal(err)
			}
			n++
			seen := make(map[string]bool)
			for _, t := range analyzer.Terms(p.Title + "\n" + strings.Join(p.Headings, "\n") + "\n" + p.Text) {
				if !seen[t] {
					seen[t] = true
					df[t]++
				}
			}
		}
		for t, k := range df {
			shares[t] += float64(k) / float64(n) / float64(len(os.Args)-1)
		}
	}
	var lines []string
	for t, share := range shares {
		if n := int(share*1e4 + .5); n >= minShare && !strings.ContainsAny(t, " \n") {
			lines = append(lines, fmt.Sprintf("%s %d\n", t, n))
		}
	}
	slices.SortFunc(lines, func(a, b string) int {
		x, _, _ := strings.Cut(a, " ")
		y, _, _ := strings.Cut(b, " ")
		return strings.Compare(x, y)
	})
	for _, l := range lines {
		fmt.Print(l)
	}
}
