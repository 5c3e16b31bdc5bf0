package installation

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/library"
)

// Leftovers returns the files and folders that remain of docsearch when no agent runs it: the
// config, the state of the hook, the databases, the cache, the backups of the agents' settings,
// and the files of "make install" if program is one of them.
func Leftovers(claude *agentconfig.Claude, p *agentconfig.Places, l config.Locations, program string) []string {
	var all []string
	for _, s := range agentconfig.Scopes {
		all = append(all, agentconfig.Backups(claude, p, s)...)
	}
	all = append(all, l.Config, l.Cache)
	all = append(all, agentconfig.BackupsOf(l.Config)...)
	all = append(all, named(l.State, "docsearch-", "")...)
	all = append(all, dataFiles(l)...)
	all = append(all, madeByInstall(program)...)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(path string) bool {
		_, err := os.Lstat(path)
		return path == "" || err != nil
	})
}

// dataFiles returns the data folder, or what docsearch put into it if the folder is one that the
// user has chosen.
func dataFiles(l config.Locations) []string {
	keys := []string{config.KeyPath(os.Getenv), config.PublisherKeyPath(os.Getenv), config.TokensPath(os.Getenv), config.MigrationPath(os.Getenv), filepath.Dir(config.ProgramPath(os.Getenv))}
	if filepath.Base(l.Data) == "docsearch" {
		return append(keys, l.Data, l.Projects)
	}
	for _, dir := range named(l.Data, "", "") {
		if library.IsDatabase(dir) || strings.HasPrefix(filepath.Base(dir), ".mirrors") {
			keys = append(keys, dir)
		}
	}
	return append(keys, l.Projects)
}

// madeByInstall returns the files that "make install" wrote with a program, and no others.
func madeByInstall(program string) []string {
	bin := filepath.Dir(program)
	share := filepath.Join(filepath.Dir(bin), "share")
	manual := filepath.Join(share, "man", "man1")
	page := filepath.Join(manual, "docsearch.1")
	if _, err := os.Stat(page); err != nil || filepath.Base(bin) != "bin" {
		return nil
	}
	all := []string{
		page,
		filepath.Join(share, "bash-completion", "completions", "docsearch"),
		filepath.Join(share, "zsh", "site-functions", "_docsearch"),
		filepath.Join(share, "fish", "vendor_completions.d", "docsearch.fish"),
		filepath.Join(share, "powershell", "completions", "docsearch.ps1"),
	}
	for _, name := range []string{"docsearch", "docsearch-hook"} {
		all = append(all, filepath.Join(bin, name), filepath.Join(bin, name+".exe"))
	}
	return append(all, named(manual, "docsearch-", ".1")...)
}

// named returns the paths in a folder whose names have a prefix and a suffix.
func named(dir, prefix, suffix string) (paths []string) {
	entries, _ := os.ReadDir(dir) // a folder that cannot be read has nothing of docsearch
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), suffix) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}
