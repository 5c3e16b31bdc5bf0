package load

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
)

// maxFolderFiles limits the rule files in a folder: the hook compares the stamps of all of
// them before each call that rules may match.
const maxFolderFiles = 100

// listed reads the rule files and folders of a list in the environment, separated by commas, as
// in the tool-routing plugin, or as in PATH. Relative paths are relative to the project's folder.
func (s *Routes) listed(list string) {
	isSeparator := func(c rune) bool { return c == ',' || c == filepath.ListSeparator }
	for path := range strings.FieldsFuncSeq(list, isSeparator) {
		if path = strings.TrimSpace(path); path == "" {
			continue
		}
		if path = config.Expand(path, config.Home(os.Getenv)); !filepath.IsAbs(path) {
			if s.Place.Project == "" {
				s.problem("$TOOL_ROUTING_ROUTES", decode.Problem{Expected: "absolute paths outside of a project",
					Got: strconv.Quote(path), Effect: "ignored"})
				continue
			}
			path = filepath.Join(s.Place.Project, path)
		}
		s.named(path)
	}
}

// named reads the rules of a file, or of the rule files directly in a folder, by name. A
// missing file is a problem, because somebody has named it.
func (s *Routes) named(path string) {
	path = filepath.Clean(path)
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		before := len(s.Problems)
		if s.file(filepath.Dir(path), filepath.Base(path)); err != nil && len(s.Problems) == before {
			s.Problems = append(s.Problems, fmt.Sprintf("routes %s: file not found", path))
		}
		return
	}
	if s.seen[path] {
		return
	}
	s.seen[path] = true
	stamp, err := config.StampOf(path)
	var entries []os.DirEntry
	if err == nil {
		s.sources = append(s.sources, stamp)
		entries, err = os.ReadDir(path)
	}
	if err != nil {
		s.unread = true
		s.Problems = append(s.Problems, fmt.Sprintf("routes %s: %v", path, err))
		return
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.IsDir() || !isRuleFile(e.Name()) })
	if len(entries) > maxFolderFiles {
		s.Problems = append(s.Problems,
			fmt.Sprintf("routes %s: want at most %d files, got %d; using the first ones", path, maxFolderFiles,
				len(entries)))
		entries = entries[:maxFolderFiles]
	}
	for _, e := range entries {
		s.file(path, e.Name())
	}
}

// isRuleFile reports whether a file in a folder of rules has rules, by its name.
func isRuleFile(name string) bool {
	if strings.HasPrefix(name, ".") {
		return false
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".yaml", ".yml", ".toml":
		return true
	}
	return false
}
