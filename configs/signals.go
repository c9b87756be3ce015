package configs

import "botd/internal/notation"

// SignalsConfig configures the reception of external signals. It is off without an address.
type SignalsConfig struct {
	Listen      string // host:port of a separate server
	TokenFile   string
	BehindProxy bool // a TLS proxy is in front of it
}

var signalToken = tokenFile{"signals.token_file", "BOTD_SIGNAL_TOKEN"}

func (c *SignalsConfig) keys() []key {
	const both = "signals: {listen: 127.0.0.1:8430, token_file: /etc/botd/signal-token}"
	return []key{
		{name: "listen", value: text(&c.Listen), what: "the address that accepts external signals (signals.md); without it none are accepted", example: both},
		{name: "token_file", value: text(&c.TokenFile),
			what: "the file of mode 600 that holds the token of signals", example: both, instead: "systemd's credential BOTD_SIGNAL_TOKEN, where no file " +
				"is named"},
		{name: "behind_proxy", value: flag(&c.BehindProxy),
			what: "a TLS proxy on another machine is in front of botd", example: "true"},
	}
}

func (l *loader) checkSignals(s *section) {
	c := &l.config.Signals
	listen, file := s.single("listen"), s.single("token_file")
	switch {
	case file != nil && looksSecret(file.Value):
		signalToken.refuse(s, file)
	case listen == nil && file != nil:
		s.warn(file, "write listen: 127.0.0.1:8430", "signals.listen is not set: no signal can arrive")
	case listen != nil && file == nil && l.config.Exchange.CredentialsDirectory == "":
		s.wrong(listen, secretHint(signalToken.credential), "%s is not set", signalToken.setting)
	}
	if listen == nil {
		return
	}
	host, well := hostOf(c.Listen)
	switch {
	case !well:
		s.wrong(listen, "write 127.0.0.1:8430", "signals.listen %q is not host:port", notation.Shortened(c.Listen))
	case !loopback(host) && !c.BehindProxy:
		s.wrong(listen, "write 127.0.0.1:8430 and let a TLS proxy forward POST /signal; or behind_proxy: true, if the proxy is on another machine",
			"signals.listen %s would receive the token over the network unencrypted", notation.Shortened(c.Listen))
	}
}

// ReadSignalToken returns the token of signals from its file or credential. No error contains it.
func ReadSignalToken(c *SignalsConfig, credentials string) (string, error) {
	return signalToken.read(c.TokenFile, credentials)
}
