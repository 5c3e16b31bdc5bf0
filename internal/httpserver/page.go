package httpserver

import (
	"encoding/base64"
	"net/http"
)

const (
	loginPath = "/login"
	// tokenCookie is the name of the cookie with the token of a browser, in base64.
	tokenCookie = "docsearch-token"
)

// logIn checks the token in a form and stores it in a cookie, so that the server itself
// keeps nothing.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	token := r.PostFormValue("token")
	if _, refused := s.authenticate(r, token); refused != nil {
		if record := requestOf(r.Context()); record != nil {
			record.reason = refused.reason
		}
		s.Site.AskForToken(w, loginPath, true)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: tokenCookie, Value: base64.RawURLEncoding.EncodeToString([]byte(token)),
		Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: s.cert != nil || s.public != nil && s.public.Scheme == "https"})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// tokenInCookie returns the token of a browser, or "".
func tokenInCookie(r *http.Request) string {
	c, err := r.Cookie(tokenCookie)
	if err != nil {
		return ""
	}
	token, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return ""
	}
	return string(token)
}
