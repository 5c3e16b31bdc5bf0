package main

import (
	"cmp"
	"slices"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/library"
)

// mergeOptions returns the options of the last build in dir, overridden by the
// flags of this one.
func (b *buildCommand) mergeOptions(dir string) library.Options {
	var options library.Options
	if g, err := generation.Current(dir); err == nil {
		options = library.OptionsOf(&g.Manifest, dir)
	}
	given := &b.options
	flags := b.siteFlags(&options.Site)
	flags["language"] = func() { options.Language = given.Language }
	flags["trust-paths"] = func() { options.TrustPaths = given.TrustPaths }
	flags["embedder"] = func() { options.Embedder = absoluteModel(given.Embedder) }
	flags["include"] = func() { options.Include = given.Include }
	flags["exclude"] = func() { options.Exclude = given.Exclude }
	flags["no-ignore"] = func() { options.NoIgnore = given.NoIgnore }
	flags["keep-secrets"] = func() { options.KeepSecrets = given.KeepSecrets }
	for flag, apply := range flags {
		if b.set(flag) {
			apply()
		}
	}
	options.Package = cmp.Or(given.Package, options.Package)
	return options
}

// preset makes the build use its values of these flags as if the command line
// set them.
func (b *buildCommand) preset(flags ...string) {
	given := b.set
	b.set = func(flag string) bool { return slices.Contains(flags, flag) || given(flag) }
}
