package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/eval"
)

// noteProjects are the invented projects in testdata/notes, each with the working
// folder of its session.
var noteProjects = []struct{ name, title, folder string }{
	{"gateway", "Go service", "/home/sam/src/gateway"},
	{"storefront", "TypeScript web app", "/srv/web/storefront"},
	{"pipeline", "Python data pipeline", "/home/sam/src/pipeline"},
	{"meshkit", "C++ library", "/home/sam/src/meshkit"},
	{"crate", "Rust tool with few notes", "/home/sam/src/crate"},
}

// noiseFolder contains notes with similar words that match no call.
const noiseFolder = "noise"

// A toolCall is a tool call of an agent with its relevant notes.
type toolCall struct {
	Project string
	Tool    string
	Input   map[string]any
	Said    string   // the user's last message
	Notes   []string // notes that must be shown
	Also    []string // notes that may be shown
}

// A noteScore counts calls of one project.
type noteScore struct {
	about, shown, alone int // calls with a relevant note; all relevant notes shown; and no other note
	none, wrong         int // calls without a relevant note; some note shown
}

func (s *noteScore) add(t noteScore) {
	s.about, s.shown, s.alone = s.about+t.about, s.shown+t.shown, s.alone+t.alone
	s.none, s.wrong = s.none+t.none, s.wrong+t.wrong
}

// noteSettings are the variants of the notes of a project.
var noteSettings = []struct {
	title string
	noise bool // with additional notes that match no call
	plain bool // without front matter
}{
	{title: "as written"},
	{title: "with 40 similar notes", noise: true},
	{title: "without front matter", plain: true},
	{title: "without front matter, with 40 similar notes", noise: true, plain: true},
}

// notes sends tool calls to the hook and checks the shown notes.
func (l *harness) notes(out *output) error {
	calls, err := eval.ReadLines[toolCall](filepath.Join("test", "eval", "testdata", "calls.jsonl"))
	if err != nil {
		return err
	}
	for _, setting := range noteSettings {
		fmt.Fprintf(out.cases, "\nnotes %s:\n", setting.title)
		tableHeader(&out.tables, "Notes, "+setting.title, "project", "notes", "calls with a relevant note", "note shown", "share", "no other note", "share",
			"calls without", "note shown", "share")
		var all noteScore
		for _, p := range noteProjects {
			folders := []string{p.name}
			if setting.noise {
				folders = append(folders, noiseFolder)
			}
			h, notes, err := l.noteHook(folders, setting.plain)
			if err != nil {
				return err
			}
			var s noteScore
			for _, c := range calls {
				if c.Project != p.name {
					continue
				}
				t, err := h.sendCall(&c, p.folder, notes, out)
				if err != nil {
					return err
				}
				s.add(t)
			}
			noteLine(out, fmt.Sprintf("%s (%s)", p.name, p.title), len(notes), s)
			all.add(s)
		}
		noteLine(out, "**all**", "-", all)
	}
	return nil
}

func noteLine(out *output, name string, notes any, s noteScore) {
	tableRow(&out.tables, name, notes, s.about, s.shown, percent(s.shown, s.about), s.alone, percent(s.alone, s.about), s.none, s.wrong, percent(s.wrong, s.none))
}

// noteHook builds a database of the notes in some folders. It returns a hook for it and
// the names of the notes.
func (l *harness) noteHook(folders []string, plain bool) (*hook, []string, error) {
	name := "notes-" + strings.Join(folders, "-")
	if plain {
		name += "-plain"
	}
	source := filepath.Join(l.cache, name)
	notes, err := copyNotes(source, folders, plain)
	if err != nil {
		return nil, nil, err
	}
	if _, err := l.build(source, "--name", name); err != nil {
		return nil, nil, err
	}
	c := newConfiguration()
	c.Databases = []configured{{
		Name: "notes", Keywords: []string{folders[0] + " conventions"}, Path: filepath.Join(l.data, name),
		Description: "Notes of the team " + folders[0], Inject: true,
	}}
	c.Inject = map[string]any{"tools": []string{"Bash", "Edit", "MultiEdit", "NotebookEdit", "Read", "Write"}}
	h, err := l.newHook(name, c)
	return h, notes, err
}

// copyNotes copies the notes of some folders to a new folder and returns their names.
func copyNotes(to string, folders []string, plain bool) (names []string, err error) {
	if err := os.RemoveAll(to); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join("test", "eval", "testdata", "notes", folder, "*.md"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if plain {
				text = withoutFrontMatter(text)
			}
			if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o644); err != nil {
				return nil, err
			}
			names = append(names, filepath.Base(file))
		}
	}
	return names, nil
}

// sendCall sends a tool call to the hook and scores the shown notes.
func (h *hook) sendCall(c *toolCall, folder string, notes []string, out *output) (s noteScore, err error) {
	event := map[string]any{"hook_event_name": "PreToolUse", "tool_name": c.Tool, "tool_input": c.Input, "cwd": folder}
	if c.Said != "" {
		if event["transcript_path"], err = h.transcript(c.Said); err != nil {
			return s, err
		}
	}
	r, err := h.ask(event)
	if err != nil {
		return s, err
	}
	shown := shownNotes(r.Context, notes)
	missing := difference(c.Notes, shown)
	extra := difference(shown, slices.Concat(c.Notes, c.Also))
	if len(c.Notes) == 0 {
		s.none, s.wrong = 1, boolToInt(len(extra) > 0)
	} else {
		s.about, s.shown = 1, boolToInt(len(missing) == 0)
		s.alone = boolToInt(len(missing)+len(extra) == 0)
	}
	if len(missing)+len(extra) > 0 {
		input, _ := json.Marshal(c.Input)
		fmt.Fprintf(out.cases, "%s %s %.150s said %q: missing %q, unexpected %q\n", c.Project, c.Tool, input, c.Said, missing, extra)
	}
	return s, nil
}

func boolToInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func withoutFrontMatter(text []byte) []byte {
	if rest, ok := bytes.CutPrefix(text, []byte("---\n")); ok {
		if _, body, ok := bytes.Cut(rest, []byte("\n---\n")); ok {
			return body
		}
	}
	return text
}

// transcript writes the transcript of a session with this user message.
func (h *hook) transcript(userText string) (string, error) {
	line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": userText}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(h.folder, "transcript.jsonl")
	return path, os.WriteFile(path, append(line, '\n'), 0o644)
}

// shownNotes returns the notes shown in a context, which contains their file names.
func shownNotes(context string, notes []string) []string {
	return slices.DeleteFunc(slices.Clone(notes), func(n string) bool { return !strings.Contains(context, string(filepath.Separator)+n) })
}

// difference returns the members of list that are not in other.
func difference(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}
