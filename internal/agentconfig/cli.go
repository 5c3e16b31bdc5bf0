package agentconfig

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"
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
