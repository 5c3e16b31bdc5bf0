package main

import (
	"bufio"
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/origins"
)

// serveRegistry serves an OCI registry at $REGISTRY.
func serveRegistry(env *testscript.Env) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	env.Defer(server.Close)
	env.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
}

// promptedApp returns an app at a terminal where the user types these lines, with an empty
// home.
func promptedApp(t *testing.T, input string) (*app, *terminal.Prompter, *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	for _, variable := range homeEnvironment(home)[len(os.Environ()):] {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	var out bytes.Buffer
	return &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out}, &terminal.Prompter{In: bufio.NewReader(strings.NewReader(input)), Out: &out}, &out
}

// TestTrust asks once about a new publisher.
func TestTrust(t *testing.T) {
	private, public, err := pack.NewKey("docs.example.com")
	path := filepath.Join(t.TempDir(), "key")
	if err == nil {
		err = pack.WriteKey(path, private, public)
	}
	if err != nil {
		t.Fatal(err)
	}
	key, err := pack.ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	subject := pack.Subject{Kind: pack.KindPack, Name: "widgets", Version: "1", Manifest: []byte("{}")}
	signed, err := pack.Sign(subject, []*pack.SigningKey{key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, p, out := promptedApp(t, "n\n\ny\n")
	for range 2 { // no, and the default
		if _, err := library.Trust(t.Context(), console{a}, p, signed, subject, nil); err == nil {
			t.Error("trusted without agreement")
		}
	}
	got, err := library.Trust(t.Context(), console{a}, p, signed, subject, nil)
	if err != nil || got != public {
		t.Fatalf("%q %v", got, err)
	}
	if !strings.Contains(out.String(), string(public)) {
		t.Errorf("the prompt does not show the key: %s", out)
	}
	if err := library.SavePublisher(console{a}, got); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if _, err := library.Trust(t.Context(), console{a}, nil, signed, subject, nil); err != nil || out.Len() > 0 {
		t.Errorf("asked again: %v %s", err, out)
	}
}

// TestDecideURLs gives the pages that two databases claim to one of them.
func TestDecideURLs(t *testing.T) {
	const before = `{"databases": [{"keywords": ["old"], "path": "/old", "description": "Old", "urls": ["https://x.example.com/docs/", "https://y.example.com/"]}]}`
	for _, c := range []struct {
		answer     string
		mine, left string
	}{
		{"n\n", "https://z.example.com/", `"https://x.example.com/docs/", "https://y.example.com/"`},
		{"y\n", "https://x.example.com/ https://z.example.com/", `["https://y.example.com/"]`},
	} {
		a, p, out := promptedApp(t, c.answer)
		locations := config.Locate(os.Getenv)
		writeTestFile(t, locations.Config, before)
		s := &setupCommand{app: a, Steps: terminal.NewSteps(out), prompter: p, locations: locations, name: "new",
			builder: newBuildCommand(a),
			pack:    &library.ChosenPack{Head: &pack.Head{Manifest: &pack.Manifest{URLs: []string{"https://x.example.com/", "https://z.example.com/"}}}}}
		if err := s.decideURLs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.pack.URLs, " "); got != c.mine {
			t.Errorf("%q: the pack has %s, want %s", c.answer, got, c.mine)
		}
		s.pack.Publisher = "docs.example.com+00000000+AAAA"
		if err := s.pack.Accept(locations, s.builder.Console); err != nil {
			t.Fatal(err)
		}
		if data, _ := os.ReadFile(locations.Config); !strings.Contains(string(data), c.left) {
			t.Errorf("%q: the config is %s", c.answer, data)
		}
	}
}

// TestNamedLocations refuses locations on this machine that a catalog, a lock file or a
// server of another machine names.
func TestNamedLocations(t *testing.T) {
	const elsewhere = "https://docs.example.com/catalog"
	for _, c := range []struct {
		location, namer string
		ok              bool
	}{
		{"https://docs.example.com/widgets.dspack", "", true},
		{"oci://registry.example.com/docs/widgets:1", elsewhere, true},
		{"oci://10.0.0.5/docs/widgets:1", elsewhere, true},
		{"oci://127.0.0.1:5000/docs/widgets:1", "oci://127.0.0.1:5000/docs/catalog:latest", true},
		{"http://127.0.0.1:8000/widgets.dspack", "http://localhost:7700", true},
		{"http://127.0.0.1:8000/widgets.dspack", "", false},
		{"http://127.0.0.1:8000/widgets.dspack", elsewhere, false},
		{"http://LocalHost/widgets.dspack", elsewhere, false},
		{"https://[::1]/widgets.dspack", elsewhere, false},
		{"oci://localhost:5000/docs/widgets:1", elsewhere, false},
		{"oci://127.0.0.1:5000/docs/widgets:1", "/home/me/catalog", false},
	} {
		if err := origins.CheckNamed(c.location, c.namer); (err == nil) != c.ok {
			t.Errorf("%s, named by %q: %v", c.location, c.namer, err)
		}
		if err := library.CheckOffered(c.location, c.namer); (err == nil) != c.ok {
			t.Errorf("%s, offered by %q: %v", c.location, c.namer, err)
		}
	}
	for _, file := range []string{"/etc/passwd", "widgets.dspack", `C:\widgets.dspack`, "file:///etc/passwd", ""} {
		if err := library.CheckOffered(file, elsewhere); err == nil {
			t.Errorf("a server offers the file %q", file)
		}
	}
}
