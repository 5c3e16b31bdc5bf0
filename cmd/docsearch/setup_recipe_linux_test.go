package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/docsearch/docsearch/recipes"
)

// TestRecipesEndToEnd sets up recipes by their names. A proxy on the loopback
// interface stands for the internet: it serves the pages and repositories of
// testdata/recipes under the hosts that the recipes name, with certificates of
// its own. SSL_CERT_FILE makes the program trust them, on Linux only. Files below
// HOME are installed documentation. Pages with the word "xylophone" must not be
// indexed.
func TestRecipesEndToEnd(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	program := filepath.Join(binary(t), executable("docsearch"))
	files, err := filepath.Glob("testdata/recipes/*.txtar")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d recipes have a mirror: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newRecipeHome(t, program, mirrorFiles(t, file))
			r, err := recipes.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			out := h.run(t, "setup", name, "--yes", "--no-install")
			for _, want := range []string{
				"license: " + r.License,
				fmt.Sprintf("answers %d of ", len(r.Questions)) + count(len(r.Questions), "question") + " of the recipe",
				"\nThe hook denied it in ",
				r.Questions[0].Text,
			} {
				if !strings.Contains(out, want) {
					t.Errorf("setup does not print %q:\n%s", want, out)
				}
			}
			if found := h.run(t, "search", "--db", name, "xylophone", "--json"); strings.Contains(found, "The xylophone") || strings.Contains(found, "the xylophone") {
				t.Errorf("the recipe includes pages that it must leave out:\n%s", found)
			}
			if out := h.run(t, "setup", name, "--yes", "--no-install"); !strings.Contains(out, ", built just now from ") {
				t.Errorf("a second setup builds the database again:\n%s", out)
			}
		})
	}
}

// TestRecipeVersions sets up two versions and an unknown one, and several
// recipes of which one fails.
func TestRecipeVersions(t *testing.T) {
	program := filepath.Join(binary(t), executable("docsearch"))
	h := newRecipeHome(t, program, mirrorFiles(t, "testdata/recipes/django.txtar"))
	out, err := h.command(t, "setup", "django@4.2", "sqlite", "django", "--yes", "--no-install").CombinedOutput()
	text := string(out)
	if err == nil || !strings.Contains(text, "docsearch: cannot set up sqlite\n") {
		t.Errorf("%v: %s", err, text)
	}
	config, err := os.ReadFile(filepath.Join(h.home, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name": "django-4.2"`, `"version": "4.2"`, `"https://docs.djangoproject.com/en/4.2/"`, `"https://docs.djangoproject.com/en/5.2/"`} {
		if !strings.Contains(string(config), want) {
			t.Errorf("the config lacks %s:\n%s", want, config)
		}
	}
	if strings.Contains(string(config), "sqlite") {
		t.Errorf("the config has an entry that failed:\n%s", config)
	}
	if out, err := h.command(t, "setup", "django@9.9", "--yes", "--no-install").CombinedOutput(); err == nil || !strings.Contains(string(out), "404") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRecipeFromURL downloads a recipe over HTTPS.
func TestRecipeFromURL(t *testing.T) {
	program := filepath.Join(binary(t), executable("docsearch"))
	long := txtar.File{Name: "team.example.org/recipes/large.toml", Data: make([]byte, recipes.MaxFile+1)}
	h := newRecipeHome(t, program, append(mirrorFiles(t, "testdata/recipes/own.txt"), long))
	out := h.run(t, "setup", "https://team.example.org/recipes/widgets.toml", "--yes", "--no-install")
	for _, want := range []string{
		`warning: the database does not answer "widgets steam engine boiler pressure", a question of its recipe`,
		"answers 1 of 2 questions of the recipe",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("setup does not print %q:\n%s", want, out)
		}
	}
	for name, want := range map[string]string{
		"large.toml": "larger than the limit of 64 KB",
		"none.toml":  "404 Not Found",
		"moved.toml": "it redirects to https://other.example.org/",
		"bad.toml":   `bad.toml:1:1: unknown key "colour"`,
	} {
		out, err := h.command(t, "setup", "https://team.example.org/recipes/"+name, "--yes").CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// TestRecipesCheckOnline finds each fault of a recipe in its repository.
func TestRecipesCheckOnline(t *testing.T) {
	program := filepath.Join(binary(t), executable("docsearch"))
	h := newRecipeHome(t, program, mirrorFiles(t, "testdata/recipes/check.txt"))
	if out := h.run(t, "recipes", "check", "./valid.toml"); out != "1 recipe, all valid\n" {
		t.Errorf("without --online:\n%s", out)
	}
	out := h.run(t, "recipes", "check", "./valid.toml", "--online")
	if !regexp.MustCompile(`(?m)^\./valid\.toml: verified = \{date = "\d{4}-\d\d-\d\d", commit = "[0-9a-f]{40}", documents = 6, bytes = [1-9]\d+\}$`).MatchString(out) {
		t.Errorf("a valid recipe:\n%s", out)
	}
	faults := map[string]string{
		"unreleased": "unreleased: it reads the default branch, but the repository has the tag v1.2: want ref",
		"languages":  "several languages: fr (5 documents), ja (1 document): want exclude",
		"versions":   "several versions or dialects: docs/1.0 and docs/2.0 have 5 pages of the same names: want include of one",
		"wide":       "wider than the documentation: docs/blog (1 document): want exclude",
		"generated":  "generated elsewhere: 3 of 9 documents take text from source code, such as docs/bell.rst: want site",
		"license":    "wrong license: Apache-2.0, but the license file of the repository is MIT",
		"folder":     `no document matches "guide/**" in include`,
		"lost":       "only 6 documents, of 40 when last verified",
		"page":       `it answers "widgets crank ratio setting" from docs/crank.md instead of docs/bell.md`,
		"unanswered": `it does not answer "widgets steam engine boiler pressure"`,
		"tag":        "cannot fetch https://git.example.org/valid.git#release-*: no tag matches",
		"repository": "cannot list the tags of https://git.example.org/nowhere.git: git ls-remote: repository 'https://git.example.org/nowhere.git/' not found",
	}
	args := []string{"recipes", "check", "--online"}
	for name := range faults {
		args = append(args, "./"+name+".toml")
	}
	report, err := h.command(t, args...).CombinedOutput()
	if want := fmt.Sprintf("docsearch: %d recipes of %[1]d invalid\n", len(faults)); err == nil || !strings.HasSuffix(string(report), want) {
		t.Errorf("%v, want %s:\n%s", err, want, report)
	}
	for name, want := range faults {
		if !strings.Contains(string(report), "./"+name+".toml: "+want+"\n") {
			t.Errorf("%s: want %s:\n%s", name, want, report)
		}
	}
	if left, err := filepath.Glob(filepath.Join(h.home, "tmp", "*")); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
	if databases, err := filepath.Glob(filepath.Join(h.home, ".local", "share", "docsearch", "[^.]*")); err != nil || len(databases) > 0 {
		t.Errorf("a check writes to the data folder: %v, %v", databases, err)
	}
}

// A recipeHome is a home directory whose processes see a mirror instead of the
// internet.
type recipeHome struct {
	program, home string
	env           []string
}

// mirrorFiles returns the files of a mirror: pages by host and path, files of a
// repository as "HOST/PATH.git@REF/NAME", and files below HOME.
func mirrorFiles(t *testing.T, archive string) []txtar.File {
	t.Helper()
	parsed, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Files
}

func newRecipeHome(t *testing.T, program string, files []txtar.File) *recipeHome {
	t.Helper()
	home := t.TempDir()
	m := newMirror(t)
	for _, f := range files {
		if below, ok := strings.CutPrefix(f.Name, "HOME/"); ok {
			writeBelow(t, home, below, f.Data)
		} else if repository, rest, ok := strings.Cut(f.Name, ".git@"); ok {
			ref, name, _ := strings.Cut(rest, "/")
			m.add(repository+".git", ref, name, f.Data)
		} else {
			m.pages[f.Name] = f.Data
		}
	}
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	proxy, authority := m.start(t)
	h := &recipeHome{program: program, home: home}
	h.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "GOROOT=" + filepath.Join(home, "goroot"), "MANPATH=" + filepath.Join(home, "man"),
		"HTTPS_PROXY=" + proxy, "HTTP_PROXY=" + proxy, "SSL_CERT_FILE=" + authority, "GIT_SSL_CAINFO=" + authority, "GIT_CONFIG_NOSYSTEM=1",
		"DOCSEARCH_CONFIG_PATH=" + filepath.Join(home, "config.json"),
	}
	return h
}

func (h *recipeHome) command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), h.program, args...)
	cmd.Dir, cmd.Env = h.home, h.env
	return cmd
}

func (h *recipeHome) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := h.command(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docsearch %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func writeBelow(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A mirror serves pages and git repositories of any number of hosts.
type mirror struct {
	pages        map[string][]byte                       // by host and path
	repositories map[string]map[string]map[string][]byte // files by repository, ref and name
	root         string                                  // folder of the repositories
	backend      string                                  // git http-backend
}

func newMirror(t *testing.T) *mirror {
	m := &mirror{pages: map[string][]byte{}, repositories: map[string]map[string]map[string][]byte{}, root: t.TempDir()}
	if out, err := exec.Command("git", "--exec-path").Output(); err == nil {
		m.backend = filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	}
	return m
}

func (m *mirror) add(repository, ref, name string, data []byte) {
	if m.repositories[repository] == nil {
		m.repositories[repository] = map[string]map[string][]byte{}
	}
	if m.repositories[repository][ref] == nil {
		m.repositories[repository][ref] = map[string][]byte{}
	}
	m.repositories[repository][ref][name] = data
}

// start returns the URL of the proxy and the file of its certificate.
func (m *mirror) start(t *testing.T) (proxy, authority string) {
	t.Helper()
	for repository, refs := range m.repositories {
		m.commit(t, filepath.Join(m.root, repository), refs)
	}
	var hosts []string
	for _, name := range append(keysOf(m.pages), keysOf(m.repositories)...) {
		host, _, _ := strings.Cut(name, "/")
		hosts = append(hosts, host)
	}
	certificate, pemText := selfSigned(t, hosts)
	authority = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pemText, 0o644); err != nil {
		t.Fatal(err)
	}
	internet := httptest.NewUnstartedServer(m)
	internet.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	internet.StartTLS()
	t.Cleanup(internet.Close)
	address := internet.Listener.Addr().String()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, _ := net.SplitHostPort(r.Host); r.Method != http.MethodConnect || !slices.Contains(hosts, host) {
			http.Error(w, "no such host", http.StatusBadGateway)
			return
		}
		tunnel(w, address)
	}))
	t.Cleanup(server.Close)
	return server.URL, authority
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// commit creates a repository with one unrelated commit for each ref: a tag if
// it starts with "v", otherwise a branch.
func (m *mirror) commit(t *testing.T, dir string, refs map[string]map[string][]byte) {
	t.Helper()
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "--quiet", "-b", "empty")
	git("config", "uploadpack.allowFilter", "true")
	for ref, files := range refs {
		git("checkout", "--quiet", "--orphan", "new-"+ref)
		git("rm", "-r", "--quiet", "--force", "--ignore-unmatch", ".")
		for name, data := range files {
			writeBelow(t, dir, name, data)
		}
		git("add", "--all")
		git("commit", "--quiet", "--message", ref)
		if strings.HasPrefix(ref, "v") {
			git("tag", ref)
		} else {
			git("branch", ref)
		}
	}
	if refs["main"] != nil {
		git("symbolic-ref", "HEAD", "refs/heads/main")
	}
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if repository, rest, ok := strings.Cut(r.Host+r.URL.Path, ".git/"); ok {
		backend := cgi.Handler{Path: m.backend, Env: []string{
			"GIT_PROJECT_ROOT=" + m.root, "GIT_HTTP_EXPORT_ALL=1", "PATH_INFO=/" + repository + ".git/" + rest, "GIT_CONFIG_GLOBAL=" + os.DevNull,
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		}}
		backend.ServeHTTP(w, r)
		return
	}
	data, ok := m.pages[r.Host+r.URL.Path]
	switch {
	case !ok:
		http.NotFound(w, r)
	case strings.HasPrefix(string(data), "Location: "):
		http.Redirect(w, r, strings.TrimSpace(strings.TrimPrefix(string(data), "Location: ")), http.StatusFound)
	default:
		w.Header().Set("Content-Type", map[string]string{".txt": "text/plain", ".toml": "text/plain", ".md": "text/markdown", ".xml": "application/xml"}[path.Ext(r.URL.Path)])
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		w.Write(data)
	}
}

// tunnel connects the client of a CONNECT request to an address.
func tunnel(w http.ResponseWriter, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		server.Close()
		return
	}
	io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	var closing sync.Once
	closeBoth := func() { closing.Do(func() { client.Close(); server.Close() }) }
	go func() {
		io.Copy(server, buffered)
		closeBoth()
	}()
	go func() {
		io.Copy(client, server)
		closeBoth()
	}()
}

// selfSigned returns a certificate for hosts and its PEM text.
func selfSigned(t *testing.T, hosts []string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mirror"}, DNSNames: hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// Setup asks before it downloads the documentation of a recipe. The name may be an
// argument or the answer to the first prompt.
func TestSetupAsksForRecipe(t *testing.T) {
	t.Run("argument", func(t *testing.T) {
		home := t.TempDir()
		refuseRecipe(t, home, startDialogue(t, home, t.TempDir(), "django"))
	})
	t.Run("answer", func(t *testing.T) {
		home := t.TempDir()
		d := startDialogue(t, home, t.TempDir())
		d.answer(`or LEANN index\):`, "django\n")
		refuseRecipe(t, home, d)
	})
}

func refuseRecipe(t *testing.T, home string, d *dialogue) {
	t.Helper()
	d.answer(`Download this documentation\? \[Y/n\]`, "n\n")
	shown, code := d.wait()
	if code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"Django 5.2, from https://docs.djangoproject.com/en/5.2/ (size unknown)\n", "license: BSD-3-Clause, ", "docsearch: nothing was downloaded\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if _, err := os.Stat(filepath.Join(home, ".local", "share", "docsearch", "django")); err == nil {
		t.Error("the database folder exists")
	}
}
