package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/hook/explain"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/progress"
)

func newReplayCommand(a *app) *cobra.Command {
	var since humanize.Period
	var show int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay [FOLDER]",
		Short: "Show what the hook would have done in past sessions",
		Long: `Show what the hook would have done in past sessions. Replay reads Claude Code's
transcripts and evaluates each tool call with the current config. FOLDER contains
the transcripts (default: ~/.claude/projects).

Replay sends nothing over the network and keeps session state in a temporary
folder. A transcript records a session without the hook, so it does not contain
the agent's reaction to a denial.`,
		Example: `  docsearch replay
  docsearch replay --since 7d --show 50
  docsearch replay --json ~/.claude/projects/-home-me-src-shop`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := ""
			if len(args) > 0 {
				folder = args[0]
			}
			return a.replay(cmd.Context(), folder, replayOptions{since.Before(time.Now()), show, asJSON})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&since, "since", sinceHelp)
	cmd.Flags().IntVar(&show, "show", 20, "show at most `N` calls, latest transcripts first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each affected call and a summary as JSON, one object per line")
	return cmd
}

type replayOptions struct {
	since  time.Time
	show   int
	asJSON bool
}

func (a *app) replay(ctx context.Context, folder string, opt replayOptions) error {
	l := config.Locate(os.Getenv)
	if folder == "" {
		home := config.PlaceOf(l, os.Getenv, "").Claude
		if home == "" {
			return withHint(usagef("cannot find the transcripts: the home directory is not set"), "run docsearch replay FOLDER")
		}
		folder = filepath.Join(home, "projects")
	}
	files, err := replay.Transcripts(folder, opt.since)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no transcripts found in %s", folder)
	}
	if err != nil {
		return withHint(err, "run docsearch replay FOLDER with a folder that contains Claude Code's .jsonl files")
	}
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	for _, m := range r.Messages() {
		a.warn("%s", m)
	}
	r.Config.Names = lookup.DefinedNames(r.Config.Databases)
	display := progress.New(a.stderr, progress.StyleFor(a.stderr))
	report := display.Func()
	replayer := replay.NewReplayer(r, l, opt.since)
	lines := json.NewEncoder(a.stdout)
	lines.SetEscapeHTML(false)
	var first []replay.Outcome // printed examples
	more := 0
	err = replayer.All(ctx, files, func(done int, f *replay.ReplayedFile) error {
		report.Report("replaying transcripts", int64(done), int64(len(files)))
		if f.Damage != "" {
			a.warn("%s: %s", f.Name, f.Damage)
		}
		for i := range f.Outcomes {
			switch {
			case opt.asJSON:
				if err := lines.Encode(&f.Outcomes[i]); err != nil {
					return err
				}
			case f.Outcomes[i].StartsContext(): // identical in every session
			case len(first) < opt.show:
				first = append(first, f.Outcomes[i])
			default:
				more++
			}
		}
		return nil
	})
	display.Close()
	if err != nil {
		return err
	}
	if opt.asJSON {
		return lines.Encode(map[string]any{"summary": replayer.Sum})
	}
	for i := range first {
		a.printOutcome(&first[i])
	}
	if more > 0 {
		fmt.Fprintf(a.stdout, "%s more; to show all, pass --show %d\n\n", thousands(more), len(first)+more)
	}
	return a.printTally(folder, &replayer.Sum)
}

const maxLines = 6

func (a *app) printOutcome(o *replay.Outcome) {
	c := terminal.NewPalette(a.stdout)
	width := terminal.Columns(a.stdout)
	kind := o.Tool
	if o.Event != "PreToolUse" {
		kind = strings.TrimSpace(o.Event + " " + o.Tool)
	}
	by := strings.Join(o.Databases, ", ")
	if o.Rule != "" {
		by = "rule " + o.Rule
	}
	if by != "" {
		by = " (" + by + ")"
	}
	at := ""
	if o.At != nil {
		at = o.At.Local().Format("2006-01-02 15:04  ")
	}
	fmt.Fprintf(a.stdout, "%s%s%s: %s%s%s\n", at, c.Title, kind, o.Outcome, by, c.End)
	if text := printable(strings.Join(strings.Fields(o.Text), " ")); text != "" {
		fmt.Fprintf(a.stdout, "%s%s%s%s\n", indent, c.Match, truncate(text, width-len(indent)), c.End)
	}
	lines := strings.Split(strings.TrimSpace(o.AgentText), "\n")
	for i, line := range lines {
		if i == maxLines {
			fmt.Fprintf(a.stdout, "%s%s... %s more%s\n", indent, c.Dim, count(len(lines)-i, "line"), c.End)
			break
		}
		fmt.Fprintf(a.stdout, "%s%s%s%s\n", indent, c.Dim, truncate(printable(line), width-len(indent)), c.End)
	}
	fmt.Fprintln(a.stdout)
}

func (a *app) printTally(folder string, t *replay.Tally) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s with %s\n", count(t.Transcripts, "transcript"), folder, count(t.AllCalls(), "tool call"))
	for _, kind := range slices.Sorted(maps.Keys(t.Outcomes)) {
		var parts []string
		for _, result := range []string{explain.WouldAnswer, explain.WouldRedirect, explain.WouldDeny, explain.WouldAsk,
			explain.WouldAddContext} {
			parts = appendCount(parts, t.Outcomes[kind][result], result)
		}
		of := ""
		if n := t.Calls[kind]; n > 0 {
			of = " of " + count(n, "call")
		}
		fmt.Fprintf(&b, "  %-20s %s%s\n", kind, strings.Join(parts, ", "), of)
	}
	if n := t.Calls["WebSearch"]; n > 0 {
		fmt.Fprintf(&b, "web searches that run as usual: %s unmatched, %s unanswered, %s retried\n",
			thousands(t.Unmatched), thousands(t.Unanswered), thousands(t.Repeated))
	}
	printCounts(&b, "by database", t.Databases)
	printCounts(&b, "by rule", t.Rules)
	if t.Damaged > 0 {
		fmt.Fprintf(&b, "cannot read %s\n", count(t.Damaged, "line"))
	}
	return a.write(&b)
}

func printCounts(b *strings.Builder, title string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y))
	})
	fmt.Fprintln(b, title)
	for _, name := range names {
		fmt.Fprintf(b, "  %-20s %s\n", name, thousands(counts[name]))
	}
}

// sinceHelp is the help of a flag with a period.
const sinceHelp = "include only events since `TIME`: 7d, 12h, or a date such as 2026-01-31"
