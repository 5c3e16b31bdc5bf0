package agentconfig

import (
	"cmp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

// toolRules are the rules that allow the tools of docsearch's server that change nothing.
// The hook allows them as well; the rules also hold where hooks are off.
func toolRules(server string) (rules []string) {
	for _, tool := range []string{"list_databases", "read", "search"} {
		rules = append(rules, "mcp__"+server+"__"+tool)
	}
	return rules
}

// searchRule is the rule that allows searches with the command line.
func searchRule(program string) string { return "Bash(" + program + " search:*)" }

// HasPermissions reports whether the settings of a scope have a rule for docsearch's server,
// whatever it says.
func (c *Claude) HasPermissions(s Scope) bool {
	d, err := readChecked(c.Settings(s), c.checkSettings)
	return d != nil && err == nil && mentionsServer(d, c.Server)
}

// mentionsServer reports whether the rules of a settings document mention a server.
func mentionsServer(d *inplace.Document, server string) bool {
	for _, kind := range []string{"allow", "ask", "deny"} {
		for _, rule := range rulesOf(d, kind) {
			if name := "mcp__" + server; rule == name || strings.HasPrefix(rule, name+"__") {
				return true
			}
		}
	}
	return false
}

// allowTools adds the rules for a server to a settings document that has none.
func allowTools(d *inplace.Document, server string) (err error) {
	if mentionsServer(d, server) {
		return nil
	}
	for _, rule := range toolRules(server) {
		err = cmp.Or(err, allow(d, rule))
	}
	return err
}

// disallowTools removes the rules for a server from a settings document if they are as
// allowTools adds them.
func disallowTools(d *inplace.Document, server string) (err error) {
	allowed, own := rulesOf(d, "allow"), toolRules(server)
	at := slices.Index(allowed, own[0])
	if at < 0 || at+len(own) > len(allowed) || !slices.Equal(allowed[at:at+len(own)], own) {
		return nil
	}
	for range own {
		err = cmp.Or(err, removeAllowed(d, at))
	}
	return err
}

// allowSearches makes the settings allow searches with the command line, of which word runs
// docsearch.
func allowSearches(d *inplace.Document, word string) error {
	if slices.Contains(rulesOf(d, "allow"), searchRule(word)) {
		return nil
	}
	return allow(d, searchRule(word))
}

// disallowSearches removes the rule that allowSearches has added, except for the word kept.
// Without a hook for the command line, the rule is the user's own.
func disallowSearches(d *inplace.Document, kept string) error {
	hooks, err := hookEntries(d)
	if err != nil || !slices.ContainsFunc(hooks, func(h *hookEntry) bool { return h.cli }) {
		return err
	}
	for i, rule := range slices.Backward(rulesOf(d, "allow")) {
		if word := searchWord(rule); word != "" && word != kept {
			err = cmp.Or(err, removeAllowed(d, i))
		}
	}
	return err
}

// allowedWord returns the word for docsearch in the rule that allows searches with the
// command line, or docsearch's name if there is none.
func allowedWord(d *inplace.Document) string {
	for _, rule := range rulesOf(d, "allow") {
		if word := searchWord(rule); word != "" {
			return word
		}
	}
	return "docsearch"
}

// searchWord returns the word for docsearch in a rule of allowSearches, or "".
func searchWord(rule string) string {
	word, ends := strings.CutSuffix(rule, " search:*)")
	word, begins := strings.CutPrefix(word, "Bash(")
	if !begins || !ends || !isDocsearch(strings.Trim(word, `"`)) {
		return ""
	}
	return word
}

// rulesOf returns the rules of a kind: "allow", "ask" or "deny". An item that is no text is "".
func rulesOf(d *inplace.Document, kind string) (rules []string) {
	all := d.Root().Member("permissions")
	if all == nil || all.Member(kind) == nil {
		return nil
	}
	for _, item := range all.Member(kind).Items {
		rules = append(rules, item.Text())
	}
	return rules
}

// allow adds a rule.
func allow(d *inplace.Document, rule string) error { return d.Append(rule, "permissions", "allow") }

// removeAllowed removes the rule at a position, and the containers that become empty.
func removeAllowed(d *inplace.Document, at int) error {
	all := d.Root().Member("permissions")
	switch {
	case len(all.Member("allow").Items) > 1:
		return d.Remove("permissions", "allow", at)
	case len(all.Members) > 1:
		return d.Remove("permissions", "allow")
	}
	return d.Remove("permissions")
}
