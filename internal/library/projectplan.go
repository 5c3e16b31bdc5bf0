package library

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/safetext"
)

// Print prints the plan with sizes and times.
func (p *ProjectPlan) Print(w io.Writer) error {
	table := terminal.NewTable(w, "PACKAGE\tVERSION\tSOURCE\tSIZE\tTIME\tDATABASE")
	counts := map[ItemSource]int{}
	var total time.Duration
	var bytes int64
	for _, i := range p.Items {
		source, length, took := "no documentation found", "-", "-"
		switch {
		case i.Ready:
			source = "database exists"
			counts[SourceReady]++
		case i.Source == SourceInstalled:
			source, length, took = i.Installed.Kind, humanize.Size(i.Bytes), seconds(i.Duration)
			total += i.Duration
			bytes += i.Bytes
			counts[SourceInstalled]++
		case i.Source == SourceDownload:
			counts[SourceDownload]++
			source = "recipe " + i.Recipe.Argument + ", download"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", safetext.Printable(i.ID()), safetext.Printable(cmp.Or(i.Version, "-")), source, length, took, cmp.Or(i.Database, "-"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s of installed packages (%s, about %s), %s, %d ready, %d without documentation\n",
		humanize.Count(counts[SourceInstalled], "database"), humanize.Size(bytes), seconds(total/time.Duration(min(2, runtime.NumCPU()))), humanize.Count(counts[SourceDownload], "download"), counts[SourceReady], len(p.Items)-counts[SourceInstalled]-counts[SourceDownload]-counts[SourceReady])
	return err
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.0f s", max(1, d.Seconds()))
}
