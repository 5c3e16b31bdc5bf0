package config

import (
	"testing"
	"time"
)

func TestOwnServer(t *testing.T) {
	l := Locations{Cache: t.TempDir()}
	place := RoutesPlace{Claude: "/home/u/.claude", Project: "/project"}
	now := time.Unix(1763635277, 0)
	for _, name := range []string{"leann", ""} {
		if err := (OwnServer{name, now.Unix()}).Write(l, place); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			place RoutesPlace
			at    time.Time
			want  bool
		}{
			{place, now, true},
			{place, now.Add(59 * time.Minute), true},
			{place, now.Add(time.Hour), false},
			{place, now.Add(-time.Hour), false},
			{RoutesPlace{Claude: place.Claude, Project: "/other"}, now, false},
			{RoutesPlace{Claude: "/other", Project: place.Project}, now, false},
			{RoutesPlace{}, now, false},
		} {
			got, ok := ReadOwnServer(l, test.place, test.at)
			if ok != test.want || ok && got != name {
				t.Errorf("%q for %+v at %v: %q, %t; want %t", name, test.place, test.at, got, ok, test.want)
			}
		}
	}
	if err := ForgetOwnServer(l, place); err != nil {
		t.Fatal(err)
	}
	if name, ok := ReadOwnServer(l, place, now); ok {
		t.Errorf("a forgotten record has %q", name)
	}
}

func FuzzOwnServer(f *testing.F) {
	s := OwnServer{"leann", 1763635277}
	f.Add(encodeFields(ownServerMagic, s.code))
	f.Add([]byte(ownServerMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, again OwnServer
		if decodeFields(data, ownServerMagic, s.code) != nil {
			return
		}
		if err := decodeFields(encodeFields(ownServerMagic, s.code), ownServerMagic, again.code); err != nil || again != s {
			t.Errorf("%+v becomes %+v, %v", s, again, err)
		}
	})
}
