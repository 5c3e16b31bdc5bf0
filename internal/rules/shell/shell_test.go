package shell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommands(t *testing.T) {
	for _, test := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"kubectl get pods", []string{"kubectl get pods"}},
		{"A=1 B=2 make -j2 all", []string{"make -j2 all"}},
		{"A=1", nil},
		{"a; b && c || d | e &", []string{"a", "b", "c", "d", "e"}},
		{`echo "kubectl; x" '$(y)' # z`, []string{`echo "kubectl; x" '$(y)'`}},
		{"cat > f <<'EOF'\nkubectl\nEOF", []string{"cat > f <<'EOF'"}},
		{"cat <<EOF | jq .\n{}\nEOF", []string{"cat <<EOF", "jq ."}},
		{"echo $(a | b) `c`", []string{"echo $(a | b) `c`", "a", "b", "c"}},
		{"if a; then b; fi; for x in 1 2; do c $x; done; f() { d; }; (e; g)", []string{"a", "b", "c $x", "d", "e", "g"}},
		{"! time a", []string{"a"}},
		{"diff <(a) <(b)", []string{"diff <(a) <(b)", "a", "b"}},
		{"2>/dev/null ls", []string{"ls"}},
		{"ls 2>/dev/null -l", []string{"ls 2>/dev/null -l"}},

		{`bash -c 'curl x; y'`, []string{`bash -c 'curl x; y'`, "curl x", "y"}},
		{`sh -ec "curl \"a b\"" 0 1`, []string{`sh -ec "curl \"a b\"" 0 1`, `curl "a b"`}},
		{`bash script.sh -c x`, []string{"bash script.sh -c x"}},
		{`bash -c "curl $x"`, []string{`bash -c "curl $x"`}},
		{`bash -c 'if'`, []string{`bash -c 'if'`}},
		{"A=1 sudo -u root -E curl x > f", []string{"sudo -u root -E curl x > f", "curl x > f"}},
		{"env -i -u HOME A=1 B=2 curl x", []string{"env -i -u HOME A=1 B=2 curl x", "curl x"}},
		{"env -S 'curl x' y", []string{"env -S 'curl x' y", "curl x y"}},
		{"env", []string{"env"}},
		{"ls | xargs -n 1 -I {} curl {}", []string{"ls", "xargs -n 1 -I {} curl {}", "curl {}"}},
		{"timeout -k 5 10 nice -n 3 curl", []string{"timeout -k 5 10 nice -n 3 curl", "nice -n 3 curl", "curl"}},
		{"sudo -- sh -c 'env curl x'", []string{"sudo -- sh -c 'env curl x'", "sh -c 'env curl x'", "env curl x", "curl x"}},
		{`find . -name '*.go' -exec curl {} \; -print`, []string{`find . -name '*.go' -exec curl {} \; -print`, "curl {}"}},
		{"eval 'curl x' '&& y'", []string{"eval 'curl x' '&& y'", "curl x", "y"}},
		{"$(which curl) -s x", []string{"$(which curl) -s x", "curl -s x", "which curl"}},
		{"\"`command -v curl`\" x", []string{"\"`command -v curl`\" x", "curl x", "command -v curl", "curl"}},
		{"/usr/bin/curl x", []string{"/usr/bin/curl x", "curl x"}},
		{`\curl x; "cu"'rl' y; c\url`, []string{`\curl x`, "curl x", `"cu"'rl' y`, "curl y", `c\url`, "curl"}},
		{"$CURL x", []string{"$CURL x"}},
		{"echo sudo curl", []string{"echo sudo curl"}},
	} {
		got, err := Commands(test.line)
		if err != nil {
			t.Errorf("%q: %v", test.line, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.line, diff)
		}
	}
	for _, line := range []string{"if", "echo 'x", "a ((", strings.Repeat("$(", maxNesting+1)} {
		if got, err := Commands(line); err == nil {
			t.Errorf("%.20q: %q, want an error", line, got)
		}
	}
}

// Any line ends in commands or an error, and commands within others are limited.
func FuzzCommands(f *testing.F) {
	f.Add("a && b | $(c) <<EOF\nx\nEOF\n")
	f.Add("f() { 2>&1 a; }; `b`")
	f.Add(`sudo -u x env A=1 bash -c 'eval "find . -exec sh -c $(which y) \;"' > f`)
	f.Fuzz(func(t *testing.T, line string) {
		commands, err := Commands(line)
		if err != nil && len(commands) > 0 {
			t.Errorf("%q: %v, and commands %q", line, err, commands)
		}
		if len(commands) > 2*(maxWrappers+1)*(len(line)+1) {
			t.Errorf("%d commands in %q", len(commands), line)
		}
	})
}
