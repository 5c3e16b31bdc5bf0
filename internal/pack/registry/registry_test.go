package registry

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/docsearch/docsearch/internal/file/filetest"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/pack"
)

// serve serves a real registry through a filter, and returns its host. next handles a
// request as the registry does.
func serve(t *testing.T, referrers bool, filter func(next http.Handler, w http.ResponseWriter, r *http.Request)) string {
	t.Helper()
	real := registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(referrers))
	handler := real
	if filter != nil {
		handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { filter(real, w, r) })
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // not the credentials of this machine
	return strings.TrimPrefix(server.URL, "http://")
}

func newKey(t *testing.T, name string) *pack.SigningKey {
	t.Helper()
	private, public, err := pack.NewKey(name)
	path := filepath.Join(t.TempDir(), "key")
	if err == nil {
		err = pack.WriteKey(path, private, public)
	}
	if err != nil {
		t.Fatal(err)
	}
	k, err := pack.ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// makePack makes a signed pack of n pages. A marker changes the last one.
func makePack(t *testing.T, n int, marker string, key *pack.SigningKey) *pack.Draft {
	t.Helper()
	docs, dir := t.TempDir(), t.TempDir()
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "# Page %d\n\n", i)
		for range 700 {
			fmt.Fprintf(&b, "word%d ", rng.IntN(5000))
		}
		if i == n-1 {
			b.WriteString(marker)
		}
		if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("p%03d.md", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	source, err := ingest.NewFolder(docs, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := index.Build(t.Context(), dir, source, index.BuildOptions{Tool: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := pack.Make(t.Context(), generation.GenerationOf(dir, info.Manifest), pack.MakeOptions{Tool: "1.0.0", Manifest: pack.Manifest{
		Name: "widgets", Title: "Widgets", Description: "Widgets documentation", Keywords: []string{"widgets"}, License: "MIT", Attribution: "Widgets", Source: pack.Source{Kind: "folder"},
	}})
	if err == nil {
		err = d.Sign([]*pack.SigningKey{key}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// install builds the database of a pack in dir.
func install(t *testing.T, dir string, open func(context.Context) (pack.Origin, error), key pack.Key) (*pack.Database, error) {
	t.Helper()
	s := &pack.Database{Location: "oci://x/y", Cache: filepath.Join(dir, "..", "cache"), Tool: "1.0.0", Open: open,
		Accept: func(_ context.Context, h *pack.Head) error {
			_, _, err := h.Signatures.Verify(h.Subject(), []pack.Key{key})
			return err
		}}
	_, err := index.Build(t.Context(), dir, s, index.BuildOptions{Tool: "1.0.0", Update: true})
	return s, err
}

func opener(reference string) func(context.Context) (pack.Origin, error) {
	return func(ctx context.Context) (pack.Origin, error) { return Open(ctx, reference, pack.KindPack) }
}

func TestRegistry(t *testing.T) {
	var mu sync.Mutex
	var sent int64
	host := serve(t, true, func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		c := &countingWriter{ResponseWriter: w}
		next.ServeHTTP(c, r)
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodGet {
			sent += c.n
		}
	})
	key := newKey(t, "docs.example.com")
	reference := Scheme + host + "/docs/widgets:1"
	first := makePack(t, 40, "", key)
	for range 2 { // the second time, everything is there
		if err := Push(t.Context(), reference, &first.Pack, pack.KindPack); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "widgets")
	if _, err := install(t, dir, opener(reference), key.Public); err != nil {
		t.Fatal(err)
	}
	next := makePack(t, 40, "a new sentence", key)
	if err := Push(t.Context(), reference, &next.Pack, pack.KindPack); err != nil {
		t.Fatal(err)
	}
	sent = 0
	s, err := install(t, dir, opener(reference), key.Public)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(next.Pack.Manifest) + len(next.Pack.Table) + len(next.Pack.Data))
	if sent > size/4 || s.Received > sent {
		t.Errorf("the registry sent %d bytes, the update counted %d; the pack has %d", sent, s.Received, size)
	}
	if _, err := Open(t.Context(), Scheme+host+"/docs/widgets:2", pack.KindPack); !IsNotFound(err) {
		t.Errorf("a missing tag: %v", err)
	}
	if _, err := Open(t.Context(), reference, pack.KindCatalog); err == nil || !strings.Contains(err.Error(), "is not a docsearch catalog") {
		t.Errorf("a pack as a catalog: %v", err)
	}
	for _, bad := range []string{"oci://", "oci://" + host, "oci://" + host + "/UPPER:1", "oci://" + host + "/a/../b:1", "https://x/y"} {
		if _, err := Open(t.Context(), bad, pack.KindPack); err == nil {
			t.Errorf("%s was opened", bad)
		}
	}
}

type countingWriter struct {
	http.ResponseWriter
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n += int64(n)
	return n, err
}

// TestAuthentication logs in with the Docker config.
func TestAuthentication(t *testing.T) {
	const user, password = "reader", "secret"
	host := serve(t, true, func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="docs"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
	key := newKey(t, "docs.example.com")
	d := makePack(t, 3, "", key)
	reference := Scheme + host + "/private/widgets:1"
	if err := Push(t.Context(), reference, &d.Pack, pack.KindPack); err == nil || !strings.Contains(err.Error(), "needs a login") {
		t.Errorf("push without a login: %v", err)
	}
	login := func(password string) {
		config := fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
		if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	login(password)
	if err := Push(t.Context(), reference, &d.Pack, pack.KindPack); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "widgets")
	if _, err := install(t, dir, opener(reference), key.Public); err != nil {
		t.Fatal(err)
	}
	login("wrong")
	if _, err := install(t, dir, opener(reference), key.Public); err == nil || !strings.Contains(err.Error(), "needs a login") {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestBrokenConnections aborts connections at random.
func TestBrokenConnections(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var mu sync.Mutex
	broken := 0
	host := serve(t, true, func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		limit := 4000 + rng.IntN(12000)
		mu.Unlock()
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			next.ServeHTTP(&breakingWriter{w, limit, func() { mu.Lock(); broken++; mu.Unlock() }}, r)
			return
		}
		next.ServeHTTP(w, r)
	})
	key := newKey(t, "docs.example.com")
	d := makePack(t, 40, "", key)
	reference := Scheme + host + "/docs/widgets:1"
	if err := Push(t.Context(), reference, &d.Pack, pack.KindPack); err != nil {
		t.Fatal(err)
	}
	if _, err := install(t, filepath.Join(t.TempDir(), "widgets"), opener(reference), key.Public); err != nil {
		t.Fatal(err)
	}
	if broken < 3 {
		t.Errorf("%d connections broke", broken)
	}
}

type breakingWriter struct {
	http.ResponseWriter
	left   int
	broken func()
}

func (b *breakingWriter) Write(p []byte) (int, error) {
	if len(p) > b.left {
		b.ResponseWriter.Write(p[:b.left])
		b.broken()
		panic(http.ErrAbortHandler)
	}
	b.left -= len(p)
	return b.ResponseWriter.Write(p)
}

// TestLyingRegistry serves anything but what was pushed. Each answer is refused, and
// nothing is left behind.
func TestLyingRegistry(t *testing.T) {
	key := newKey(t, "docs.example.com")
	d, other := makePack(t, 10, "", key), makePack(t, 10, "another manifest", newKey(t, "docs.example.com"))
	manifest := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/manifests/")
	}
	blob := func(r *http.Request, p []byte) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/blobs/sha256:"+pack.DigestOf(p).SHA256)
	}
	endless := func(w io.Writer) {
		for {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	}
	flip := func(b []byte) []byte {
		c := bytes.Clone(b)
		c[len(c)/2] ^= 1
		return c
	}
	for _, c := range []struct {
		name   string
		filter func(next http.Handler, w http.ResponseWriter, r *http.Request)
		want   string
	}{
		{"changed pack manifest", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if blob(r, d.Pack.Manifest) {
				w.Write(flip(d.Pack.Manifest))
				return
			}
			next.ServeHTTP(w, r)
		}, "digest"},
		{"changed data", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if blob(r, d.Pack.Data) {
				w.Write(flip(d.Pack.Data))
				return
			}
			next.ServeHTTP(w, r)
		}, "invalid pack: data: chunk"},
		{"truncated data", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if blob(r, d.Pack.Data) {
				w.Write(d.Pack.Data[:len(d.Pack.Data)/2])
				return
			}
			next.ServeHTTP(w, r)
		}, "unexpected EOF"},
		{"truncated table", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if blob(r, d.Pack.Table) {
				w.Write(d.Pack.Table[:5])
				return
			}
			next.ServeHTTP(w, r)
		}, "cannot read"},
		{"endless data", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if blob(r, d.Pack.Data) {
				endless(w)
				return
			}
			next.ServeHTTP(w, r)
		}, "invalid pack: data"},
		{"endless manifest", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if manifest(r) {
				w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
				endless(w)
				return
			}
			next.ServeHTTP(w, r)
		}, "cannot read"},
		{"endless signatures", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if blob(r, d.Pack.Signatures) {
				endless(w)
				return
			}
			next.ServeHTTP(w, r)
		}, "cannot read"},
		{"another manifest under the tag", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			r.URL.Path = strings.Replace(r.URL.Path, "/manifests/1", "/manifests/other", 1)
			next.ServeHTTP(w, r)
		}, "signed with another key"},
		{"a page instead of a manifest", func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/manifests/") {
				io.WriteString(w, "<html>log in</html>")
				return
			}
			next.ServeHTTP(w, r)
		}, "cannot read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lie := false
			host := serve(t, true, func(next http.Handler, w http.ResponseWriter, r *http.Request) {
				if lie {
					c.filter(next, w, r)
					return
				}
				next.ServeHTTP(w, r)
			})
			reference := Scheme + host + "/docs/widgets:1"
			if err := Push(t.Context(), reference, &d.Pack, pack.KindPack); err != nil {
				t.Fatal(err)
			}
			if err := Push(t.Context(), Scheme+host+"/docs/widgets:other", &other.Pack, pack.KindPack); err != nil {
				t.Fatal(err)
			}
			lie = true
			dir := t.TempDir()
			_, err := install(t, filepath.Join(dir, "widgets"), opener(reference), key.Public)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, err := os.Lstat(filepath.Join(dir, "widgets")); err == nil {
				t.Error("left behind: the folder")
			}
		})
	}
}

// TestAttach adds the signature of another publisher, with the referrers API and with the
// tag that replaces it.
func TestAttach(t *testing.T) {
	for _, referrers := range []bool{true, false} {
		t.Run(fmt.Sprintf("referrers API %v", referrers), func(t *testing.T) {
			host := serve(t, referrers, nil)
			author, reviewer := newKey(t, "author.example.com"), newKey(t, "team.example.com")
			d := makePack(t, 3, "", author)
			reference := Scheme + host + "/docs/widgets:1"
			if err := Push(t.Context(), reference, &d.Pack, pack.KindPack); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "widgets")
			if _, err := install(t, dir, opener(reference), reviewer.Public); err == nil {
				t.Fatal("installed without the signature of the team")
			}
			origin, err := Open(t.Context(), reference, pack.KindPack)
			if err != nil {
				t.Fatal(err)
			}
			head, err := pack.ReadHead(t.Context(), origin)
			if err != nil {
				t.Fatal(err)
			}
			s, err := pack.Sign(head.Subject(), []*pack.SigningKey{reviewer}, nil)
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := s.Encode()
			if err == nil {
				err = Attach(t.Context(), reference, pack.KindPack, encoded)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []*pack.SigningKey{author, reviewer} {
				if _, err := install(t, filepath.Join(t.TempDir(), "widgets"), opener(reference), k.Public); err != nil {
					t.Errorf("%s: %v", k.Public.Name(), err)
				}
			}
		})
	}
}

// TestLayout carries packs in a folder.
func TestLayout(t *testing.T) {
	key := newKey(t, "docs.example.com")
	first, next := makePack(t, 20, "", key), makePack(t, 20, "new", key)
	folder := filepath.Join(t.TempDir(), "layout")
	if err := PushLayout(t.Context(), folder, "1", &first.Pack, pack.KindPack); err != nil {
		t.Fatal(err)
	}
	open := func(tag string) func(context.Context) (pack.Origin, error) {
		return func(ctx context.Context) (pack.Origin, error) { return OpenLayout(ctx, folder, tag, pack.KindPack) }
	}
	dir := filepath.Join(t.TempDir(), "widgets")
	if _, err := install(t, dir, open(""), key.Public); err != nil { // the only tag
		t.Fatal(err)
	}
	if err := PushLayout(t.Context(), folder, "2", &next.Pack, pack.KindPack); err != nil {
		t.Fatal(err)
	}
	if _, err := install(t, dir, open(""), key.Public); err == nil || !strings.Contains(err.Error(), "has 2 tags") {
		t.Errorf("two tags: %v", err)
	}
	s, err := install(t, dir, open("2"), key.Public)
	if err != nil || s.Received > int64(len(next.Pack.Data))/3 {
		t.Errorf("update: %v, received %d", err, s.Received)
	}
	// A link that leads out of the folder is not followed.
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, first.Pack.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	blob := filepath.Join(folder, "blobs", "sha256", pack.DigestOf(first.Pack.Data).SHA256)
	if err := os.Remove(blob); err != nil {
		t.Fatal(err)
	}
	filetest.Symlink(t, secret, blob)
	if _, err := install(t, filepath.Join(t.TempDir(), "widgets"), open("1"), key.Public); err == nil {
		t.Error("a link out of the folder was followed")
	}
}

// FuzzLayout opens a layout with any index and manifest.
func FuzzLayout(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"manifests":[]}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, layoutIndex, manifest []byte) {
		dir := t.TempDir()
		blobs := filepath.Join(dir, "blobs", "sha256")
		if err := os.MkdirAll(blobs, 0o755); err != nil {
			t.Fatal(err)
		}
		var i struct {
			Manifests []map[string]any `json:"manifests"`
		}
		if json.Unmarshal(layoutIndex, &i) == nil && len(i.Manifests) == 0 {
			d := pack.DigestOf(manifest)
			layoutIndex = fmt.Appendf(nil, `{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%d,"annotations":{"org.opencontainers.image.ref.name":"1"}}]}`, d.SHA256, d.Size)
		}
		for name, data := range map[string][]byte{
			filepath.Join(dir, "oci-layout"): []byte(`{"imageLayoutVersion":"1.0.0"}`), filepath.Join(dir, "index.json"): layoutIndex,
			filepath.Join(blobs, pack.DigestOf(manifest).SHA256): manifest,
		} {
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		o, err := OpenLayout(t.Context(), dir, "1", pack.KindPack)
		if err != nil {
			return
		}
		defer o.Close()
		if head, err := pack.ReadHead(t.Context(), o); err == nil {
			_, _ = o.Table(t.Context(), head.Chunks.Size)
		}
	})
}
