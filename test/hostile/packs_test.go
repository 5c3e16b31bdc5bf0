package hostile

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A publisher is a machine that makes packs.
type publisher struct {
	*sandbox
	key string // public
}

func newPublisher(t *testing.T) *publisher {
	p := &publisher{sandbox: newSandbox(t)}
	out := p.must(p.docsearch("pack", "key", "new", "docs.example.com")).stdout
	p.key = strings.TrimSpace(out[strings.Index(out, "docs.example.com+"):])
	return p
}

// pack makes a pack of a page, and returns its file and its digest.
func (p *publisher) pack(file, version, text string) (path, digest string) {
	p.Helper()
	p.write(filepath.Join(p.work, "docs", "use.md"), "# Use widgets\n\n"+text+"\n")
	p.must(p.docsearch("index", "build", "docs", "--name", "widgets", "-q"))
	p.must(p.docsearch("pack", "make", "widgets", "--license", "MIT", "--attribution", "Widgets", "--version", version, "-o", file, "-q"))
	path = filepath.Join(p.work, file)
	lines := strings.SplitN(p.read(path), "\n", 3)
	var manifest, rest int
	if _, err := fmt.Sscanf(lines[1], "manifest %d signatures %d", &manifest, &rest); err != nil {
		p.Fatal(err)
	}
	return path, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(lines[2][:manifest])))
}

// A server of packs holds back a newer one. The older one has a valid signature, and a
// version that has no order.
func TestPackRollback(t *testing.T) {
	publisher := newPublisher(t)
	older, olderDigest := publisher.pack("older.dspack", "stable", "A widget spins when you call spin_widget with its handle. It needs no password.")
	newer, _ := publisher.pack("newer.dspack", "latest", "A widget spins when you call spin_widget with its handle. It needs a password.")
	served := older
	var mu sync.Mutex
	serve := func(file string) { mu.Lock(); defer mu.Unlock(); served = file }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		http.ServeFile(w, r, served)
	}))
	defer server.Close()
	location := server.URL + "/widgets.dspack"

	reader := newSandbox(t)
	reader.must(reader.docsearch("pack", "add", location, "--key", publisher.key, "--yes"))
	serve(newer)
	reader.must(reader.docsearch("pack", "update", "widgets"))
	serve(older)
	version := func() string {
		t.Helper()
		var packs []struct{ Version string }
		if err := json.Unmarshal([]byte(reader.must(reader.docsearch("pack", "list", "--json")).stdout), &packs); err != nil || len(packs) != 1 {
			t.Fatalf("%v: %v", err, packs)
		}
		return packs[0].Version
	}
	for _, args := range [][]string{
		{"pack", "update", "widgets"},
		{"pack", "update", "--all"},
		{"update", "widgets"},
		{"index", "build", "widgets"},
		{"pack", "add", location, "--yes"},
	} {
		r := reader.docsearch(args...)
		if r.code == 0 || version() != "latest" {
			t.Errorf("docsearch %s went back to an older pack: %s%s", strings.Join(args, " "), r.stdout, r.stderr)
		} else if !strings.Contains(r.stderr, "the installed pack was signed at") || !strings.Contains(r.stderr, "--digest "+olderDigest) {
			t.Errorf("docsearch %s: %s", strings.Join(args, " "), r.stderr)
		}
	}
	// The user goes back to exactly this pack.
	reader.must(reader.docsearch("pack", "add", location, "--digest", olderDigest, "--yes"))
	if v := version(); v != "stable" {
		t.Errorf("the installed version is %q", v)
	}
}

// A victim is a service of this machine that only its own user should reach.
type victim struct {
	*httptest.Server
	connections atomic.Int64
}

func newVictim(t *testing.T, tls bool) *victim {
	v := &victim{}
	v.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	v.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			v.connections.Add(1)
		}
	}
	v.Config.ErrorLog = log.New(io.Discard, "", 0)
	if tls {
		v.StartTLS()
	} else {
		v.Start()
	}
	t.Cleanup(v.Close)
	return v
}

// Servers of packs, catalogs and archives redirect to a service of this machine.
func TestPackRedirects(t *testing.T) {
	for _, args := range [][]string{
		{"pack", "add", "http://SERVER/widgets.dspack", "--yes"},
		{"pack", "verify", "http://SERVER/widgets.dspack"},
		{"catalog", "add", "http://SERVER/catalog"},
		{"pack", "add", "oci://SERVER/docs/widgets:1", "--yes"},
		{"catalog", "add", "oci://SERVER/docs/catalog:latest"},
		{"index", "build", "http://SERVER/docs.zip", "--name", "widgets"},
	} {
		t.Run(strings.Join(args[:3], " "), func(t *testing.T) {
			target := newVictim(t, false)
			server := httptest.NewServer(http.RedirectHandler(target.URL+"/v2/x", http.StatusTemporaryRedirect))
			defer server.Close()
			s := newSandbox(t)
			s.refused(target, replaced(args, "SERVER", server.Listener.Addr().String()))
		})
	}
}

// refused runs docsearch, which must fail and not connect to the victim.
func (s *sandbox) refused(target *victim, args []string) {
	s.Helper()
	r := s.docsearch(args...)
	if n := target.connections.Load(); r.code == 0 || r.late || n > 0 {
		s.Errorf("exit code %d, late %t, %d connections to the service: %s%s", r.code, r.late, n, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr, "is not a public address") && !strings.Contains(r.stderr, "is a server on this machine") {
		s.Errorf("the error does not say why: %s", r.stderr)
	}
}

func replaced(args []string, old, by string) []string {
	var all []string
	for _, a := range args {
		all = append(all, strings.ReplaceAll(a, old, by))
	}
	return all
}

// The same from a public host. A proxy answers for it, but requests to this machine do not
// go through the proxy.
func TestPackRedirectsBehindAProxy(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SSL_CERT_FILE works on Linux only")
	}
	for _, args := range [][]string{
		{"pack", "add", "https://example.com/widgets.dspack", "--yes"},
		{"catalog", "add", "https://example.com/catalog"},
		{"pack", "add", "oci://example.com/docs/widgets:1", "--yes"},
		{"index", "build", "https://example.com/docs.zip", "--name", "widgets"},
	} {
		for _, address := range []string{"127.0.0.1", "localhost", "10.255.255.1"} {
			t.Run(strings.Join(args[:3], " ")+" to "+address, func(t *testing.T) {
				target := newVictim(t, true)
				redirect := "https://" + strings.Replace(target.Listener.Addr().String(), "127.0.0.1", address, 1) + "/v2/x"
				internet := httptest.NewTLSServer(http.RedirectHandler(redirect, http.StatusTemporaryRedirect))
				defer internet.Close()
				var others atomic.Int64
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodConnect || r.Host != "example.com:443" {
						others.Add(1)
						http.Error(w, "no such host", http.StatusBadGateway)
						return
					}
					tunnel(w, internet.Listener.Addr().String())
				}))
				defer proxy.Close()
				s := newSandbox(t)
				certificate := filepath.Join(s.home, "ca.pem")
				s.write(certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: internet.Certificate().Raw})))
				s.env = append(s.env, "HTTPS_PROXY="+proxy.URL, "HTTP_PROXY="+proxy.URL, "SSL_CERT_FILE="+certificate)
				s.refused(target, args)
				if n := others.Load(); n > 0 {
					t.Errorf("%d requests to other hosts went to the proxy", n)
				}
			})
		}
	}
}

// tunnel connects the client of a CONNECT request to an address.
func tunnel(w http.ResponseWriter, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	io.Copy(client, server)
}

// A registry asks for its credentials in the name of another host.
func TestRegistryChallenge(t *testing.T) {
	const password, token = "s3cret-password", "s3cret-identity-token"
	for _, kind := range []string{"password", "identity token"} {
		for _, realm := range []string{"http://OTHER/token", "http://tokens.example.com/token", "https://tokens.example.com/token"} {
			t.Run(kind+" to "+realm, func(t *testing.T) {
				leaked := make(chan string, 100)
				watch := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					_, sent, _ := r.BasicAuth()
					if text := sent + string(body) + r.URL.String(); strings.Contains(text, "s3cret") {
						leaked <- r.Method + " " + r.URL.String()
					}
					io.WriteString(w, `{"token": "x"}`)
				})
				other, proxy := httptest.NewServer(watch), httptest.NewServer(watch)
				defer other.Close()
				defer proxy.Close()
				registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm=%q,service="x"`, strings.Replace(realm, "OTHER", other.Listener.Addr().String(), 1)))
					w.WriteHeader(http.StatusUnauthorized)
				}))
				defer registry.Close()
				s := newSandbox(t)
				address := registry.Listener.Addr().String()
				entry := map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("me:" + password))}
				if kind != "password" {
					entry["identitytoken"] = token
				}
				config, err := json.Marshal(map[string]any{"auths": map[string]any{address: entry}})
				if err != nil {
					t.Fatal(err)
				}
				s.write(filepath.Join(s.home, "docker", "config.json"), string(config))
				s.env = append(s.env, "DOCKER_CONFIG="+filepath.Join(s.home, "docker"), "HTTP_PROXY="+proxy.URL)
				if strings.HasPrefix(realm, "https:") {
					s.env = append(s.env, "HTTPS_PROXY="+proxy.URL)
				}
				r := s.docsearch("pack", "add", "oci://"+address+"/docs/widgets:1", "--yes")
				if len(leaked) > 0 {
					t.Errorf("the credentials of %s were sent with %s", address, <-leaked)
				}
				if r.code == 0 || !strings.Contains(r.stderr, address+" asks for its credentials at ") {
					t.Errorf("exit code %d: %s", r.code, r.stderr)
				}
			})
		}
	}
}

// The lock file of a checkout names a service of this machine.
func TestPackLockNamesThisMachine(t *testing.T) {
	target, publisher := newVictim(t, false), newPublisher(t)
	for _, source := range []string{target.URL + "/delete?all=1", "oci://" + target.Listener.Addr().String() + "/docs/widgets:1", strings.Replace(target.URL, "127.0.0.1", "LocalHost", 1) + "/x"} {
		s := newSandbox(t)
		s.write(filepath.Join(s.work, "docsearch.lock"), fmt.Sprintf(`{"packs": [{"name": "widgets", "version": "1", "digest": "sha256:%s", "publisher": %q, "source": %q}]}`,
			strings.Repeat("ab", 32), publisher.key, source))
		s.refused(target, []string{"pack", "add", "--locked", "--yes"})
	}
}
