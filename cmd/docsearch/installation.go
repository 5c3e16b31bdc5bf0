package main

import (
	"slices"

	"github.com/docsearch/docsearch/internal/agentconfig/installation"
)

// warnAboutInstallation prints a warning for each problem of an installation.
func (a *app) warnAboutInstallation(in installation.Found) {
	for _, err := range in.Ignored {
		a.warn("%v", err)
	}
	for _, d := range in.Duplicates {
		a.warn("%s; %s", installation.DuplicateWarning(d), installation.DuplicateFix(d))
	}
	if i := slices.IndexFunc(in.Hooks, installation.MayDeny); i >= 0 {
		a.warn("%s; %s", installation.MayDenyWarning(in.Hooks[i]),
			"docsearch install"+installation.ScopeOption(in.Hooks[i].Scope))
	}
}
