package main

import (
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/eval"
)

// trainingFile contains the searches that the confidence model is fitted to. They are
// not in the files that docs/quality.md measures.
var trainingFile = filepath.Join("test", "eval", "testdata", "training.jsonl")

// trainingKinds are further kinds of answerable searches, used for training only.
var trainingKinds = []kind{
	{"upgrade", "an upgrade that the manual documents"},
	{"compare", "a comparison that the manual explains"},
	{"passing", "other software mentioned in passing"},
}

// askTraining sends the training searches to the hook: those about docSets for a user
// with docSets, the others for a user with trainingSets.
func (l *harness) askTraining() ([]judgedSearch, error) {
	searches, err := eval.ReadLines[search](trainingFile)
	if err != nil {
		return nil, err
	}
	docs, err := l.askSearches("training-docs", about(searches, docSets), &l.docs)
	if err != nil {
		return nil, err
	}
	others, err := l.askSearches("training-others", about(searches, trainingSets), &l.training)
	return slices.Concat(docs, others), err
}

// about returns the searches about some manuals.
func about(searches []search, manuals []manual) []search {
	return slices.DeleteFunc(slices.Clone(searches), func(s search) bool {
		return !slices.ContainsFunc(manuals, func(m manual) bool { return m.name == s.Set })
	})
}

// trainingTables prints the training searches denied by the hook.
func (l *harness) trainingTables(out *output) error {
	searches, err := l.askTraining()
	if err != nil {
		return err
	}
	w := &out.tables
	header := func(by string) {
		tableHeader(w, "Training searches, by "+by, by, "answerable", "denied", "share", "right page quoted", "web only", "denied", "share")
	}
	header("manual")
	for _, m := range slices.Concat(docSets, trainingSets) {
		deniedLine(w, m.name, searches, func(s *judgedSearch) bool { return s.Set == m.name })
	}
	deniedLine(w, "**all**", searches, allSearches)
	header("kind")
	for _, k := range slices.Concat(trainingKinds, kinds) {
		deniedLine(w, k.title, searches, func(s *judgedSearch) bool { return s.Kind == k.name })
	}
	deniedLine(w, "**all**", searches, allSearches)
	for _, s := range searches {
		s.list(out.cases)
	}
	return nil
}
