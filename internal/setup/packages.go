package setup

import (
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/project"
)

// maxPackageKeywords limits the keywords of a package.
const maxPackageKeywords = 8

// PackageKeywords suggests the keywords of the documentation of a package. Modules are the
// names under which programs import it, if they differ from its own.
//
// A common word is a keyword only if it is the whole name of the package: the project uses
// it, and a keyword alone denies no search.
func PackageKeywords(d *project.Dependency, modules []string) []string {
	var words []string
	add := func(list ...string) {
		for _, w := range list {
			w = strings.ToLower(strings.TrimSpace(w))
			if w != "" && len(words) < maxPackageKeywords && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	addUnlessCommon := func(list ...string) {
		for _, w := range list {
			if !isCommon(strings.ToLower(w)) {
				add(w)
			}
		}
	}
	short := d.ShortName()
	switch d.Ecosystem {
	case project.Go:
		plain := strings.TrimSuffix(strings.TrimPrefix(short, "go-"), "-go")
		addUnlessCommon(short, plain)
		add(d.Name, ownerAndName(d.Name, short), "golang "+plain)
	case project.Node, project.PHP:
		scope, rest, scoped := strings.Cut(strings.TrimPrefix(d.Name, "@"), "/")
		if scoped {
			addUnlessCommon(rest)
			add(d.Name, scope+" "+rest)
			break
		}
		add(d.Name)
		addUnlessCommon(strings.TrimSuffix(d.Name, ".js"), strings.TrimSuffix(strings.TrimSuffix(d.Name, "js"), "."))
	default:
		add(short, d.Name)
	}
	if c, ok := FindConflict(short); ok && d.Ecosystem != project.Go {
		add(c.Instead...)
	}
	add(aliasesOf(strings.ToLower(short))...)
	addUnlessCommon(modules...)
	return words
}

// ownerAndName returns the element of a module's path before its name, with the name:
// "spf13/cobra".
func ownerAndName(module, name string) string {
	parts := strings.Split(module, "/")
	i := slices.IndexFunc(parts, func(p string) bool { return p == name || strings.HasPrefix(p, name+".") })
	if i < 1 {
		return module
	}
	return path.Join(parts[i-1], parts[i])
}

// isCommon reports whether a name is a common word, or part of the names of many packages.
func isCommon(name string) bool {
	if _, conflict := FindConflict(name); conflict {
		return true
	}
	return slices.Contains(commonNames[:], name)
}

var commonNames = [...]string{
	"adapter", "async", "auth", "base", "bytes", "cache", "chart", "charts", "check", "cli", "client", "color",
	"common", "compress", "config", "container", "context",
	"core", "crypto", "csv", "date", "debug", "dev", "dom", "env", "error", "errors", "event", "events", "exp", "file",
	"fs", "glob", "gosrc", "group", "hash", "icons", "image",
	"io", "json", "kit", "language", "lib", "log", "logger", "logging", "main", "mod", "mock", "native", "net",
	"oauth2", "object", "parser", "path", "plugin", "queue",
	"random", "router", "runtime", "schema", "sdk", "semver", "session", "site", "socket", "source", "store", "string",
	"style", "sync", "sys", "table", "template",
	"term", "text", "theme", "time", "token", "toml", "tools", "tracing", "type", "types", "ui", "url", "util", "utils",
	"uuid", "validator", "vm", "xml", "yaml",
}
