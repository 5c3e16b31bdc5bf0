package notes

import (
	"slices"
	"strings"
)

// Families returns the kinds of calls that this one belongs to, in the form of conditions: the
// programs of its command line with their subcommands ("git commit"), or the pattern of
// the files with the same ending in the folder of its file ("db/migrations/*.sql").
func (c *Call) Families() []string {
	if c.Path != "" {
		return []string{c.fileFamily()}
	}
	var list, utilities []string
	for _, words := range simpleCommands(c.Command) {
		chain := launchedCommands(words)
		family := commandFamily(chain[len(chain)-1])
		to := &list
		if program, _, _ := strings.Cut(family, " "); isUtility(program) {
			to = &utilities
		}
		if !slices.Contains(*to, family) {
			*to = append(*to, family)
		}
	}
	if len(list) == 0 {
		return utilities
	}
	return list
}

func (c *Call) fileFamily() string {
	path := toSlash(c.Path)
	if rest, inside := c.inFolder(); inside {
		path = rest
	}
	name := baseName(path)
	folder := path[:len(path)-len(name)]
	if i := strings.LastIndexByte(name, '.'); i > 0 && folder != "" {
		name = "*" + name[i:]
	}
	return folder + name
}

// commandFamily returns the program of a command with its subcommand.
func commandFamily(words []string) string {
	n := 1
	for n < min(len(words), subcommandDepth(words)) && isSubcommand(words[n]) {
		n++
	}
	if isUtility(words[0]) {
		n = 1
	}
	return baseName(words[0]) + strings.TrimSuffix(" "+strings.Join(words[1:n], " "), " ")
}

// subcommandDepth returns the number of words that tell the commands of a program apart.
func subcommandDepth(words []string) int {
	switch baseName(words[0]) {
	case "aws", "az", "gcloud", "gh", "glab":
		return 3
	}
	if len(words) > 1 && slices.Contains([]string{"compose", "dlx", "exec", "rollout", "run"}, words[1]) {
		return 3
	}
	return 2
}

// isUtility reports whether a program is part of command lines of every kind, and its
// arguments are no subcommands.
func isUtility(program string) bool {
	switch program {
	case ".", "[", "cat", "cd", "chmod", "cp", "cut", "date", "diff", "echo", "export", "false", "find", "grep", "head",
		"ls", "mkdir", "mv",
		"printf", "pwd", "rg", "rm", "sed", "set", "sleep", "sort", "source", "tail", "tee", "test", "touch", "tr",
		"true", "uniq", "wc", "which", "xargs":
		return true
	}
	return false
}
