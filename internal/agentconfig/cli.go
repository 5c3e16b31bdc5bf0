package agentconfig

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

// skillText is the skill of an agent that has the command line in place of the MCP server,
// with "PROGRAM" for the word that runs docsearch.
//
//go:embed skill.md
var skillText string

const skillTools = "allowed-tools: Bash("

// HasCLI reports whether Claude Code's settings of one of the scopes have the hook for the
// command line.
func (c *Claude) HasCLI(scopes ...Scope) bool {
	return slices.ContainsFunc(c.Installed().Hooks, func(h Hook) bool { return h.CLI && slices.Contains(scopes, h.Scope) })
}

// Skill returns the file of the skill in a scope.
func (c *Claude) Skill(s Scope) string {
	return filepath.Join(filepath.Dir(c.Settings(s)), "skills", "docsearch-cli", "SKILL.md")
}

// HasSkill reports whether a scope has the skill of docsearch.
func (c *Claude) HasSkill(s Scope) bool {
	data, _, err := readFile(c.Skill(s))
	return err == nil && readSkill(data) != nil
}

// skillParts are the files of the skill in a scope. The local scope shares a folder with
// the project, which would share the skill with others.
func (c *Claude) skillParts(s Scope) []part {
	if s == Local {
		return nil
	}
	skill := ownFile{
		render: func(program string) string {
			return strings.ReplaceAll(skillText, "PROGRAM", ProgramAt(program).shellWord())
		},
		read: readSkill,
	}
	return []part{{"the skill", c.Skill(s), []entry{skill}}}
}

// readSkill returns the program that a skill runs, or nil if docsearch did not write the skill.
func readSkill(data []byte) []Hook {
	head, _, _ := strings.Cut(skillText, "description:")
	if !strings.HasPrefix(string(data), head) {
		return nil
	}
	_, rest, _ := strings.Cut(string(data), skillTools)
	program, _, _ := strings.Cut(rest, " search:")
	return []Hook{{Program: program}}
}

// allowPath is the path of the rules in settings that allow calls.
var allowPath = []any{"permissions", "allow"}

// putPermission makes the settings allow searches with the command line, of which word runs
// docsearch.
func putPermission(d *inplace.Document, word string) error {
	if slices.Contains(allowed(d), searchRule(word)) {
		return nil
	}
	return d.Append(searchRule(word), allowPath...)
}

// dropPermission removes the rule that putPermission has added, except for the word kept.
// Without a hook for the command line, the rule is the user's own.
func dropPermission(d *inplace.Document, kept string) error {
	hooks, err := hookEntries(d)
	if err != nil || !slices.ContainsFunc(hooks, func(h *hookEntry) bool { return h.cli }) {
		return err
	}
	for i, rule := range slices.Backward(allowed(d)) {
		if word := programOf(rule); word != "" && word != kept {
			if err := removeRule(d, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeRule removes a rule, and the lists that become empty.
func removeRule(d *inplace.Document, i int) error {
	all := d.Root().Member("permissions")
	switch {
	case len(all.Member("allow").Items) > 1:
		return d.Remove(append(allowPath, i)...)
	case len(all.Members) > 1:
		return d.Remove(allowPath...)
	}
	return d.Remove(allowPath[0])
}

// permitted returns the word for docsearch in the rule that allows searches with the
// command line, or docsearch's name if there is none.
func permitted(d *inplace.Document) string {
	for _, rule := range allowed(d) {
		if word := programOf(rule); word != "" {
			return word
		}
	}
	return "docsearch"
}

// allowed returns the rules that allow calls.
func allowed(d *inplace.Document) (rules []string) {
	all := d.Root().Member("permissions")
	if all == nil || all.Member("allow") == nil {
		return nil
	}
	for _, item := range all.Member("allow").Items {
		rules = append(rules, item.Text())
	}
	return rules
}

// searchRule is the rule that allows searches with the command line.
func searchRule(program string) string { return "Bash(" + program + " search:*)" }

// programOf returns the word for docsearch in such a rule, or "".
func programOf(rule string) string {
	word, ends := strings.CutSuffix(rule, " search:*)")
	word, begins := strings.CutPrefix(word, "Bash(")
	if !begins || !ends || !isDocsearch(strings.Trim(word, `"`)) {
		return ""
	}
	return word
}
