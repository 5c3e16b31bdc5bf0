package notes

import (
	"slices"
	"strings"
)

// Levels of relation between a failure and a name, the weakest first.
const (
	Unrelated    = iota
	SameLanguage // a program of the language runs, or the named program runs another one
	SameProgram  // the call runs the named program
	InOutput     // the output mentions a module of that name
)

// Relation returns the strongest relation between a failed call and the names: the call
// runs a program of that name or in that language, or the output mentions a module of that
// name.
func (c *Call) Relation(names []string) int {
	failure := strings.ToLower(c.Failure)
	most := Unrelated
	for _, name := range names {
		name = strings.ToLower(name)
		if namesModule(failure, name) {
			return InOutput
		}
		for _, words := range simpleCommands(c.Command) {
			chain := launchedCommands(words)
			for i, run := range chain {
				switch {
				case i == len(chain)-1 && isProgramOf(run, name):
					most = SameProgram
				case isProgramOf(run, name), slices.Contains(languagesOf(run[0]), canonicalLanguage(name)):
					most = max(most, SameLanguage)
				}
			}
		}
	}
	return most
}

// isProgramOf reports whether a command's program belongs to a name: pg_dump to pg,
// apache2ctl to apache2, python3 to python, manage.py to django.
func isProgramOf(words []string, name string) bool {
	if name == "django" && slices.ContainsFunc(words[:min(len(words), 2)],
		func(w string) bool { return baseName(w) == "manage.py" }) {
		return true
	}
	program := strings.TrimSuffix(strings.ToLower(baseName(words[0])), ".exe")
	rest, ok := strings.CutPrefix(program, name)
	return ok && (rest == "" || rest == "ctl" || rest == "d" || rest[0] == '_' || rest[0] == '-' ||
		strings.Trim(rest, "0123456789.") == "")
}

// namesModule reports whether output mentions a module, in the path of an installed
// package or before an exception.
func namesModule(output, name string) bool {
	for _, folder := range [...]string{"site-packages/", "dist-packages/", "node_modules/", "gems/"} {
		if strings.Contains(output, folder+name+"/") {
			return true
		}
	}
	return strings.HasPrefix(output, name+".") || strings.Contains(output, "\n"+name+".")
}
