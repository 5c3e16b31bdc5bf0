package loopback

import (
	"net/url"
	"testing"
)

func TestIsHost(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost:8080": true, "127.0.0.1": true, "127.8.9.1:80": true, "::1": true, "[::1]": true, "[::1]:443": true,
		"[::ffff:127.0.0.1]:80": true,
		"":                      false, "localhost.example.com": false, "127.0.0.1.example.com": false, "10.0.0.1": false, "0.0.0.0": false, "[fe80::1]:80": false,
		"example.com:8080": false, "2130706433": false,
	} {
		if got := IsHost(host); got != want {
			t.Errorf("IsHost(%q) = %t", host, got)
		}
	}
}

func TestIsSafe(t *testing.T) {
	for location, want := range map[string]bool{
		"https://example.com/": true, "http://127.0.0.1:8000/docs": true, "http://localhost/": true, "http://[::1]:1/": true,
		"http://example.com/": false, "http://127.0.0.1@example.com/": false, "ftp://127.0.0.1/": false, "https:///path": false,
	} {
		u, err := url.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		if got := IsSafe(u); got != want {
			t.Errorf("IsSafe(%q) = %t", location, got)
		}
	}
}
