package doctor

import (
	"fmt"
	"os"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/safetext"
)

// CountDatabases counts the databases of a config, under the given noun, and its team
// servers.
func CountDatabases(c *config.Config, noun string) string {
	text := humanize.Count(len(c.Databases)+len(c.Clustered), noun)
	if n := len(c.Remotes); n > 0 {
		text += ", " + humanize.Count(n, "team server")
	}
	return text
}

// ConfigProblems returns all problems of the config, of its paths, of the rule files and
// of the notes, one per line.
func ConfigProblems(r *load.Result, routes *load.Routes) ([]string, error) {
	r.CheckPaths(library.FindPath)
	r.CheckEnvironment(os.Environ())
	var problems []string
	for _, p := range r.Problems {
		problems = append(problems, r.Path+": "+p.String())
	}
	for _, p := range routes.Problems {
		problems = append(problems, strings.TrimPrefix(p, "routes "))
	}
	heads, err := frontMatterProblems(r.Config.Databases)
	return append(problems, heads...), err
}

// frontMatterProblems returns the invalid front matter fields of the notes.
func frontMatterProblems(databases []config.Database) (problems []string, err error) {
	for i := range databases {
		db := &databases[i]
		if len(db.Inject) == 0 {
			continue
		}
		info, err := index.Inspect(db.Path)
		if err != nil {
			continue // not built yet, or damaged, which doctor reports
		}
		skipped, err := ingest.ReadSkipped(library.GenerationOf(info))
		if err != nil {
			return nil, err
		}
		for _, s := range skipped {
			if markdown.IsFrontMatterProblem(s) {
				problems = append(problems,
					fmt.Sprintf("%s: %s: %s", safetext.Printable(db.Name), safetext.Printable(s.Name),
						safetext.Printable(s.Reason)))
			}
		}
	}
	return problems, nil
}
