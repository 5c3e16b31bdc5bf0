//go:build generate

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra/doc"

	_ "github.com/docsearch/docsearch/internal/hook/crashguard" // package startup links to it
)

// main writes the manual pages and the completions of the shells to a folder laid out like
// /usr/share:
//
//	go run -tags generate ./cmd/docsearch FOLDER
//
// The pages have the date of $SOURCE_DATE_EPOCH, so that a release can be reproduced.
func main() {
	if err := generate(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(args []string) error {
	if len(args) != 1 {
		return errors.New("want one argument: the folder")
	}
	date := time.Now()
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		date = time.Unix(seconds, 0).UTC()
	}
	root := newRootCommand(&app{os.Stdin, io.Discard, io.Discard})
	root.DisableAutoGenTag = true
	man := filepath.Join(args[0], "man", "man1")
	if err := os.MkdirAll(man, 0o755); err != nil {
		return err
	}
	header := doc.GenManHeader{Section: "1", Source: "docsearch", Manual: "docsearch", Date: &date}
	if err := doc.GenManTree(root, &header, man); err != nil {
		return err
	}
	for path, write := range map[string]func(io.Writer) error{
		"bash-completion/completions/docsearch":    func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh/site-functions/_docsearch":            root.GenZshCompletion,
		"fish/vendor_completions.d/docsearch.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell/completions/docsearch.ps1":     root.GenPowerShellCompletionWithDesc,
	} {
		if err := writeFile(filepath.Join(args[0], filepath.FromSlash(path)), write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
