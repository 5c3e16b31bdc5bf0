package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"time"
)

//go:embed static templates
var files embed.FS

// A staticFile is a file that browsers may keep.
type staticFile struct {
	content []byte
	etag    string // quoted digest of the content
}

func loadStatic() (map[string]staticFile, error) {
	all := map[string]staticFile{}
	entries, err := fs.ReadDir(files, "static")
	for _, e := range entries {
		content, err := fs.ReadFile(files, path.Join("static", e.Name()))
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(content)
		all[staticPath+e.Name()] = staticFile{content, `"` + base64.RawURLEncoding.EncodeToString(digest[:12]) + `"`}
	}
	return all, err
}

func (s *Site) serveStatic(w http.ResponseWriter, r *http.Request) {
	f, ok := s.static[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache") // the next version of docsearch may serve another file
	w.Header().Set("ETag", f.etag)
	http.ServeContent(w, r, path.Base(r.URL.Path), time.Time{}, bytes.NewReader(f.content))
}

// parseTemplates returns the templates of the pages, by file name. Their links begin with
// base.
func parseTemplates(base string) (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{"base": func() string { return base }}).ParseFS(files,
		"templates/*.html")
}
