package notes

import (
	"slices"
	"testing"
)

func TestFamilies(t *testing.T) {
	for _, test := range []struct {
		call  Call
		want  []string
		other Call // meets want
	}{
		{Call{Command: "git commit -m x"}, []string{"git commit"}, Call{Command: "sudo git commit --amend"}},
		{Call{Command: "cd web && pnpm install && pnpm test 2>&1 | tail -5"}, []string{"pnpm install", "pnpm test"}, Call{Command: "pnpm test --watch"}},
		{Call{Command: "npm run build -- --prod"}, []string{"npm run build"}, Call{Command: "npm run build"}},
		{Call{Command: "docker compose -f a.yml up"}, []string{"docker compose"}, Call{Command: "docker compose ps"}},
		{Call{Command: "uv run pytest -x"}, []string{"pytest"}, Call{Command: "python -m pytest"}},
		{Call{Command: "/usr/bin/psql -c 'select 1'"}, []string{"psql"}, Call{Command: "psql shop"}},
		{Call{Command: "grep -r x . | head"}, []string{"grep", "head"}, Call{Command: "grep y"}},
		{Call{Folder: "/p", Path: "/p/db/migrations/1.sql"}, []string{"db/migrations/*.sql"}, Call{Folder: "/p", Path: "/p/db/migrations/2.sql"}},
		{Call{Folder: "/p", Path: "/p/Makefile"}, []string{"Makefile"}, Call{Folder: "/q", Path: "/q/Makefile"}},
		{Call{Folder: "/p", Path: "/p/main.go"}, []string{"main.go"}, Call{Folder: "/p", Path: "/p/main.go"}},
		{Call{Folder: "/p", Path: "/q/a/.env"}, []string{"/q/a/.env"}, Call{Path: "/q/a/.env"}},
	} {
		got := test.call.Families()
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: families %q, want %q", test.call, got, test.want)
		}
		if !test.call.In(got) || !test.other.In(got) {
			t.Errorf("%+v or %+v is not in %q", test.call, test.other, got)
		}
	}
	if c := (Call{Command: "git push"}); c.In([]string{"git commit"}) || len((&Call{}).Families()) > 0 {
		t.Error("another command is in the family")
	}
}
