package pack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// writeDocs writes n Markdown files. Those with a number in edited have another sentence.
func writeDocs(t testing.TB, n int, edited ...int) string {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("widget gear spindle lever torque bearing shaft clutch piston valve sprocket pulley flange gasket rotor stator axle crank damper spring")
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "# Page %d\n\n", i)
		for range 12 {
			for range 60 {
				fmt.Fprintf(&b, "%s%d ", words[rng.IntN(len(words))], rng.IntN(900))
			}
			b.WriteString("\n\n")
		}
		for _, e := range edited {
			if e == i {
				b.WriteString("This sentence is new.\n")
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("page%03d.md", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// signed makes a signed pack of a folder.
func signed(t testing.TB, docs string, key *SigningKey) *Draft {
	t.Helper()
	d := makeDraft(t, buildFolder(t, docs, t.TempDir()), "widgets")
	if err := d.Sign([]*SigningKey{key}, nil); err != nil {
		t.Fatal(err)
	}
	return d
}

func newKey(t testing.TB, name string) *SigningKey {
	t.Helper()
	private, public, err := NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := WriteKey(path, private, public); err != nil {
		t.Fatal(err)
	}
	k, err := ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// install builds the database of a pack in dir, trusting a key.
func install(t testing.TB, dir string, o Origin, key Key) (*Database, error) {
	t.Helper()
	s := &Database{
		Location: "https://packs.example.com/widgets.dspack", Cache: filepath.Join(dir, "..", "cache"), Tool: "1.0.0",
		Open: func(context.Context) (Origin, error) { return o, nil },
		Accept: func(_ context.Context, h *Head) error {
			_, _, err := h.Signatures.Verify(h.Subject(), []Key{key})
			return err
		},
	}
	_, err := index.Build(t.Context(), dir, s, index.BuildOptions{Tool: "1.0.0", Update: true})
	return s, err
}

func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

func TestInstall(t *testing.T) {
	key := newKey(t, "docs.example.com")
	first := signed(t, writeDocs(t, 60), key)
	again := signed(t, writeDocs(t, 60), key)
	if !bytes.Equal(first.Pack.Manifest, again.Pack.Manifest) || !bytes.Equal(first.Pack.Data, again.Pack.Data) {
		t.Error("two packs of the same documents in two folders differ")
	}
	dir := filepath.Join(t.TempDir(), "widgets")
	s, err := install(t, dir, &memoryOrigin{&first.Pack}, key.Public)
	if err != nil {
		t.Fatal(err)
	}
	if s.Note != "" {
		t.Errorf("the index differs: %s", s.Note)
	}
	g, err := generation.Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	head, err := Installed(g)
	if err != nil {
		t.Fatal(err)
	}
	if wrong, err := CheckInstalled(g, head); err != nil || len(wrong) > 0 {
		t.Errorf("differs: %v %v", wrong, err)
	}
	db, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info := db.Info(); info.Stale != "" || info.Passages != head.Passages {
		t.Errorf("stale %q, %d passages", info.Stale, info.Passages)
	}
	db.Close()

	// The same pack: nothing happens. Signed again: only the new time comes, and it is
	// remembered. Another version: only the changed chunks come.
	if s, err = install(t, dir, &memoryOrigin{&first.Pack}, key.Public); err != nil || s.Received > int64(len(first.Pack.Manifest)+len(first.Pack.Signatures)) {
		t.Errorf("no changes: %v, received %d", err, s.Received)
	}
	if s, err = install(t, dir, &memoryOrigin{&again.Pack}, key.Public); err != nil || s.Received > int64(len(again.Pack.Manifest)+len(again.Pack.Signatures)+len(again.Pack.Table)) {
		t.Errorf("signed again: %v, received %d", err, s.Received)
	}
	if g, err = generation.Current(dir); err != nil {
		t.Fatal(err)
	}
	if remembered, err := Installed(g); err != nil || remembered.CheckOrder(head) != nil || head.CheckOrder(remembered) == nil {
		t.Errorf("the time of the last signature is not remembered: %v", err)
	}
	next := signed(t, writeDocs(t, 60, 17), key)
	s, err = install(t, dir, &memoryOrigin{&next.Pack}, key.Public)
	if err != nil {
		t.Fatal(err)
	}
	if limit := int64(len(next.Pack.Data)) / 10; s.Received > limit {
		t.Errorf("an update of one page received %d bytes, want at most %d", s.Received, limit)
	}
	if g, err = generation.Current(dir); err != nil {
		t.Fatal(err)
	}
	if head, err = Installed(g); err != nil || head.Digest() != "sha256:"+DigestOf(next.Pack.Manifest).SHA256 {
		t.Errorf("installed: %v", err)
	}
	if left := files(t, filepath.Join(dir, "..", "cache")); len(left) > 0 {
		t.Errorf("the cache still has %d files", len(left))
	}
}

// TestAttacks changes a pack in many ways. Each is refused with its reason, and nothing is
// left behind.
func TestAttacks(t *testing.T) {
	key, other := newKey(t, "docs.example.com"), newKey(t, "docs.example.com")
	base := signed(t, writeDocs(t, 20), key)
	resigned := func(change func(m *Manifest, p *Pack)) func(*Draft) {
		return func(d *Draft) {
			m := *d.Manifest
			m.Index, m.URLs = slices.Clone(m.Index), slices.Clone(m.URLs)
			change(&m, &d.Pack)
			d.Manifest = &m
			d.Pack.Manifest, _ = m.Encode()
			if err := d.Sign([]*SigningKey{key}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	recompressed := func(change func(lines []byte) []byte) func(*Draft) {
		return resigned(func(m *Manifest, p *Pack) {
			var out bytes.Buffer
			table, err := ParseTable(p.Table)
			if err == nil {
				_, err = fetch(t.Context(), &memoryOrigin{p}, m, table, nil, filepath.Join(t.TempDir(), "part"), &out, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := change(out.Bytes())
			table, data, err := compress(lines)
			if err != nil {
				t.Fatal(err)
			}
			p.Table, p.Data = table.Encode(), data
			m.Lines, m.Chunks, m.Data = DigestOf(lines), DigestOf(p.Table), DigestOf(data)
		})
	}
	for _, c := range []struct {
		name   string
		change func(*Draft)
		want   string
	}{
		{"changed data", func(d *Draft) { d.Pack.Data[len(d.Pack.Data)/2] ^= 1 }, "invalid pack: data: chunk"},
		{"changed table", func(d *Draft) { d.Pack.Table[1] ^= 1 }, "chunk table: the digest differs"},
		{"changed manifest", func(d *Draft) { d.Pack.Manifest = bytes.Replace(d.Pack.Manifest, []byte("MIT"), []byte("MI7"), 1) }, "the signature does not match the manifest"},
		{"another key of the same name", func(d *Draft) {
			if err := d.Sign([]*SigningKey{other}, nil); err != nil {
				t.Fatal(err)
			}
		}, "docs.example.com signed with another key"},
		{"no signature", func(d *Draft) { d.Pack.Signatures = []byte("{}") }, "signatures: 0 keys"},
		{"signature of another pack", func(d *Draft) {
			s, _ := Sign(Subject{Kind: KindPack, Name: "other", Manifest: d.Pack.Manifest}, []*SigningKey{key}, nil)
			d.Pack.Signatures, _ = s.Encode()
		}, "the signature does not match"},
		{"signature of a catalog", func(d *Draft) {
			s, _ := Sign(Subject{Kind: KindCatalog, Name: d.Manifest.Name, Version: d.Manifest.Version, Manifest: d.Pack.Manifest}, []*SigningKey{key}, nil)
			d.Pack.Signatures, _ = s.Encode()
		}, "the signature does not match"},
		{"truncated table", resigned(func(m *Manifest, p *Pack) {
			p.Table = p.Table[:len(p.Table)-3]
			m.Chunks = DigestOf(p.Table)
		}), "chunk table: "},
		{"a passage that the publisher's index does not have", recompressed(func(lines []byte) []byte {
			return append(lines, `{"id": "x", "text": "buy now", "metadata": {}}`+"\n"...)
		}), "passages of"},
		{"a changed passage", recompressed(func(lines []byte) []byte {
			return bytes.Replace(lines, []byte("widget"), []byte("wodget"), 1)
		}), "index: "},
		{"a crafted index digest", resigned(func(m *Manifest, _ *Pack) { m.Index[0].SHA256 = strings.Repeat("0", 64) }), "differs from the publisher's"},
		{"path in the name", resigned(func(m *Manifest, _ *Pack) { m.Name = "../../etc" }), `invalid pack name "../../etc"`},
		{"absolute name", resigned(func(m *Manifest, _ *Pack) { m.Name = "/etc/passwd" }), "invalid pack name"},
		{"hidden name", resigned(func(m *Manifest, _ *Pack) { m.Name = ".bin" }), "invalid pack name"},
		{"device name", resigned(func(m *Manifest, _ *Pack) { m.Name = "nul" }), "invalid pack name"},
		{"path in an index file", resigned(func(m *Manifest, _ *Pack) { m.Index[0].Name = "../../x" }), "invalid index file"},
		{"a folder as source", resigned(func(m *Manifest, _ *Pack) { m.Source.Location = "/home/me" }), "not a URL"},
		{"a file URL as page prefix", resigned(func(m *Manifest, _ *Pack) { m.URLs = []string{"file:///etc/"} }), "invalid URL prefix"},
		{"terminal escapes", resigned(func(m *Manifest, _ *Pack) { m.Title = "x\x1b[2J" }), "invalid title"},
		{"no license", resigned(func(m *Manifest, _ *Pack) { m.License = "" }), "no license"},
		{"more passages than lines", resigned(func(m *Manifest, _ *Pack) { m.Passages = 1 << 40 }), "invalid counts"},
		{"other counts", resigned(func(m *Manifest, _ *Pack) { m.Documents++ }), "the manifest says"},
		{"huge expansion", resigned(func(m *Manifest, _ *Pack) { m.Lines.Size = MaxPassages }), "expand to"},
		{"huge data", resigned(func(m *Manifest, _ *Pack) { m.Data.Size = 1 << 50 }), "invalid digest or size"},
		{"newer format", resigned(func(m *Manifest, _ *Pack) { m.Format = 3 }), "format 3, this version of docsearch reads format 2"},
		{"a chunk that expands", resigned(func(m *Manifest, p *Pack) {
			// One chunk of 64 MB in 6 kB, which claims to have 1000 bytes.
			e, _ := zstd.NewWriter(nil)
			p.Data = e.EncodeAll(make([]byte, 64<<20), nil)
			table := &Table{Chunks: []Chunk{{digest: digestChunk(make([]byte, 1000)), size: 1000, compressed: int64(len(p.Data))}}}
			p.Table = table.Encode()
			m.Lines, m.Chunks, m.Data = Digest{1000, strings.Repeat("0", 64)}, DigestOf(p.Table), DigestOf(p.Data)
			m.Passages = 10
		}), "data: chunk 0: cannot decompress"},
		{"chunks out of the data", resigned(func(m *Manifest, p *Pack) {
			table, _ := ParseTable(p.Table)
			table.Chunks[0].compressed += 1 << 20
			p.Table = table.Encode()
			m.Chunks = DigestOf(p.Table)
		}), "the manifest says"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &Draft{Manifest: base.Manifest, Pack: Pack{
				bytes.Clone(base.Pack.Manifest), bytes.Clone(base.Pack.Signatures), bytes.Clone(base.Pack.Table), bytes.Clone(base.Pack.Data)}}
			c.change(d)
			dir := t.TempDir()
			_, err := install(t, filepath.Join(dir, "widgets"), &memoryOrigin{&d.Pack}, key.Public)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if left := files(t, dir); len(left) > 0 {
				t.Errorf("left behind: %d files", len(left))
			}
			if _, err := os.Lstat(filepath.Join(dir, "widgets")); err == nil {
				t.Error("left behind: the folder")
			}
		})
	}
}

// TestFailedUpdate keeps the installed version.
func TestFailedUpdate(t *testing.T) {
	key := newKey(t, "docs.example.com")
	dir := filepath.Join(t.TempDir(), "widgets")
	first := signed(t, writeDocs(t, 20), key)
	if _, err := install(t, dir, &memoryOrigin{&first.Pack}, key.Public); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	next := signed(t, writeDocs(t, 20, 3), key)
	for i := range next.Pack.Data {
		next.Pack.Data[i] ^= 0x55
	}
	if _, err := install(t, dir, &memoryOrigin{&next.Pack}, key.Public); err == nil {
		t.Fatal("damaged data was accepted")
	}
	after := files(t, dir)
	for name, data := range before {
		if after[name] != data && !strings.HasSuffix(name, "build.lock") {
			t.Errorf("%s changed", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	}
}

func TestRotation(t *testing.T) {
	old, next, third := newKey(t, "docs.example.com"), newKey(t, "docs.example.com"), newKey(t, "docs.example.com")
	stranger := newKey(t, "docs.example.com")
	rotate := func(from, to *SigningKey) string {
		s, err := Rotate(from, to.Public)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	subject := Subject{Kind: KindPack, Name: "widgets", Version: "1", Manifest: []byte("{}")}
	for _, c := range []struct {
		name      string
		rotations []string
		signer    *SigningKey
		rotated   bool
		ok        bool
	}{
		{"trusted key", nil, old, false, true},
		{"one rotation", []string{rotate(old, next)}, next, true, true},
		{"two rotations in any order", []string{rotate(next, third), rotate(old, next)}, third, true, true},
		{"no rotation", nil, next, false, false},
		{"signed by a stranger", []string{rotate(stranger, next)}, next, false, false},
		{"of another key", []string{rotate(old, next)}, third, false, false},
	} {
		s, err := Sign(subject, []*SigningKey{c.signer}, c.rotations)
		if err != nil {
			t.Fatal(err)
		}
		key, rotated, err := s.Verify(subject, []Key{old.Public})
		if (err == nil) != c.ok || rotated != c.rotated || c.ok && key != c.signer.Public {
			t.Errorf("%s: %q %v %v", c.name, key, rotated, err)
		}
	}
	if _, err := Rotate(old, newKey(t, "other.example.com").Public); err == nil {
		t.Error("a rotation to another name was signed")
	}
	// A key that signed the pack, and another one that the reader trusts.
	s, _ := Sign(subject, []*SigningKey{stranger, old}, nil)
	if key, _, err := s.Verify(subject, []Key{old.Public}); err != nil || key != old.Public {
		t.Errorf("several signatures: %q %v", key, err)
	}
}

func TestKeyFile(t *testing.T) {
	private, public, err := NewKey("docs.example.com")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := WriteKey(path, private, public); err != nil {
		t.Fatal(err)
	}
	if err := WriteKey(path, private, public); err == nil {
		t.Error("the key was replaced")
	}
	if os.PathSeparator != '/' {
		return
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), "others can read") {
		t.Errorf("others can read the key: %v", err)
	}
}

// TestWeb fetches a file from servers with and without ranges, and with connections that
// break.
func TestWeb(t *testing.T) {
	key := newKey(t, "docs.example.com")
	first, next := signed(t, writeDocs(t, 60), key), signed(t, writeDocs(t, 60, 9), key)
	dir := t.TempDir()
	for name, d := range map[string]*Draft{"1.dspack": first, "2.dspack": next} {
		if err := d.Pack.WriteFile(filepath.Join(dir, name), KindPack); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name    string
		handler func(w http.ResponseWriter, r *http.Request)
		partial bool // the update receives little
	}{
		{"ranges", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, filepath.Join(dir, r.URL.Path)) }, true},
		{"no ranges", func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			http.ServeFile(w, r, filepath.Join(dir, r.URL.Path))
		}, false},
		{"broken connections", func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(&breaking{w, 2000 + rng.IntN(30000)}, r, filepath.Join(dir, r.URL.Path))
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(c.handler))
			defer server.Close()
			target := filepath.Join(t.TempDir(), "widgets")
			for _, file := range []string{"/1.dspack", "/2.dspack"} {
				o, err := OpenURL(server.URL + file)
				if err != nil {
					t.Fatal(err)
				}
				s, err := install(t, target, o, key.Public)
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				if limit := int64(len(next.Pack.Data)) / 5; file == "/2.dspack" && c.partial && s.Received > limit {
					t.Errorf("the update received %d bytes, want at most %d", s.Received, limit)
				}
			}
		})
	}
}

// breaking aborts the connection after a number of bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	if len(p) > b.left {
		b.ResponseWriter.Write(p[:b.left])
		panic(http.ErrAbortHandler)
	}
	b.left -= len(p)
	return b.ResponseWriter.Write(p)
}

// TestLyingServer covers servers that send anything but the file.
func TestLyingServer(t *testing.T) {
	key := newKey(t, "docs.example.com")
	d := signed(t, writeDocs(t, 20), key)
	path := filepath.Join(t.TempDir(), "p")
	if err := d.Pack.WriteFile(path, KindPack); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	endless := func(w io.Writer) {
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"not found", http.NotFound, "HTTP status 404"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>\n<body>\nlog in") }, "not a docsearch pack"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) { endless(w) }, "not a docsearch pack"},
		{"endless after the head", func(w http.ResponseWriter, _ *http.Request) {
			w.Write(whole[:len(whole)-len(d.Pack.Data)])
			endless(w)
		}, "invalid pack: data"},
		{"truncated", func(w http.ResponseWriter, _ *http.Request) { w.Write(whole[:len(whole)-100]) }, "unexpected EOF"},
		{"another range", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 77-99/1000")
			w.WriteHeader(http.StatusPartialContent)
		}, "another range"},
		{"redirect to plain HTTP", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://packs.example.com/x", http.StatusFound)
		}, "want https"},
		{"huge header", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "docsearch pack 2\nmanifest 99999999999 signatures 1 chunks 1 data 1\n")
		}, "invalid lengths"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			o, err := OpenURL(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			_, err = install(t, filepath.Join(dir, "widgets"), o, key.Public)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			for name := range files(t, dir) {
				if c.name != "truncated" || !strings.HasSuffix(name, ".part") {
					t.Errorf("left behind: %s", name)
				}
			}
		})
	}
}

// TestResume continues an interrupted download.
func TestResume(t *testing.T) {
	key := newKey(t, "docs.example.com")
	d := signed(t, writeDocs(t, 60), key)
	dir := filepath.Join(t.TempDir(), "widgets")
	broken := &brokenOrigin{memoryOrigin{&d.Pack}, len(d.Pack.Data) / 2}
	s, err := install(t, dir, broken, key.Public)
	if err == nil {
		t.Fatal("the download did not break")
	}
	first := s.Received
	if s, err = install(t, dir, &memoryOrigin{&d.Pack}, key.Public); err != nil {
		t.Fatal(err)
	}
	if all := int64(len(d.Pack.Data)); first < all/3 || s.Received > all*2/3 {
		t.Errorf("received %d, then %d of %d bytes", first, s.Received, all)
	}
}

type brokenOrigin struct {
	memoryOrigin
	left int
}

func (o *brokenOrigin) Data(ctx context.Context, offset, length int64) (io.ReadCloser, int64, error) {
	r, start, err := o.memoryOrigin.Data(ctx, offset, min(length, int64(o.left)))
	o.left -= int(min(length, int64(o.left)))
	return r, start, err
}

// TestOtherVersion accepts another index of the same passages, and says so.
func TestOtherVersion(t *testing.T) {
	key := newKey(t, "docs.example.com")
	d := signed(t, writeDocs(t, 10), key)
	d.Manifest.Index[0].SHA256 = strings.Repeat("0", 64)
	d.Manifest.Builder = "0.9.0"
	d.Pack.Manifest, _ = d.Manifest.Encode()
	if err := d.Sign([]*SigningKey{key}, nil); err != nil {
		t.Fatal(err)
	}
	s, err := install(t, filepath.Join(t.TempDir(), "widgets"), &memoryOrigin{&d.Pack}, key.Public)
	if err != nil || !strings.Contains(s.Note, "docsearch 1.0.0 built it and the publisher used 0.9.0") {
		t.Errorf("%q %v", s.Note, err)
	}
}

// TestClean leaves out what a pack must not contain.
func TestClean(t *testing.T) {
	c := cleaner{Draft: &Draft{}, roots: []string{"/home/me/docs/"}, home: "/home/me", left: map[string]bool{}}
	for _, x := range []struct{ line, want string }{
		{`{"id": "1", "text": "t", "metadata": {"path": "a/b.md"}}`, `{"id": "1", "text": "t", "metadata": {"path": "a/b.md", "file_path": "a/b.md"}}`},
		{`{"id": "1", "text": "t", "metadata": {"file_path": "/home/me/docs/a/b.md", "creation_date": "x", "source": "/home/me/docs/a/b.md"}}`,
			`{"id": "1", "text": "t", "metadata": {"path": "a/b.md", "file_path": "a/b.md"}}`},
		{`{"id": "1", "text": "t", "metadata": {"path": "C:\\Users\\me\\x.md"}}`, `{"id": "1", "text": "t", "metadata": {"path": "x.md", "file_path": "x.md"}}`},
		{`{"id": "/home/me/docs/x.md", "text": "t", "metadata": {"links": [{"to":"/home/me/docs/y.md"},{"to":"https://x/"}]}}`,
			`{"id": "7", "text": "t", "metadata": {"links": [{"to":"y.md"},{"to":"https://x/"}]}}`},
		{`{"id": "1", "text": "t", "metadata": {"path": "keys/id_rsa"}}`, ""},
		{`{"id": "1", "text": "token glpat-kR3vT9wQz2LmX7bNc4Hd", "metadata": {}}`, ""},
	} {
		p, err := passage.Decode([]byte(x.line))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if c.clean(&p, 7) {
			got = strings.TrimSuffix(string(p.AppendLine(nil)), "\n")
		}
		if strings.Contains(x.line, "glpat-kR") {
			if strings.Contains(got, "glpat-kR") || got == "" {
				t.Errorf("the token is still in %s", got)
			}
			continue
		}
		if got != x.want {
			t.Errorf("%s\ngot  %s\nwant %s", x.line, got, x.want)
		}
	}
	if c.Redacted != 1 || !c.left["id_rsa"] {
		t.Errorf("redacted %d, left out %v", c.Redacted, c.left)
	}
}

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"1.10", "1.9", 1}, {"2", "10", -1}, {"1.0", "1.0", 0}, {"1.02", "1.2", 0}, {"nightly", "1.0", 0}, {"1.2", "1.2.1", -1},
		{"v1.9", "v2.1", -1}, {"2.0rc1", "2.0", 0}, {"2.0rc1", "1.9", 1}, {"bullseye", "buster", 0}, {"3f2a", "12ab", 0}, {"2024a", "2024b", 0}, {"", "1.0", 0}} {
		if got := CompareVersions(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestOrder decides which pack of a publisher may replace another one.
func TestOrder(t *testing.T) {
	key := newKey(t, "docs.example.com")
	at := time.Date(2026, 5, 1, 12, 0, 0, 1, time.UTC)
	head := func(version, content string, signed time.Time) *Head {
		subject := Subject{Kind: KindPack, Name: "widgets", Version: version, Manifest: []byte(content), Signed: signed}
		s, err := Sign(subject, []*SigningKey{key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := &Head{Manifest: &Manifest{Name: "widgets", Version: version}, Raw: subject.Manifest, Signatures: s}
		if _, _, err := s.Verify(h.Subject(), []Key{key.Public}); err != nil {
			t.Fatalf("%s at %v: %v", version, signed, err)
		}
		return h
	}
	never := time.Time{}
	for _, c := range []struct {
		name   string
		before *Head
		next   *Head
		want   string // "": accepted
	}{
		{"newer", head("2.0", "a", at), head("2.0", "b", at.Add(1)), ""},
		{"newer, with letters", head("bookworm", "a", at), head("beta", "b", at.Add(1)), ""},
		{"newer, without versions", head("", "a", at), head("", "b", at.Add(1)), ""},
		{"the same", head("2.0", "a", at), head("2.0", "a", at), ""},
		{"the same, signed again", head("2.0", "a", at), head("2.0", "a", at.Add(1)), ""},
		{"the same, signed before", head("2.0", "a", at), head("2.0", "a", at.Add(-1)), "signed at "},
		{"older, the same version", head("2.0", "b", at), head("2.0", "a", at.Add(-1)), "signed at 2026-05-01T12:00:00Z; the installed pack was signed at 2026-05-01T12:00:00Z"},
		{"older, with letters", head("2.0rc2", "b", at), head("2.0rc1", "a", at.Add(-1)), "signed at "},
		{"older, without versions", head("", "b", at), head("", "a", at.Add(-1)), "signed at "},
		{"older, with a version that looks newer", head("2.0", "b", at), head("3.0", "a", at.Add(-1)), "signed at "},
		{"another one at the same time", head("2.0", "a", at), head("2.0", "b", at), "signed at "},
		{"a maintained older version", head("2.0", "a", at), head("1.9", "b", at.Add(1)), "older than the installed version 2.0"},
		{"a maintained older version, with letters", head("v2.0", "a", at), head("v1.9", "b", at.Add(1)), "older than the installed version v2.0"},
		{"the first with a time", head("nightly", "a", never), head("nightly", "b", at), ""},
		{"without a time after one", head("2.0", "a", at), head("2.1", "b", never), "without a signed time, the installed"},
		{"both without a time", head("2.0", "a", never), head("2.1", "b", never), ""},
		{"both without a time, the same", head("2.0", "a", never), head("2.0", "a", never), ""},
		{"both without a time, the same version", head("2.0", "a", never), head("2.0", "b", never), "may be older"},
		{"both without a time, with letters", head("nightly", "a", never), head("stable", "b", never), "may be older"},
	} {
		err := c.next.CheckOrder(c.before)
		var order *OrderError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &order) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestSignedTime changes the time in a signed text.
func TestSignedTime(t *testing.T) {
	key := newKey(t, "docs.example.com")
	subject := Subject{Kind: KindPack, Name: "widgets", Manifest: []byte("{}"), Signed: time.Date(2026, 5, 1, 12, 0, 0, 500, time.FixedZone("", 3600))}
	s, err := Sign(subject, []*SigningKey{key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !s.time().Equal(subject.Signed) {
		t.Errorf("%v, signed at %v", s.time(), subject.Signed)
	}
	verify := func(note string) error {
		forged := Signatures{Note: note, Keys: s.Keys}
		subject := subject
		subject.Signed = forged.time()
		_, _, err := forged.Verify(subject, []Key{key.Public})
		return err
	}
	if err := verify(s.Note); err != nil {
		t.Fatal(err)
	}
	const signed = "2026-05-01T11:00:00.0000005Z\n"
	if !strings.Contains(s.Note, signed) {
		t.Fatalf("the text of the note is %s", s.Note)
	}
	for name, note := range map[string]string{
		"a later time":        strings.Replace(s.Note, signed, "2027-05-01T11:00:00Z\n", 1),
		"the same time again": strings.Replace(s.Note, signed, "2026-05-01T12:00:00.0000005+01:00\n", 1),
		"no time":             strings.Replace(s.Note, signed, "", 1),
		"the former format":   strings.Replace(strings.Replace(s.Note, signed, "", 1), "pack 2", "pack 1", 1),
	} {
		if err := verify(note); note == s.Note || err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestAddSignature adds signatures of the same text only. The text of a pack without a
// version has an empty line.
func TestAddSignature(t *testing.T) {
	key, other := newKey(t, "docs.example.com"), newKey(t, "team.example.com")
	subject := Subject{Kind: KindPack, Name: "widgets", Manifest: []byte("{}"), Signed: time.Unix(1, 0)}
	older := subject
	older.Signed = time.Unix(0, 0)
	sign := func(s Subject, k *SigningKey) *Signatures {
		signed, err := Sign(s, []*SigningKey{k}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	for _, c := range []struct {
		name    string
		other   Subject
		trusted Key
		ok      bool
	}{
		{"the same text", subject, other.Public, true},
		{"the same text, first signer", subject, key.Public, true},
		{"another time", older, other.Public, false},
		{"another time, first signer", older, key.Public, true},
		{"another pack, first signer", Subject{Kind: KindPack, Name: "widgets", Manifest: []byte("[]")}, key.Public, true},
	} {
		sum := sign(subject, key).Add(sign(c.other, other))
		if _, _, err := sum.Verify(subject, []Key{c.trusted}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzManifest(f *testing.F) {
	m := testManifest("widgets")
	m.Format, m.Passages, m.Lines, m.Chunks, m.Data, m.Index = 1, 1, DigestOf([]byte("x")), DigestOf(nil), DigestOf(nil), []File{{"a", DigestOf(nil)}}
	data, err := m.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format": 2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			return
		}
		again, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseManifest(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if strings.ContainsAny(m.Name, `/\`) || m.Name == ".." {
			t.Fatalf("name %q", m.Name)
		}
	})
}

func FuzzTable(f *testing.F) {
	table, _, err := compress([]byte(`{"id": "1", "text": "x"}` + "\n"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(table.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ParseTable(data)
		if err != nil {
			return
		}
		again, err := ParseTable(table.Encode())
		if err != nil || len(again.Chunks) != len(table.Chunks) || again.lines != table.lines {
			t.Fatalf("%v", err)
		}
	})
}

// FuzzFetch fetches from any table and data. It must not panic, and must not write more
// than the manifest says.
func FuzzFetch(f *testing.F) {
	lines := []byte(strings.Repeat(`{"id": "1", "text": "some words in a line", "metadata": {"path": "a.md"}}`+"\n", 200))
	table, data, err := compress(lines)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(table.Encode(), data)
	f.Fuzz(func(t *testing.T, rawTable, data []byte) {
		p := &Pack{Table: rawTable, Data: data}
		m := &Manifest{Lines: DigestOf(lines), Chunks: DigestOf(rawTable), Data: DigestOf(data)}
		o := &memoryOrigin{p}
		table, _, err := readTable(t.Context(), o, m)
		if err != nil {
			return
		}
		var out bytes.Buffer
		_, err = fetch(t.Context(), o, m, table, nil, filepath.Join(t.TempDir(), "part"), &out, nil)
		if err == nil && !bytes.Equal(out.Bytes(), lines) {
			t.Fatal("other lines than the manifest's were accepted")
		}
		if out.Len() > len(lines) {
			t.Fatalf("%d bytes were written", out.Len())
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte("docsearch pack 2\nmanifest 1 signatures 2 chunks 3 data 4\n"))
	f.Add([]byte("docsearch catalog 1\nmanifest 1 signatures 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseHeader(data)
		if err == nil && (o.manifest > o.signatures || o.signatures > o.table || o.table > o.data || o.data > o.end) {
			t.Fatalf("%+v", o)
		}
	})
}

func FuzzSignatures(f *testing.F) {
	s, err := Sign(Subject{Kind: KindPack, Name: "a", Version: "1"}, []*SigningKey{newKey(f, "x")}, nil)
	if err != nil {
		f.Fatal(err)
	}
	data, _ := s.Encode()
	f.Add(data)
	if s, err = Sign(Subject{Kind: KindPack, Name: "a", Signed: time.Unix(1, 1)}, []*SigningKey{newKey(f, "x")}, nil); err != nil {
		f.Fatal(err)
	}
	data, _ = s.Encode()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseSignatures(data)
		if err != nil {
			return
		}
		s.Add(s)
		if key, _, err := s.Verify(Subject{Kind: KindPack, Name: "a", Version: "2", Signed: s.time()}, []Key{"x+00000000+AAAA"}); err == nil {
			t.Fatalf("%q", key)
		}
	})
}

func FuzzLock(f *testing.F) {
	l := &Lock{}
	l.Put(Locked{"a", "1", "sha256:" + strings.Repeat("0", 64), string(newKey(f, "x").Public), "a.dspack"})
	data, _ := json.Marshal(l)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if l, err := parseLock("docsearch.lock", data); err == nil {
			for _, p := range l.Packs {
				if strings.ContainsAny(p.Name, `/\`) {
					t.Fatalf("name %q", p.Name)
				}
			}
		}
	})
}
