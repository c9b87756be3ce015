package configs

import (
	"net"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/internal/notation"
)

// AccessConfig configures access to dashboard and API from other machines.
type AccessConfig struct {
	CertificateFile, KeyFile string   // of TLS
	BehindProxy              bool     // a TLS proxy is in front
	Hosts                    []string // accepted host names, besides loopback ones
	MetricsToken             bool     // /metrics needs a token
	MetricsOpen              bool     // /metrics shows money without a token
}

// Secure reports whether traffic to the browser is encrypted.
func (a *AccessConfig) Secure() bool { return a.CertificateFile != "" || a.BehindProxy }

var hostName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$`)

func (a *AccessConfig) keys() []key {
	const both = "access: {certificate_file: /etc/botd/tls.crt, key_file: /etc/botd/tls.key}"
	return []key{
		{name: "certificate_file", value: text(&a.CertificateFile), what: "the TLS certificate of dashboard and API, PEM", example: both},
		{name: "key_file", value: text(&a.KeyFile), what: "the private key of `certificate_file`, PEM", example: both},
		{name: "behind_proxy", value: flag(&a.BehindProxy),
			what: "a TLS proxy is in front of botd, so that `listen` need not be loopback", example: "true"},
		{name: "hosts", value: custom(func() string { return strings.Join(a.Hosts, ", ") }), check: a.readHosts,
			what: "additional host names and addresses of the dashboard, besides loopback, separated by commas", example: "botd.example, 10.0.0.5"},
		{name: "metrics_token", value: flag(&a.MetricsToken),
			what: "/metrics requires a viewer's token over TCP; without it, it shows everything except money to anyone who connects", example: "true"},
		{name: "metrics_open", value: flag(&a.MetricsOpen),
			what: "/metrics shows everything, including money, to anyone who connects to `listen`", example: "true"},
	}
}

func (a *AccessConfig) readHosts(s *section, node *yaml.Node) {
	a.Hosts = strings.FieldsFunc(node.Value, func(r rune) bool { return r == ',' || r == ' ' })
	for _, host := range a.Hosts {
		if !hostName.MatchString(host) {
			s.wrong(node, "write names without port or https://, separated by commas: botd.example, 10.0.0.5",
				"access.hosts: %q is not a host name", notation.Shortened(host))
		}
	}
}

func (a *AccessConfig) check(s *section) {
	if (a.CertificateFile == "") != (a.KeyFile == "") {
		s.fail(s.line, "give both, or neither", "access has only one of certificate_file and key_file")
	}
}

// ListenOff is the address of a daemon that only its unix socket serves.
const ListenOff = "off"

// checkListen runs after access is read, since it depends on it.
func (l *loader) checkListen(s *section) {
	c, node := l.config, s.single("listen")
	if node == nil || c.Listen == ListenOff {
		return
	}
	host, well := hostOf(c.Listen)
	switch {
	case !well:
		s.wrong(node, "write 127.0.0.1:8420, or off", "listen %q is not host:port", notation.Shortened(c.Listen))
	case !loopback(host) && !c.Access.Secure():
		s.wrong(node, "127.0.0.1:8420 serves this machine only; for others give access.certificate_file and access.key_file, "+
			"or access.behind_proxy: true with TLS in front", "listen %s can be reached from other machines, and there is no TLS", notation.Shortened(c.Listen))
	case !loopback(host):
		s.warn(node, "127.0.0.1:8420 serves this machine only", "listen %s can be reached from other machines", notation.Shortened(c.Listen))
	}
}

// hostOf returns the host of host:port.
func hostOf(address string) (host string, well bool) {
	host, port, err := net.SplitHostPort(address)
	number, numberErr := strconv.Atoi(port)
	return host, err == nil && numberErr == nil && number >= 0 && number <= 65535
}
