package passage

import (
	"maps"
	"slices"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
)

// AliasesName is the file name of the aliases within a generation. The file is missing
// if the source has no aliases.
const AliasesName = "passages.aliases"

// AliasesVersion is the version of the aliases' format.
//
//	1  as described at Aliases
const AliasesVersion = 1

const aliasesKind = "ALIA"

// Aliases find documents by URLs other than their keys: redirects and duplicate pages.
//
// It is a container of kind ALIA (see package container) with these sections, all
// integers little endian, N aliases:
//
//	hashes  N x { [8] FNV-1a of the alias; [4] its number }, ascending
//	offsets 2N+1 x [4] start in texts of each alias and its key
//	texts   UTF-8, concatenated
type Aliases struct {
	file   *container.File
	hashes container.Section
	texts  container.Texts // each alias and its key
}

// WriteAliases writes a map of aliases to keys to a new file. If the map is empty, it
// writes no file.
func WriteAliases(file confined.Path, aliases map[string]string) error {
	if len(aliases) == 0 {
		return nil
	}
	out, err := container.Create(file, aliasesKind, AliasesVersion)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(aliases))
	var texts []string
	for _, name := range names {
		texts = append(texts, name, aliases[name])
	}
	addHashes(out, "hashes", hashesOf(names))
	out.AddTexts("offsets", "texts", texts)
	return out.Close()
}

// OpenAliases opens the aliases of a generation. It returns nil if there are none.
func OpenAliases(g generation.Generation) (*Aliases, error) {
	if !slices.ContainsFunc(g.Files, func(f generation.FileInfo) bool { return f.Name == AliasesName }) {
		return nil, nil
	}
	file, err := container.Open(g.File(AliasesName), aliasesKind, AliasesVersion)
	if err != nil {
		return nil, err
	}
	a := &Aliases{file: file}
	err = file.Sections([]string{"hashes", "offsets", "texts"}, &a.hashes, &a.texts.Offsets, &a.texts.Text)
	if n := a.hashes.Len() / 12; err == nil && (a.hashes.Len() != 12*n || a.texts.Offsets.Len() != 4*(2*n+1)) {
		err = a.hashes.Corrupt(0, "the sections' sizes do not fit together")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return a, nil
}

// Close closes the file.
func (a *Aliases) Close() error { return a.file.Close() }

// Find returns the key of the document with this alias.
func (a *Aliases) Find(alias string) (key string, found bool, err error) {
	n, found, err := findByHash(a.hashes, alias, func(n uint32) (string, error) { return a.text(2 * int(n)) })
	if err != nil || !found {
		return "", false, err
	}
	key, err = a.text(2*int(n) + 1)
	return key, err == nil, err
}

func (a *Aliases) text(i int) (string, error) {
	text, err := a.texts.At(i)
	return string(text), err
}
