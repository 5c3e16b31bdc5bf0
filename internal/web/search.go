package web

import "net/http"

func (s *Server) searchPage(w http.ResponseWriter, _ *http.Request) error {
	return s.render(w, Page{Title: "Search", Section: "/"}, "search.html", nil)
}
