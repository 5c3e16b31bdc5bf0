package site

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// A Header is a request header with a secret value, such as a token or a session cookie.
// It has only a reference to the value, so that it can be stored.
type Header struct {
	Name string `json:"name"`
	From string `json:"from"` // "env:VARIABLE" or "@FILE"
}

// maxSecret is the maximum length of the value of a Header.
const maxSecret = 16 << 10

// value reads the value of the header.
func (h Header) value() (string, error) {
	var value, origin string
	if variable, ok := strings.CutPrefix(h.From, "env:"); ok {
		value, origin = os.Getenv(variable), "environment variable "+variable
	} else {
		origin = strings.TrimPrefix(h.From, "@")
		data, err := atomicfile.ReadPrivate(origin, maxSecret)
		if err != nil {
			return "", fmt.Errorf("cannot read the %s header: %w", h.Name, err)
		}
		value = string(data)
	}
	switch value = strings.TrimSpace(value); {
	case value == "":
		return "", fmt.Errorf("cannot read the %s header: %s is empty", h.Name, origin)
	case !httpguts.ValidHeaderFieldValue(value) || len(value) > maxSecret:
		return "", fmt.Errorf("cannot read the %s header: %s is not one line of text", h.Name, origin)
	}
	return value, nil
}

// A HeaderFlag is the value of a flag that appends to Headers. Its errors do not contain
// the argument, which may be a secret.
type HeaderFlag struct {
	Headers *[]Header
	Name    string // of the header; "": the argument begins with NAME=
}

// Type returns the name of the type. Messages do not quote values of this type.
func (f HeaderFlag) Type() string { return "secret" }

func (f HeaderFlag) String() string { return "" }

// Set appends the header that the argument describes.
func (f HeaderFlag) Set(s string) error {
	name, from, want := f.Name, s, "env:VARIABLE or @FILE"
	if name == "" {
		want = "NAME=env:VARIABLE or NAME=@FILE"
		name, from, _ = strings.Cut(s, "=")
	}
	file, isFile := strings.CutPrefix(from, "@")
	variable, isVariable := strings.CutPrefix(from, "env:")
	if !httpguts.ValidHeaderFieldName(name) || !(isFile && file != "") && !(isVariable && variable != "") {
		return fmt.Errorf("want %s, not the value itself", want)
	}
	if isFile {
		path, err := absolute(file)
		if err != nil {
			return err
		}
		from = "@" + path
	}
	*f.Headers = append(*f.Headers, Header{name, from})
	return nil
}

// absolute returns the absolute path of a file. A shell does not expand the ~ of "@~/file".
func absolute(file string) (string, error) {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		home, err := os.UserHomeDir()
		return filepath.Join(home, rest), err
	}
	return filepath.Abs(file)
}

// A LoginError reports a site that shows its first page only to some users.
type LoginError struct{ error }

// isLogin reports whether the address of a page is that of a login.
func isLogin(page string) bool {
	u, err := url.Parse(page)
	if err != nil {
		return false
	}
	host, _, _ := strings.Cut(u.Host, ".")
	return slices.ContainsFunc(append(strings.Split(u.Path, "/"), host), func(name string) bool {
		switch name, _, _ = strings.Cut(strings.ToLower(name), "."); name {
		case "login", "log-in", "log_in", "signin", "sign-in", "sign_in", "sso", "saml", "auth", "oauth", "oauth2", "authorize":
			return true
		}
		return false
	})
}

// A login holds the headers with secrets for one origin. nil is valid and has none.
type login struct {
	origin  string
	names   []string
	values  []string
	secrets [][]byte // parts of the values that no page or journal may contain, the longest first
}

// readLogin reads the values of headers.
func readLogin(headers []Header, sc *scope) (*login, error) {
	if len(headers) == 0 {
		return nil, nil
	}
	l := &login{origin: sc.origin}
	for _, h := range headers {
		value, err := h.value()
		if err != nil {
			return nil, err
		}
		l.names, l.values = append(l.names, h.Name), append(l.values, value)
		l.addSecrets(value)
	}
	slices.SortFunc(l.secrets, func(a, b []byte) int { return len(b) - len(a) })
	return l, nil
}

// addSecrets adds the secrets in a value: the value itself, the token after a scheme such
// as "Bearer", and the values of cookies, except for words such as those of settings.
func (l *login) addSecrets(value string) {
	const minSecret = 8 // pages contain shorter words by chance
	add := func(s string) {
		for _, form := range []string{s, url.QueryEscape(s)} {
			if secret := []byte(form); len(secret) >= minSecret && !slices.ContainsFunc(l.secrets, func(o []byte) bool { return bytes.Equal(o, secret) }) {
				l.secrets = append(l.secrets, secret)
			}
		}
	}
	add(value)
	if _, token, ok := strings.Cut(value, " "); ok {
		add(strings.TrimSpace(token))
	}
	for cookie := range strings.SplitSeq(value, ";") {
		if _, v, ok := strings.Cut(cookie, "="); ok && strings.ContainsAny(v, "0123456789") {
			add(strings.TrimSpace(v))
		}
	}
}

// headersFor returns the names and values of the headers for a URL: none for another
// origin.
func (l *login) headersFor(u *url.URL) (names, values []string) {
	if l == nil || origin(u) != l.origin {
		return nil, nil
	}
	return l.names, l.values
}

// redact replaces the secrets in a page that contains them.
func (l *login) redact(data []byte) []byte {
	if l == nil {
		return data
	}
	for _, secret := range l.secrets {
		if bytes.Contains(data, secret) {
			data = bytes.ReplaceAll(data, secret, []byte("[removed]"))
		}
	}
	return data
}

// redactString is redact for headers of an answer.
func (l *login) redactString(s string) string { return string(l.redact([]byte(s))) }
