package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readAuggie reads an event of Auggie, which sends Claude Code's event names with its own
// tools, and the roots of the workspace instead of a folder.
func (e *Event) readAuggie(f rawjson.Fields) {
	if roots := f.Strings("workspace_roots"); e.Cwd == "" && len(roots) > 0 {
		e.Cwd = roots[0]
	}
	e.Tool = commonTool(e.ClientTool, "web-search", WebSearch, "web-fetch", WebFetch, "launch-process", Bash,
		"str-replace-editor", Edit, "save-file", Write, "view", Read)
	e.readInput(f.Raw("tool_input"))
}
