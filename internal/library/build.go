package library

import (
	"context"
	"encoding/json"
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/provenance"
	"github.com/docsearch/docsearch/internal/usererror"
)

// Build runs the plan.
func (b *Builder) Build(ctx context.Context, p *Plan) (index.Info, error) {
	if p.Site() == nil {
		for flag := range b.siteFlags(&p.Options.Site) {
			if b.Set(flag) && !(flag == "private" && isDownload(p.Source)) {
				return index.Info{}, usererror.Invalidf("cannot use --%s: %s is not a site", flag, p.Label)
			}
		}
	}
	if p.warning != nil {
		b.Console.Report(p.warning)
	}
	options, err := json.Marshal(p.Options)
	if err != nil {
		return index.Info{}, err
	}
	opt := index.BuildOptions{Language: p.Options.Language, Wait: b.Wait, Tool: b.Tool, Options: options, Update: b.Reuse, KeepLost: b.KeepLost}
	if k, ok := p.Source.(ingest.LossKeeper); ok && b.KeepLost {
		k.KeepLost()
	}
	if p.Embedder, err = b.chooseEmbedder(*p); err != nil {
		return index.Info{}, err
	}
	if e := p.Embedder; e != nil {
		if opt.Embedder, err = e.open(config.Locate(os.Getenv)); err != nil {
			return index.Info{}, err
		}
		opt.Stored = e.storedVectors
		defer e.close()
	}
	// If no key can be made, the next update asks the user to name the source.
	opt.Key, _ = provenance.Make(config.KeyPath(os.Getenv))
	if files, ok := p.Source.(ingest.PDFReader); ok {
		program, err := os.Executable()
		if err != nil {
			return index.Info{}, err
		}
		files.ReadPDFWith(program)
	}
	if files, ok := p.Source.(ingest.PackageReader); ok && p.Options.Package != "" {
		files.ReadPackage()
	}
	display := b.Display()
	opt.Report = display.Func()
	info, err := index.Build(ctx, p.Dir, p.Source, opt)
	display.Close()
	if err != nil {
		return info, ExplainBuild(*p, err)
	}
	if info.Late != nil {
		b.Console.Warn("%v", info.Late)
	}
	// Otherwise the hook keeps the old page names until the config changes. A
	// failure only delays that.
	_ = config.Forget(config.Locate(os.Getenv))
	return info, nil
}

// siteFlags maps each flag that only sites accept to a function that copies its
// value into kept.
func (b *Builder) siteFlags(options *ingest.SiteOptions) map[string]func() {
	given := b.Options.Site
	return map[string]func(){
		"prefix":        func() { options.Prefix = given.Prefix },
		"discover":      func() { options.Discovery = given.Discovery },
		"max-pages":     func() { options.MaxPages = given.MaxPages },
		"max-bytes":     func() { options.MaxBytes = given.MaxBytes },
		"delay":         func() { options.Delay = given.Delay },
		"concurrency":   func() { options.Concurrency = given.Concurrency },
		"timeout":       func() { options.Timeout = given.Timeout },
		"ignore-robots": func() { options.IgnoreRobots = given.IgnoreRobots },
		"private":       func() { options.Private = given.Private },
		"header":        func() { options.Headers = given.Headers },
		"cookie":        func() { options.Headers = given.Headers },
	}
}

// A Kept counts the documents that a database keeps although its source does not show
// them.
type Kept struct {
	Unreadable int `json:"unreadable,omitempty"`
	Lost       int `json:"lost,omitempty"` // gone; docsearch index build removes them
}

// KeptBy returns the numbers of documents that the plan's build kept.
func KeptBy(p Plan) (kept Kept) {
	if p.Lost != nil {
		return Kept{Lost: p.Lost.Lost}
	}
	if source, ok := p.Source.(ingest.ChangeReporter); ok {
		c := source.Changes()
		kept = Kept{c.Unreadable, c.Lost}
	}
	return kept
}
