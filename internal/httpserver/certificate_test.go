package httpserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// writeCertificate writes a certificate for loopback with a serial number, and returns its
// files.
func writeCertificate(t *testing.T, dir string, serial int64) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// A renewed certificate is used without a restart. If the files are damaged, the last
// certificate stays.
func TestCertificateReload(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := writeCertificate(t, dir, 1)
	s := newServer(t, Options{CertFile: certFile, KeyFile: keyFile})
	url, _ := start(t, s)
	serial := func() int64 {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		res, err := client.Get(url + healthPath)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("serial %d", got)
	}
	writeCertificate(t, dir, 2)
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 2 {
		t.Errorf("after a reload: serial %d", got)
	}
	writeCertificate(t, dir, 3)
	s.cert.checked = time.Time{} // as if a second had passed
	if got := serial(); got != 3 {
		t.Errorf("without a reload: serial %d", got)
	}
	if err := os.WriteFile(keyFile, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.cert.checked = time.Time{}
	if got := serial(); got != 3 || s.Reload() == nil {
		t.Errorf("damaged: serial %d", got)
	}
}
