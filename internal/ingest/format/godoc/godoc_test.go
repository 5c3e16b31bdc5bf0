package godoc

import (
	"os"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

func TestGolden(t *testing.T) {
	mdtest.Golden(t, "testdata/*[et].go", func(name string, data []byte) (mdwriter.Document, error) {
		return Parse(data, "example.com/kettle", strings.HasSuffix(name, "_test.go"))
	})
}

func TestSkipped(t *testing.T) {
	generator, err := os.ReadFile("testdata/generator.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		test       bool
		want       string
	}{
		{"generator", string(generator), false, "excluded from its package by //go:build"},
		{"experiment", "//go:build goexperiment.x\n\npackage a\n\nfunc F() {}\n", false, "excluded from its package by //go:build"},
		{"one system", "//go:build windows\n\npackage a\n\nfunc F() {}\n", false, ""},
		{"every system but one", "//go:build !js\n\npackage a\n\nfunc F() {}\n", false, ""},
		{"a rare system", "//go:build plan9 || solaris\n\npackage a\n\nfunc F() {}\n", false, "excluded from its package by //go:build"},
		{"nothing exported", "package a\n\nfunc f() {}\n", false, "exports nothing"},
		{"program", "package main\n\nfunc Exported() {}\n", false, "exports nothing"},
		{"program with a comment", "// Command x does.\npackage main\n", false, ""},
		{"test without examples", "// Package a.\npackage a\n\nfunc TestF(t *testing.T) {}\n", true, "exports nothing"},
		{"no Go", "hello", false, "1:1: expected 'package', found hello"},
	} {
		_, err := Parse([]byte(tt.text), "a", tt.test)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"testdata/kettle.go", "testdata/example_test.go", "testdata/generator.go"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, strings.HasSuffix(name, "_test.go"))
	}
	f.Fuzz(func(t *testing.T, data []byte, test bool) {
		doc, err := Parse(data, "a/b", test)
		if err == nil && len(doc.Sections) == 0 {
			t.Error("no sections and no error")
		}
	})
}
