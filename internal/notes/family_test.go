package notes

import (
	"slices"
	"testing"
)

func TestFamilies(t *testing.T) {
	for _, test := range []struct {
		call Call
		want []string
	}{
		{Call{Command: "git commit -m x"}, []string{"git commit"}},
		{Call{Command: "cd web && pnpm install && pnpm test 2>&1 | tail -5"}, []string{"pnpm install", "pnpm test"}},
		{Call{Command: "npm run build -- --prod"}, []string{"npm run build"}},
		{Call{Command: "docker compose -f a.yml up"}, []string{"docker compose"}},
		{Call{Command: "uv run pytest -x"}, []string{"pytest"}},
		{Call{Command: "/usr/bin/psql -c 'select 1'"}, []string{"psql"}},
		{Call{Command: "grep -r x . | head"}, []string{"grep", "head"}},
		{Call{Folder: "/p", Path: "/p/db/migrations/1.sql"}, []string{"db/migrations/*.sql"}},
		{Call{Folder: "/p", Path: "/p/Makefile"}, []string{"Makefile"}},
		{Call{Folder: "/p", Path: "/p/main.go"}, []string{"main.go"}},
		{Call{Folder: "/p", Path: "/q/a/.env"}, []string{"/q/a/.env"}},
	} {
		got := test.call.Families()
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: families %q, want %q", test.call, got, test.want)
		}
	}
	if got := (&Call{}).Families(); len(got) > 0 {
		t.Errorf("families %q of no call", got)
	}
}
