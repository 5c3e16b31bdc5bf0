package site

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	token   = "Bearer tok-8f2e6c1d"
	session = "session=ses-77aa01; theme=darkness"
)

// newLoginServer returns a site that shows its pages only to requests with a header. Its
// pages contain the secret.
func newLoginServer(t *testing.T, header, value string) *server {
	s := newServer(t)
	show := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(header) != value {
				http.Error(w, "log in", http.StatusUnauthorized)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("ETag", `"`+value+`"`)
			fmt.Fprintf(w, "<p>%s</p><script>user = %q</script><a href=?%s>me</a>", body, value, value)
		}
	}
	s.pages["/docs/"] = show(`Start <a href="a.html">a</a> <a href="away">away</a> <a href="out">out</a>`)
	s.pages["/docs/a.html"] = show("The crank in darkness.")
	return s
}

func TestLogin(t *testing.T) {
	for name, tt := range map[string]struct{ header, value, from string }{
		"variable": {"Authorization", token, "env:SITE_SECRET"},
		"file":     {"Cookie", session, "@"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newLoginServer(t, tt.header, tt.value)
			other := newServer(t)
			other.pages["/"] = func(w http.ResponseWriter, r *http.Request) {
				t.Errorf("another origin received the request %v", r.Header)
			}
			s.pages["/docs/away"] = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL+"/", http.StatusFound)
			}
			s.pages["/docs/out"] = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/login?back="+tt.value, http.StatusFound)
			}
			if tt.from == "@" {
				tt.from += secretFile(t, tt.value+"\n", 0o600)
			} else {
				t.Setenv("SITE_SECRET", tt.value)
			}
			dir := filepath.Join(t.TempDir(), "mirror")
			opt := Options{URL: s.URL + "/docs/", Dir: dir, Headers: []Header{{tt.header, tt.from}}, Delay: -1}
			for run, want := range []int{2, 0} {
				r, err := Fetch(t.Context(), opt)
				if err != nil {
					t.Fatal(err)
				}
				if r.Fetched != want {
					t.Errorf("run %d fetched %d pages, want %d: %+v", run, r.Fetched, want, r)
				}
				for _, part := range []string{"tok-8f2e6c1d", "ses-77aa01"} {
					if strings.Contains(fmt.Sprint(r), part) {
						t.Errorf("the report contains the secret: %+v", r)
					}
					lacksSecret(t, dir, part)
				}
			}
			if m, err := Open(dir); err != nil {
				t.Error(err)
			} else if page, err := m.Read(m.Pages()[1]); !strings.Contains(string(page), "in darkness") {
				t.Errorf("a word of the cookies is removed: %s, %v", page, err)
			}
			if st, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o700 {
				t.Errorf("mirror has mode %v, %v", st.Mode(), err)
			}
		})
	}
}

func secretFile(t *testing.T, secret string, mode fs.FileMode) string {
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// lacksSecret checks that no file below dir contains the secret.
func lacksSecret(t *testing.T, dir, secret string) {
	files := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(name)
		if strings.Contains(string(data), secret) {
			t.Errorf("%s contains the secret: %s", name, data)
		}
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files, %v", files, err)
	}
}

// The headers go to the origin of the user's URL only.
func TestLoginOrigin(t *testing.T) {
	t.Setenv("SITE_SECRET", token)
	s := newServer(t)
	got := map[string]string{}
	note := func(w http.ResponseWriter, r *http.Request) { got[r.Host] = r.Header.Get("Authorization") }
	s.pages["/docs/"] = note
	other := newServer(t)
	other.pages["/docs/"] = note
	sc, err := newScope(s.URL+"/docs/", "")
	if err != nil {
		t.Fatal(err)
	}
	opt := withDefaults(Options{URL: s.URL, Headers: []Header{{"Authorization", "env:SITE_SECRET"}}, Private: true}, sc)
	c := newClient(opt, sc)
	defer c.close()
	if c.login, err = readLogin(opt.Headers, sc); err != nil {
		t.Fatal(err)
	}
	c.limit.Store(DefaultMaxBytes)
	for _, u := range []string{s.URL, other.URL} {
		if _, err := c.get(t.Context(), request{url: u + "/docs/", limit: 1 << 20}); err != nil {
			t.Fatal(err)
		}
	}
	own, foreign := strings.TrimPrefix(s.URL, "http://"), strings.TrimPrefix(other.URL, "http://")
	if got[own] != token || got[foreign] != "" {
		t.Errorf("received %q, want the token at %s only", got, own)
	}
}

func TestLoginErrors(t *testing.T) {
	t.Setenv("SITE_EMPTY", " ")
	t.Setenv("SITE_LINES", "a\nb")
	s := newServer(t)
	s.set("/docs/", "start")
	for from, want := range map[string]string{
		"env:SITE_UNSET":                        "cannot read the Cookie header: environment variable SITE_UNSET is empty",
		"env:SITE_EMPTY":                        "cannot read the Cookie header: environment variable SITE_EMPTY is empty",
		"env:SITE_LINES":                        "cannot read the Cookie header: environment variable SITE_LINES is not one line of text",
		"@/nowhere/secret":                      "cannot read the Cookie header: ",
		"@" + secretFile(t, token, 0o644):       "others can read it; run: chmod 600 ",
		"@" + secretFile(t, "", 0o600):          " is empty",
		"@" + secretFile(t, "a\r\nb: c", 0o600): " is not one line of text",
		"@" + secretFile(t, strings.Repeat("a", maxSecret+1), 0o600): "too large",
	} {
		if strings.Contains(want, "chmod") && runtime.GOOS == "windows" {
			continue
		}
		_, err := Fetch(t.Context(), Options{URL: s.URL + "/docs/", Dir: filepath.Join(t.TempDir(), "mirror"), Headers: []Header{{"Cookie", from}}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v, want %q", from, err, want)
		}
	}
	if len(s.requests()) > 0 {
		t.Errorf("requested %q", s.requests())
	}
}

// A site that needs a login says so, however it refuses its first page.
func TestLoginNeeded(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"401":  func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusUnauthorized) },
		"403":  func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusForbidden) },
		"form": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html><input type=password>") },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/Login.php?next=%2F", http.StatusFound)
		},
		"redirect to a host": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://sso.docs.test/", http.StatusFound)
		},
	} {
		s := newServer(t)
		s.handle("/docs/", answer)
		var login *LoginError
		if _, err := Fetch(t.Context(), options(t, s.URL+"/docs/")); !errors.As(err, &login) || !strings.HasPrefix(err.Error(), "cannot download any page of "+s.URL+"/docs/: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newServer(t)
	s.handle("/docs/", http.RedirectHandler("/manual/", http.StatusFound).ServeHTTP)
	var moved *MovedError
	if _, err := Fetch(t.Context(), options(t, s.URL+"/docs/")); !errors.As(err, &moved) {
		t.Errorf("a site that has moved: %v", err)
	}
}

func TestHeaderFlag(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, argument string
		want           Header // zero for an error
	}{
		{"", "Authorization=env:TOKEN", Header{"Authorization", "env:TOKEN"}},
		{"", "X-Key=@token", Header{"X-Key", "@" + filepath.Join(work, "token")}},
		{"Cookie", "env:COOKIE", Header{"Cookie", "env:COOKIE"}},
		{"Cookie", "@~/cookie", Header{"Cookie", "@" + filepath.Join(home, "cookie")}},
		{"", "Authorization=hunter2-x", Header{}},
		{"", "Authorization: hunter2-x", Header{}},
		{"", "A b=env:TOKEN", Header{}},
		{"", "=env:TOKEN", Header{}},
		{"", "Authorization=env:", Header{}},
		{"", "env:hunter2-x", Header{}},
		{"Cookie", "session=hunter2-x", Header{}},
		{"Cookie", "@", Header{}},
	} {
		var headers []Header
		err := HeaderFlag{&headers, tt.name}.Set(tt.argument)
		switch {
		case tt.want == Header{}:
			if err == nil || len(headers) > 0 || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v, %v", tt.argument, headers, err)
			}
		case err != nil || len(headers) != 1 || headers[0] != tt.want:
			t.Errorf("%s: %v, %v, want %v", tt.argument, headers, err, tt.want)
		}
	}
}
