package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"botd/backtest/inputs"
	"botd/backtest/sweeps"
	"botd/internal/failure"
	"botd/internal/version"
)

// TokenVariable names the environment variable with the token of clients and of an embedded server.
const TokenVariable = "BOTD_NATS_TOKEN"

// Access holds the address and the credentials of a server. Secrets come from files and the environment.
type Access struct {
	URL      string // nats://HOST:PORT or tls://HOST:PORT of an existing server
	Serve    string // HOST:PORT of a server to embed
	Creds    string // file with a user's JWT and key
	CA       string // file with the trusted authorities
	Cert     string // certificate of this side, with its key
	Key      string
	StoreDir string // of an embedded server
}

// token returns the token from the environment.
func token() string { return os.Getenv(TokenVariable) }

// Check refuses settings that would admit anyone or put secrets in a URL.
func (a *Access) Check() error {
	if a.Serve != "" && a.URL != "" {
		return failure.Usagef("--serve runs a server in this process, --on uses an existing one: set only one of them")
	}
	if (a.Cert == "") != (a.Key == "") {
		return failure.Usagef("--tls-cert and --tls-key belong together")
	}
	if a.Serve != "" {
		return a.checkServe()
	}
	for _, one := range strings.Split(a.URL, ",") {
		parsed, err := url.Parse(strings.TrimSpace(one))
		if err != nil || parsed.Host == "" || parsed.Scheme != "nats" && parsed.Scheme != "tls" {
			return failure.Usagef("--on %s: want nats://HOST:PORT or tls://HOST:PORT, several with commas", one)
		}
		if parsed.User != nil {
			return failure.New(failure.Usage, "put the token into "+TokenVariable+", or give --creds FILE", "--on: the address must not contain a secret")
		}
		if !loopback(parsed.Host) && a.open() {
			return failure.New(failure.Credentials, TokenVariable+", --creds FILE or --tls-cert FILE with --tls-key FILE",
				"--on %s: a server on another machine must authenticate its clients", one)
		}
	}
	return nil
}

func (a *Access) checkServe() error {
	if _, _, err := net.SplitHostPort(a.Serve); err != nil {
		return failure.Usagef("--serve %s: want HOST:PORT, as 127.0.0.1:4222", a.Serve)
	}
	if a.Creds != "" {
		return failure.Usagef("--creds is for an existing server (--on); an embedded one uses %s", TokenVariable)
	}
	if !loopback(a.Serve) && token() == "" && (a.CA == "" || a.Cert == "") {
		return failure.New(failure.Credentials, "put a token into "+TokenVariable+", here and of every worker, or give --tls-ca FILE with --tls-cert FILE",
			"--serve %s: without authentication, anybody on the network could run scripts on the workers", a.Serve)
	}
	return nil
}

// open reports whether clients connect without credentials.
func (a *Access) open() bool { return token() == "" && a.Creds == "" && a.Cert == "" }

// loopback reports whether an address is reachable only from this machine.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// plain reports whether data crosses a network unencrypted.
func (a *Access) plain() bool {
	if a.Serve != "" {
		return !loopback(a.Serve) && a.Cert == ""
	}
	parsed, err := url.Parse(a.URL)
	return err == nil && !loopback(parsed.Host) && parsed.Scheme != "tls" && a.CA == "" && a.Cert == ""
}

// secured returns the TLS configuration, or nil without TLS.
func (a *Access) secured() (*tls.Config, error) {
	if a.CA == "" && a.Cert == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.CA != "" {
		text, err := os.ReadFile(a.CA)
		if err != nil {
			return nil, failure.Wrap(failure.NoInput, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, failure.New(failure.Data, "", "--tls-ca %s holds no certificate", a.CA)
		}
	}
	if a.Cert != "" {
		pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, failure.New(failure.Data, "", "--tls-cert %s with --tls-key %s: %w", a.Cert, a.Key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// own makes a process trust its own certificate, whatever its name.
func own(config *tls.Config) error {
	if len(config.Certificates) == 0 {
		return nil
	}
	leaf, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
	if err != nil {
		return failure.Wrap(failure.Data, err)
	}
	config.RootCAs = x509.NewCertPool()
	config.RootCAs.AddCert(leaf)
	switch {
	case len(leaf.DNSNames) > 0:
		config.ServerName = leaf.DNSNames[0]
	case len(leaf.IPAddresses) > 0:
		config.ServerName = leaf.IPAddresses[0].String()
	}
	return nil
}

// Server is a server in this process.
type Server struct {
	server *server.Server
	url    string
}

// Serve starts a server. Every message is on the disk before it is acknowledged.
func Serve(a Access) (*Server, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(a.Serve)
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil, failure.Usagef("--serve %s: %w", a.Serve, err)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	if err := os.MkdirAll(a.StoreDir, 0o700); err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	options := &server.Options{ServerName: "botd", Host: host, Port: number, JetStream: true, StoreDir: a.StoreDir, SyncAlways: true,
		Authorization: token(), NoSigs: true, NoLog: true, DisableShortFirstPing: true}
	secured, err := a.secured()
	if err != nil {
		return nil, err
	}
	if a.Cert != "" {
		options.TLS, options.TLSConfig, options.TLSTimeout = true, secured, 5
		if a.CA != "" {
			secured.ClientCAs, secured.ClientAuth, options.TLSVerify = secured.RootCAs, tls.RequireAndVerifyClientCert, true
		}
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, failure.Wrap(failure.Usage, err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		s.Shutdown()
		return nil, failure.New(failure.IO, "is the port free, and can "+a.StoreDir+" be written?", "no server could be started on %s", a.Serve)
	}
	return &Server{server: s, url: s.ClientURL()}, nil
}

// Close stops the server. Its data stays on disk.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

// Begin announces a sweep to the workers, through the server of --on or one that it starts; known reports whether a job has its row.
func (a Access) Begin(ctx context.Context, spec *sweeps.Spec, trials *inputs.Trials, known func(job string) bool,
	log func(format string, arguments ...any)) (*Coordinator, error) {
	program, err := version.ProgramHash()
	if err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	if a.plain() {
		log("warning: token and results cross the network unencrypted; use --tls-cert and --tls-ca")
	}
	if a.Serve == "" {
		return begin(ctx, a, nil, spec, trials, program, version.Read().Version, known, log)
	}
	server, err := Serve(a)
	if err != nil {
		return nil, err
	}
	c, err := begin(ctx, a, server, spec, trials, program, version.Read().Version, known, log)
	if err != nil {
		server.Close()
		return nil, err
	}
	c.server = server
	return c, nil
}

// connect connects, and reconnects to an unreachable server until ctx ends.
func (a *Access) connect(ctx context.Context, name string, in *Server) (*nats.Conn, error) {
	options := []nats.Option{nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond), nats.Timeout(10 * time.Second)}
	address := a.URL
	if in != nil {
		address = in.url
		options = append(options, nats.InProcessServer(in.server))
	} else if err := a.Check(); err != nil {
		return nil, err
	}
	if token() != "" && a.Creds == "" {
		options = append(options, nats.Token(token()))
	}
	if a.Creds != "" {
		options = append(options, nats.UserCredentials(a.Creds))
	}
	secured, err := a.secured()
	if err == nil && in != nil && secured != nil {
		err = own(secured)
	}
	if err != nil {
		return nil, err
	}
	if secured != nil {
		options = append(options, nats.Secure(secured))
	}
	connection, err := nats.Connect(address, options...)
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return nil, failure.New(failure.Credentials, TokenVariable+" or --creds FILE", "the server at %s does not admit this program: %w", address, err)
	case err != nil:
		return nil, failure.New(failure.Unavailable, "botd sweep run --serve starts one", "connect to NATS at %s: %w", address, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := connection.FlushWithContext(ctx); err != nil {
		connection.Close()
		return nil, failure.Wrap(failure.Unavailable, fmt.Errorf("talk to NATS at %s: %w", address, err))
	}
	return connection, nil
}
