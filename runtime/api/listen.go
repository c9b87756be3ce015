package api

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"botd/internal/inbound"
)

// connections are the limits over TCP. A page of the dashboard needs six. The unix socket has no
// limit, since only the owner of its files reaches it.
var connections = inbound.Limits{All: 256, Unknown: 128}

// Access configures access to the server over TCP.
type Access struct {
	Certificate, Key string   // files of TLS
	BehindProxy      bool     // a proxy with TLS is in front
	Hosts            []string // permitted host names, besides loopback ones
	MetricsToken     bool     // /metrics need a viewer's token or session
	MetricsOpen      bool     // /metrics show money to every client
}

func (a *Access) secure() bool { return a.Certificate != "" || a.BehindProxy }

// ErrExposed reports an unprotected address that others can reach.
var ErrExposed = errors.New("an address that is not loopback needs TLS or a declared proxy")

// Listen listens at a TCP address. An address that is not loopback is refused without TLS or a
// declared proxy: a token must not cross a network unencrypted.
func Listen(address string, access Access) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen %q: not host:port", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !access.secure() {
		return nil, fmt.Errorf("listen %s: %w\nhint: listen: 127.0.0.1:8420 and an ssh tunnel; or access: {certificate_file: FILE, key_file: FILE}; "+
			"or access: {behind_proxy: true} with TLS in front of it", address, ErrExposed)
	}
	var config *tls.Config
	if access.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(access.Certificate, access.Key)
		if err != nil {
			return nil, fmt.Errorf("listen %s: certificate: %w", address, err)
		}
		config = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen %s: %w\nhint: another program, possibly another botd, uses this address; set listen in botd.yaml or "+
			"--listen", address, err)
	}
	listener = inbound.Limit(listener, connections)
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	return listener, nil
}
