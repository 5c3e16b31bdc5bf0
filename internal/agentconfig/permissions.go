package agentconfig

import (
	"cmp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

// permissions are the rules that permit the tools of docsearch's server that change nothing.
// The hook permits them as well; the rules also hold where hooks are off.
func permissions(server string) (rules []string) {
	for _, tool := range []string{"list_databases", "read", "search"} {
		rules = append(rules, "mcp__"+server+"__"+tool)
	}
	return rules
}

// HasPermissions reports whether the settings of a scope have a rule for docsearch's server,
// whatever it says.
func (c *Claude) HasPermissions(s Scope) bool {
	d, err := readChecked(c.Settings(s), c.checkSettings)
	return d != nil && err == nil && mentionsServer(d, c.Server)
}

// mentionsServer reports whether the rules of a settings document mention a server.
func mentionsServer(d *inplace.Document, server string) bool {
	rules, _ := d.Values()["permissions"].(map[string]any)
	for _, kind := range []string{"allow", "ask", "deny"} {
		for _, rule := range stringsOf(rules[kind]) {
			if name := "mcp__" + server; rule == name || strings.HasPrefix(rule, name+"__") {
				return true
			}
		}
	}
	return false
}

// putPermissions adds the permissions to a settings document that has no rule for the server.
func putPermissions(d *inplace.Document, server string) error {
	if mentionsServer(d, server) {
		return nil
	}
	for _, rule := range permissions(server) {
		if err := d.Append(rule, "permissions", "allow"); err != nil {
			return err
		}
	}
	return nil
}

// dropPermissions removes the permissions from a settings document if they are as
// putPermissions adds them, and the containers that become empty.
func dropPermissions(d *inplace.Document, server string) (err error) {
	rules, _ := d.Values()["permissions"].(map[string]any)
	allowed, want := stringsOf(rules["allow"]), permissions(server)
	at := slices.Index(allowed, want[0])
	if at < 0 || at+len(want) > len(allowed) || !slices.Equal(allowed[at:at+len(want)], want) {
		return nil
	}
	switch {
	case len(allowed) > len(want):
		for range want {
			err = cmp.Or(err, d.Remove("permissions", "allow", at))
		}
		return err
	case len(rules) > 1:
		return d.Remove("permissions", "allow")
	}
	return d.Remove("permissions")
}
