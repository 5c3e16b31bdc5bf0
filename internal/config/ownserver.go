package config

import "time"

const (
	ownServerMagic = "docsearch own server 1\n"
	// ownServerAge limits the use of a record if no hook runs at the start of a session,
	// which forgets it.
	ownServerAge = time.Hour
)

// An OwnServer is the name under which an agent's settings have docsearch's server. To find
// it takes a read of all settings, which Claude Code keeps with megabytes of other data.
type OwnServer struct {
	Name  string // empty: they do not have it
	Found int64  // when, in seconds since 1970
}

// ReadOwnServer returns the recorded name for the sessions of a place; false if there is no
// record of the last hour.
func ReadOwnServer(l Locations, p RoutesPlace, now time.Time) (name string, ok bool) {
	data, err := readCacheFile(ownServerPath(l, p))
	if err != nil {
		return "", false
	}
	var s OwnServer
	if err := decodeFields(data, ownServerMagic, s.code); err != nil {
		return "", false
	}
	age := now.Sub(time.Unix(s.Found, 0))
	return s.Name, age > -time.Minute && age < ownServerAge
}

// Write records the name for the sessions of a place.
func (s OwnServer) Write(l Locations, p RoutesPlace) error {
	return writeCacheFile(l, ownServerPath(l, p), encodeFields(ownServerMagic, s.code))
}

// ForgetOwnServer removes the record for the sessions of a place.
func ForgetOwnServer(l Locations, p RoutesPlace) error {
	return removeCacheFile(ownServerPath(l, p))
}

func (s *OwnServer) code(c *coder) {
	c.text(&s.Name)
	c.number(&s.Found)
}

func ownServerPath(l Locations, p RoutesPlace) string {
	if p.Claude == "" {
		return ""
	}
	return cacheFile(l, "server", p.Claude+"\x00"+p.Project, ".snapshot")
}
