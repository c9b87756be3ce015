package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/internal/failure"
)

// TestAccessThatAdmitsAnyoneIsRefused tries addresses of existing and of embedded servers, with and without a
// token in the environment.
func TestAccessThatAdmitsAnyoneIsRefused(t *testing.T) {
	for _, c := range []struct {
		token  string
		access Access
		code   int
		words  string
	}{
		{"", Access{Serve: "127.0.0.1:0", URL: "nats://127.0.0.1:4222"}, failure.Usage, "set only one of them"},
		{"", Access{URL: "nats://127.0.0.1:4222", Cert: "a.pem"}, failure.Usage, "--tls-cert and --tls-key belong together"},
		{"", Access{URL: "nats://127.0.0.1:4222", Key: "a.pem"}, failure.Usage, "--tls-cert and --tls-key belong together"},
		{"", Access{Serve: "127.0.0.1"}, failure.Usage, "--serve 127.0.0.1: want HOST:PORT, as 127.0.0.1:4222"},
		{"", Access{Serve: "127.0.0.1:0", Creds: "a.creds"}, failure.Usage,
			"--creds is for an existing server (--on); an embedded one uses BOTD_NATS_TOKEN"},
		{"", Access{Serve: "127.0.0.1:0"}, failure.OK, ""}, {"", Access{Serve: "localhost:4222"}, failure.OK, ""}, {"", Access{Serve: "[::1]:4222"},
			failure.OK, ""},
		{"", Access{Serve: "0.0.0.0:4222"}, failure.Credentials, "--serve 0.0.0.0:4222: without authentication, anybody"},
		{"", Access{Serve: ":4222"}, failure.Credentials, "without authentication"},
		{"", Access{Serve: "0.0.0.0:4222", CA: "ca.pem"}, failure.Credentials, "without authentication"},
		{"", Access{Serve: "0.0.0.0:4222", Cert: "a.pem", Key: "a.key"}, failure.Credentials, "without authentication"},
		{"", Access{Serve: "0.0.0.0:4222", CA: "ca.pem", Cert: "a.pem", Key: "a.key"}, failure.OK, ""}, {"secret", Access{Serve: "0.0.0.0:4222"},
			failure.OK, ""},
		{"", Access{URL: "nats://127.0.0.1:4222"}, failure.OK, ""}, {"", Access{URL: "tls://localhost:4222"}, failure.OK, ""},
		{"", Access{URL: "nats://[::1]"}, failure.OK, ""}, {"", Access{}, failure.Usage, "--on : want nats://HOST:PORT"},
		{"", Access{URL: "http://127.0.0.1:4222"}, failure.Usage, "--on http://127.0.0.1:4222: want nats://HOST:PORT or tls://HOST:PORT"},
		{"", Access{URL: "127.0.0.1:4222"}, failure.Usage, "want nats://HOST:PORT"}, {"", Access{URL: "nats://"}, failure.Usage, "want nats://HOST:PORT"},
		{"", Access{URL: "nats://user:secret@127.0.0.1:4222"}, failure.Usage, "--on: the address must not contain a secret"},
		{"", Access{URL: "nats://10.0.0.1:4222"}, failure.Credentials, "--on nats://10.0.0.1:4222: a server on another machine must authenticate its clients"},
		{"", Access{URL: "nats://127.0.0.1:4222, nats://venue.example:4222"}, failure.Credentials, "a server on another machine"},
		{"secret", Access{URL: "nats://10.0.0.1:4222,nats://10.0.0.2:4222"}, failure.OK, ""}, {"", Access{URL: "nats://10.0.0.1:4222",
			Creds: "a.creds"}, failure.OK, ""},
		{"", Access{URL: "nats://10.0.0.1:4222", Cert: "a.pem", Key: "a.key"}, failure.OK, ""},
		{"", Access{URL: "nats://10.0.0.1:4222", CA: "ca.pem"}, failure.Credentials, "a server on another machine"},
	} {
		t.Setenv(TokenVariable, c.token)
		err := c.access.Check()
		if codeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.words) || (err == nil) != (c.code == failure.OK) {
			t.Errorf("%+v with token %q: want %d, %q, have %v", c.access, c.token, c.code, c.words, err)
		}
		if err != nil && strings.Contains(err.Error(), "user:secret") {
			t.Errorf("want no secret shown, have %v", err)
		}
	}
}

// TestDataThatCrossANetworkUnencryptedAreNamed tries addresses with and without encryption.
func TestDataThatCrossANetworkUnencryptedAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		access Access
		want   bool
	}{
		{Access{Serve: "127.0.0.1:4222"}, false}, {Access{Serve: "0.0.0.0:4222"}, true}, {Access{Serve: "0.0.0.0:4222", Cert: "a.pem"}, false},
		{Access{Serve: "0.0.0.0:4222", CA: "ca.pem"}, true}, {Access{URL: "nats://127.0.0.1:4222"}, false}, {Access{URL: "nats://10.0.0.1:4222"}, true},
		{Access{URL: "tls://10.0.0.1:4222"}, false}, {Access{URL: "nats://10.0.0.1:4222", CA: "ca.pem"}, false},
		{Access{URL: "nats://10.0.0.1:4222", Cert: "a.pem"}, false}, {Access{URL: "nats://%zz"}, false},
	} {
		if have := c.access.plain(); have != c.want {
			t.Errorf("%+v: want plain %t", c.access, c.want)
		}
	}
}

// certificate writes a self-signed certificate with its key.
func certificate(t *testing.T, name string, addresses ...net.IP) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "botd"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: addresses}
	if name != "" {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	cert, key = filepath.Join(directory, "cert.pem"), filepath.Join(directory, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestAServerLetsInThoseWhoShowACertificate runs a server in this process with a certificate for a name, and
// with certificates for addresses.
func TestAServerLetsInThoseWhoShowACertificate(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		name      string
		addresses []net.IP
		known     bool // to workers, by the address at which they reach it
	}{{"botd.example", []net.IP{net.IPv4(127, 0, 0, 1)}, true}, {"", []net.IP{net.IPv4(127, 0, 0, 1)}, true}, {"", []net.IP{net.IPv4(10, 1, 2, 3)}, false},
		{"botd.example", nil, false}} {
		cert, key := certificate(t, of.name, of.addresses...)
		server, err := Serve(Access{Serve: "127.0.0.1:0", StoreDir: filepath.Join(t.TempDir(), "nats"), CA: cert, Cert: cert, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			who    string
			access Access
			in     *Server
			admits bool
		}{
			{"this process", Access{Cert: cert, Key: key, CA: cert}, server, true}, {"a worker with the certificate", Access{URL: server.url,
				Cert: cert, Key: key, CA: cert}, nil, of.known},
			{"a worker without a certificate", Access{URL: server.url, CA: cert}, nil, false}, {"a worker without TLS", Access{URL: server.url}, nil, false},
		} {
			connection, err := c.access.connect(t.Context(), "test", c.in)
			if (err == nil) != c.admits {
				t.Errorf("%s, to %s %s: want it let in %t, have %v", c.who, of.name, of.addresses, c.admits, err)
			}
			if err == nil {
				connection.Close()
			}
		}
		server.Close()
	}
}

// TestAProcessWithoutACertificateReachesItsOwnServer runs a server with a certificate that its clients know,
// and one with an invalid file of credentials.
func TestAProcessWithoutACertificateReachesItsOwnServer(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t, "", net.IPv4(127, 0, 0, 1))
	server, err := Serve(Access{Serve: "127.0.0.1:0", StoreDir: filepath.Join(t.TempDir(), "nats"), Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	access := Access{CA: cert}
	connection, err := access.connect(t.Context(), "test", server)
	if err != nil {
		t.Fatalf("want it let in, have %v", err)
	}
	connection.Close()
	access.Creds = "/none.creds"
	if connection, err := access.connect(t.Context(), "test", server); err == nil || !strings.Contains(err.Error(), "/none.creds") {
		t.Errorf("want the file named, have %v, %v", connection, err)
	}
	access = Access{CA: "/none.pem"}
	if _, err := access.connect(t.Context(), "test", server); codeOf(err) != failure.NoInput {
		t.Errorf("authorities that are not there: have %v", err)
	}
}

// TestInvalidCertificateFilesAreRefused checks that the error names each file.
func TestInvalidCertificateFilesAreRefused(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t, "botd.example")
	other := filepath.Join(t.TempDir(), "other.pem")
	if err := os.WriteFile(other, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		access Access
		code   int
		words  string
	}{
		{Access{CA: "/none.pem"}, failure.NoInput, "/none.pem"}, {Access{CA: other}, failure.Data, "--tls-ca " + other + " holds no certificate"},
		{Access{Cert: other, Key: key}, failure.Data, "--tls-cert " + other + " with --tls-key " + key}, {Access{CA: cert, Cert: cert, Key: key},
			failure.OK, ""},
	} {
		config, err := c.access.secured()
		if codeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%+v: want %d, %q, have %v", c.access, c.code, c.words, err)
		}
		if err == nil && (config.RootCAs == nil || len(config.Certificates) != 1) {
			t.Errorf("want both read, have %+v", config)
		}
	}
	if config, err := (&Access{}).secured(); config != nil || err != nil {
		t.Errorf("no files: want no TLS, have %v, %v", config, err)
	}
}

// TestAServerAsksForItsToken connects with the token, with another one, and without one.
func TestAServerAsksForItsToken(t *testing.T) {
	t.Setenv(TokenVariable, "secret")
	server, err := Serve(Access{Serve: "127.0.0.1:0", StoreDir: filepath.Join(t.TempDir(), "nats")})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for token, code := range map[string]int{"secret": failure.OK, "another": failure.Credentials, "": failure.Credentials} {
		t.Setenv(TokenVariable, token)
		view, err := Open(t.Context(), Access{URL: server.url})
		if codeOf(err) != code || err != nil && !strings.Contains(err.Error(), "does not admit this program") {
			t.Errorf("token %q: want %d, have %v", token, code, err)
		}
		if err == nil {
			view.Close()
			if !view.store.connection.IsClosed() {
				t.Error("want its connection ended")
			}
		}
	}
	if config := server.server.JetStreamConfig(); !config.SyncAlways {
		t.Errorf("want each message on the disk before it is acknowledged, have %+v", config)
	}
}

// TestAServerThatCannotBeReachedOrStartedIsNamed tries an address at which nobody listens, an invalid port,
// and a folder that cannot be written.
func TestAServerThatCannotBeReachedOrStartedIsNamed(t *testing.T) {
	t.Parallel()
	if _, err := Open(t.Context(), Access{URL: "nats://127.0.0.1:1"}); codeOf(err) != failure.Unavailable ||
		!strings.Contains(err.Error(), "connect to NATS at nats://127.0.0.1:1") || !strings.Contains(err.Error(), "botd sweep run --serve starts one") {
		t.Errorf("want it named with a hint, have %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		access Access
		code   int
	}{{Access{Serve: "127.0.0.1:nothing"}, failure.Usage}, {Access{Serve: "127.0.0.1:0", StoreDir: filepath.Join(file, "nats")}, failure.IO},
		{Access{Serve: "127.0.0.1:0", StoreDir: t.TempDir(), CA: "/none.pem"}, failure.NoInput}, {Access{Serve: "0.0.0.0:0"}, failure.Credentials}} {
		if server, err := Serve(c.access); codeOf(err) != c.code || server != nil {
			t.Errorf("%+v: want %d, have %v", c.access, c.code, err)
		}
	}
}
