//go:build e2e

package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two projects use different major versions of one package. Each is answered by its own,
// also in a subagent. A query that names the other version runs: no database of this project
// has it.
func TestProjectEditions(t *testing.T) {
	const query = "kettlejs how do I descale the kettle"
	s := newSession(t, versions[0])
	projects := map[string]string{}
	for version, step := range map[string]string{
		"1.4.2": "Fill it with vinegar, wait for an hour, and call descale() twice.",
		"2.1.0": "Fill it with citric acid, and await kettle.descale({minutes: 20}).",
	} {
		dir := t.TempDir()
		projects[version] = dir
		if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		s.write(t, filepath.Join(dir, "package.json"), `{"dependencies": {"kettlejs": "`+version+`"}}`)
		s.write(t, filepath.Join(dir, "node_modules", "kettlejs", "package.json"), `{"version": "`+version+`"}`)
		s.write(t, filepath.Join(dir, "node_modules", "kettlejs", "docs", "use.md"), "# kettlejs\n\n## Boil water\n\n"+
			strings.Repeat("The kettle boils water and switches itself off at one hundred degrees. ", 4)+
			"\n\n## Descale the kettle\n\nTo descale the kettle: "+step+"\n\n## Set the temperature\n\n"+
			strings.Repeat("For green tea, set the temperature to eighty degrees before you boil the water. ", 4)+"\n")
		s.project = dir
		s.docsearch(t, "setup", "--project", "--offline", "--yes", "--no-install")
	}
	s.write(t, s.settings(), settings)
	s.docsearch(t, "install")
	for _, tt := range []struct {
		name, version, query string
		says, not            string // says is empty if the search runs
		subagent             bool
	}{
		{"the first project", "1.4.2", query, "vinegar", "citric acid", false},
		{"the second project", "2.1.0", query, "citric acid", "vinegar", false},
		{"a subagent in the first", "1.4.2", query, "vinegar", "citric acid", true},
		{"a subagent in the second", "2.1.0", query, "citric acid", "vinegar", true},
		{"the other version by name", "1.4.2", "kettlejs 2 how do I descale the kettle", "", "vinegar", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.project = projects[tt.version]
			const task = "Find out by a web search how to descale it."
			denial := ""
			m := newModel(t, func(c conversation) reply {
				agent := cmp.Or(c.tool("Agent"), c.tool("Task"))
				results := c.results()
				switch {
				case tt.subagent && !c.startsWith(task) && agent != nil && len(results[agent.Name]) == 0:
					return call("agent", agent.Name, map[string]any{"description": "search", "prompt": task, "subagent_type": "general-purpose", "run_in_background": false})
				case tt.subagent && !c.startsWith(task):
					return say("Done.")
				case c.tool("WebSearch") == nil && len(results["ToolSearch"]) == 0 && c.tool("ToolSearch") != nil:
					return call("load", "ToolSearch", map[string]any{"query": "select:WebSearch", "max_results": 5})
				case len(results["WebSearch"]) == 0:
					return call("search", "WebSearch", map[string]any{"query": tt.query})
				}
				denial = c.text()
				return say("Done.")
			})
			prompt := task
			if tt.subagent {
				prompt = "Let an agent find out."
			}
			r := s.ask(t, m, prompt)
			denied := strings.Contains(denial, "Found in local documentation (kettlejs "+tt.version+" from the files of "+s.project+");")
			if denied != (tt.says != "") || !strings.Contains(denial, tt.says) || strings.Contains(denial, tt.not) {
				t.Errorf("want %q, without %q; the model read\n%s\nthe client said\n%s", tt.says, tt.not, denial, r)
			}
		})
	}
}
