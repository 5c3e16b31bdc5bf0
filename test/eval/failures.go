package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// A failure is a failed command with the pages about the failure.
type failure struct {
	name    string
	set     string   // manual that contains the pages
	pages   []string // "page" or "page#anchor"; empty if no manual has one
	command string
	event   string
	output  string
}

// readFailures reads an archive. Each file has lines "key: value", an empty line,
// and the output of the command.
func readFailures(path string) ([]failure, error) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return nil, err
	}
	var all []failure
	for _, file := range archive.Files {
		f := failure{name: file.Name, event: "PostToolUseFailure"}
		head, body, ok := strings.Cut(string(file.Data), "\n\n")
		for line := range strings.SplitSeq(head, "\n") {
			key, value, _ := strings.Cut(line, ": ")
			switch key {
			case "database":
				f.set = value
			case "pages":
				f.pages = strings.Fields(value)
			case "command":
				f.command = value
			case "event":
				f.event = value
			default:
				ok = false
			}
		}
		if !ok || f.command == "" || (f.set == "") != (f.pages == nil) {
			return nil, fmt.Errorf("%s: invalid failure %q", path, f.name)
		}
		f.output = body
		all = append(all, f)
	}
	return all, nil
}

// hookEvent returns the event that a client sends after the command.
func (f *failure) hookEvent() map[string]any {
	event := map[string]any{
		"hook_event_name": f.event, "tool_name": "Bash", "cwd": "/home/sam/src",
		"tool_input": map[string]any{"command": f.command},
	}
	if f.event == "PostToolUse" {
		event["tool_response"] = map[string]any{"stdout": "", "stderr": f.output, "exit_code": 1}
	} else {
		event["error"] = "Exit code 1\n" + f.output
	}
	return event
}

// A failureScore counts failures of one manual. They are right if a shown passage is
// correct, first if the first one is.
type failureScore struct{ asked, right, first, wrong, nothing int }

// failures sends failed commands to a hook with all manuals.
func (l *harness) failures(out *output) error {
	all, err := readFailures(filepath.Join("test", "eval", "testdata", "failures.txtar"))
	if err != nil {
		return err
	}
	lib, err := l.passagesOf(&l.docs, &l.further)
	if err != nil {
		return err
	}
	manuals := slices.Concat(docSets, furtherSets)
	h, err := l.newHook("failures", l.configuration(manuals...))
	if err != nil {
		return err
	}
	scores := map[string]*failureScore{}
	for i := range all {
		f := &all[i]
		if scores[f.set] == nil {
			scores[f.set] = &failureScore{}
		}
		if err := h.sendFailure(f, lib, scores[f.set], out); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	failuresTable(out, manuals, scores)
	return nil
}

// sendFailure sends one failure to the hook and counts the reply.
func (h *hook) sendFailure(f *failure, lib passageIndex, s *failureScore, out *output) error {
	r, err := h.ask(f.hookEvent())
	if err != nil {
		return err
	}
	s.asked++
	shown := sources(r.Context)
	right, err := lib.containsAny(shown, f.set, f.pages)
	if err != nil {
		return err
	}
	var shownText string
	switch {
	case right:
		s.right++
		first, err := lib.containsAny(shown[:1], f.set, f.pages)
		s.first += boolToInt(first)
		return err
	case r.Context != "":
		s.wrong++
		shownText = strings.Join(shown, " ")
	case f.set == "":
		s.nothing++
		return nil
	default:
		s.nothing++
		shownText = "no passage"
	}
	fmt.Fprintf(out.cases, "%s (%s %s): %s\n", f.name, f.set, strings.Join(f.pages, " "), shownText)
	return nil
}

func failuresTable(out *output, manuals []manual, scores map[string]*failureScore) {
	tableHeader(&out.tables, "Failed commands", "manual", "failures", "correct passage", "share", "correct passage first",
		"share", "only wrong passages", "share", "no passage")
	line := func(name string, s failureScore) {
		tableRow(&out.tables, name, s.asked, s.right, percent(s.right, s.asked), s.first, percent(s.first, s.asked), s.wrong, percent(s.wrong, s.asked), s.nothing)
	}
	var all failureScore
	for _, m := range manuals {
		if s := scores[m.name]; s != nil {
			line(m.name, *s)
			all.asked, all.right, all.first = all.asked+s.asked, all.right+s.right, all.first+s.first
			all.wrong, all.nothing = all.wrong+s.wrong, all.nothing+s.nothing
		}
	}
	line("**with a matching page**", all)
	if s := scores[""]; s != nil {
		line("**without a matching page**", *s)
	}
}
