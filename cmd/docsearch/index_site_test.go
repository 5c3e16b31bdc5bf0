package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveSite serves the script's folder site, as $SITE. It knows a file by its
// contents: times of seconds are too coarse for a script.
func serveSite(env *testscript.Env) {
	dir := filepath.Join(env.WorkDir, "site")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := filepath.FromSlash(path.Clean(r.URL.Path))
		if strings.HasSuffix(r.URL.Path, "/") {
			name = filepath.Join(name, "index.html")
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf("\"%x\"", sha256.Sum256(data)))
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
	}))
	env.Defer(s.Close)
	env.Setenv("SITE", s.URL)
	env.Setenv("NO_PROXY", "127.0.0.1")
}

func TestSizeValue(t *testing.T) {
	for s, want := range map[string]int64{"500": 500, "500MB": 5e8, "2 gb": 2e9, "1KB": 1000} {
		var v sizeValue
		if err := v.Set(s); err != nil || int64(v) != want {
			t.Errorf("%s is %d, %v; want %d", s, v, err, want)
		}
	}
	for _, s := range []string{"", "MB", "-1", "0", "1.5GB", "1TB", "99999999999GB"} {
		var v sizeValue
		if v.Set(s) == nil {
			t.Errorf("%q is %d, want an error", s, v)
		}
	}
}
