package library

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/safetext"
)

// Print prints what was chosen for each dependency, with its size and the reason. If the plan is
// offline, it also prints what a connection would bring.
func (p *ProjectPlan) Print(w io.Writer) error {
	table := terminal.NewTable(w, "PACKAGE\tVERSION\tSOURCE\tSIZE\tDATABASE\tWHY")
	counts := map[ItemSource]int{}
	var total time.Duration
	var bytes int64
	for _, i := range p.Items {
		source, length := "none", "-"
		switch {
		case i.Ready:
			source = "database exists"
			counts[SourceReady]++
		case i.Source == SourceInstalled:
			source, length = i.Installed.Kind+": "+i.contents(), humanize.Size(i.Bytes)
			total += i.Duration
			bytes += i.Bytes
			counts[SourceInstalled]++
		case i.Source == SourceDownload:
			counts[SourceDownload]++
			source, length = "recipe "+i.Recipe.Argument+": "+i.Recipe.origin(), i.Recipe.Size()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", safetext.Printable(i.ID()),
			safetext.Printable(VersionOf(&i.Dependency)), source, length, cmp.Or(i.Database, "-"), i.reason())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var parts []string
	if n := counts[SourceInstalled]; n > 0 {
		took := total / time.Duration(min(2, runtime.NumCPU()))
		parts = append(parts, fmt.Sprintf("%s to build from installed packages (%s, about %s)",
			humanize.Count(n, "database"), humanize.Size(bytes), seconds(took)))
	}
	if n := counts[SourceDownload]; n > 0 {
		parts = append(parts, humanize.Count(n, "download"))
	}
	if n := counts[SourceReady]; n > 0 {
		parts = append(parts, humanize.Count(n, "database")+" ready")
	}
	none := len(p.Items) - counts[SourceInstalled] - counts[SourceDownload] - counts[SourceReady]
	if none > 0 {
		parts = append(parts, fmt.Sprintf("%d without documentation", none))
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(parts, ", "))
	for _, i := range p.Items {
		if p.offline && !i.Ready && i.prefersRecipe() {
			fmt.Fprintf(w, "with a connection, recipe %s would bring %s from %s (size %s)\n",
				i.Recipe.Argument, safetext.Printable(i.ID()), i.Recipe.origin(), i.Recipe.Size())
		}
	}
	return err
}

// contents returns what the installed package has.
func (item *ProjectItem) contents() string {
	switch {
	case item.Ecosystem == project.Tool || item.Extent == installed.Manual:
		return "manual"
	case item.Extent == installed.OnlyReadme:
		return "README"
	case item.Ecosystem == project.Node:
		return "type declarations"
	case item.Ecosystem == project.Python:
		return "docstrings"
	}
	return "comments"
}

// reason returns why the source of an item was chosen.
func (item *ProjectItem) reason() string {
	switch {
	case item.Ready && item.Source == SourceReady:
		return "yours, or the project's"
	case item.Ready:
		if item.Source == SourceDownload {
			return "downloaded before"
		}
		return "of the same files"
	case item.Source == SourceNone && item.Recipe != nil:
		return "not installed, and its recipe needs a connection"
	case item.Source == SourceNone:
		return "not installed, and no recipe"
	case item.Source == SourceDownload && item.Recipe.versioned:
		return "recipe for this version"
	case item.Source == SourceDownload && item.Installed == nil:
		return "not installed"
	case item.Source == SourceDownload:
		return "installed: only " + item.contents()
	case item.prefersRecipe():
		return "offline"
	case item.Recipe != nil:
		return "recipe has no versions"
	}
	return "no recipe"
}

// origin returns the address of a recipe's download without its scheme.
func (r *ChosenRecipe) origin() string {
	_, address, _ := strings.Cut(r.Source.Download(), "://")
	return cmp.Or(address, "this machine")
}

// VersionOf returns the version of a dependency for people: the range of the manifest in
// parentheses if no file has the version.
func VersionOf(d *project.Dependency) string {
	if d.Version == "" && d.Constraint != "" {
		return "(" + d.Constraint + ")"
	}
	return cmp.Or(d.Version, "-")
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.0f s", max(1, d.Seconds()))
}
