package gitrepo

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/docsearch/docsearch/internal/file/execpath"
)

// A Tag is a tag of a repository and its commit.
type Tag struct{ Name, Commit string }

// VersionTags asks the server for the tags that are version numbers, such as "v1.10" and
// "tool-1.10.2", lowest version first. Prereleases are no version numbers.
func VersionTags(ctx context.Context, r Repo) (tags []Tag, err error) {
	program, err := execpath.Find("git")
	if err != nil {
		return nil, ErrNoGit
	}
	dir, err := os.MkdirTemp("", "docsearch-tags-")
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	g := &git{program, dir}
	if err := g.create(ctx, r); err != nil {
		return nil, err
	}
	err = g.stream(ctx, isolated(r.protocol()), nil, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			commit, name, _ := strings.Cut(lines.Text(), "\trefs/tags/")
			name, isPeeled := strings.CutSuffix(name, "^{}") // the commit of the annotated tag before it
			switch {
			case !isVersionTag(name):
			case isPeeled && len(tags) > 0 && tags[len(tags)-1].Name == name:
				tags[len(tags)-1].Commit = commit
			default:
				tags = append(tags, Tag{name, commit})
			}
		}
		return lines.Err()
	}, "ls-remote", "--quiet", "--tags", "--sort=version:refname", "--end-of-options", "origin")
	if err != nil {
		return nil, fmt.Errorf("cannot list the tags of %s: %w", r.URL, err)
	}
	return tags, nil
}

// isVersionTag reports whether a tag ends in a version of two numbers or more, which follows
// nothing, a "v", or a name with a separator.
func isVersionTag(tag string) bool {
	name := strings.TrimRight(tag, "0123456789._")
	version := tag[len(name):]
	return strings.ContainsAny(version, "._") && version[0] != '.' && version[0] != '_' &&
		(name == "" || name == "v" || strings.HasSuffix(name, "-v") || strings.ContainsAny(name[len(name)-1:], "-@/"))
}
