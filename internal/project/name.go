package project

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// ShortName returns the name as people write it: "cobra" for github.com/spf13/cobra,
// "okhttp" for com.squareup.okhttp3:okhttp, "query-core" for @tanstack/query-core.
func (d *Dependency) ShortName() string {
	name := d.Name
	switch d.Ecosystem {
	case Go:
		if prefix, major, ok := module.SplitPathVersion(name); ok && major != "" {
			name = prefix
		}
		name = path.Base(name)
	case Java:
		name = name[strings.LastIndexByte(name, ':')+1:]
	default:
		name = path.Base(name)
	}
	return name
}

// FileNames returns names for a folder of the package, without the version, from the
// shortest to the one that no other package has: "errors", "pkg-errors",
// "github.com-pkg-errors", "go-github.com-pkg-errors".
func (d *Dependency) FileNames() []string {
	parts := strings.FieldsFunc(d.Name, func(r rune) bool { return r == '/' || r == ':' })
	var names []string
	add := func(name string) {
		name = strings.Trim(strings.ReplaceAll(strings.ToLower(name), "@", ""), ".-")
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if d.Ecosystem == Node && len(parts) == 2 { // a scope is part of the name
		parts = []string{parts[0] + "-" + parts[1]}
	}
	if d.Ecosystem == Go {
		add(d.ShortName())
	}
	for i := len(parts) - 1; i >= 0; i-- {
		if name := strings.Join(parts[i:], "-"); !isMajor(name) {
			add(name)
		}
	}
	add(d.Ecosystem + "-" + strings.Join(parts, "-"))
	return names
}

// isMajor reports whether the last element of a module's path is only its version.
func isMajor(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}
