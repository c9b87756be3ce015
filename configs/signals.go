package configs

// SignalsConfig is where signals from outside arrive; without an address nowhere.
type SignalsConfig struct {
	Listen      string // host:port of a server of its own
	TokenFile   string
	BehindProxy bool // a proxy with TLS stands in front of it
}

// signalCredential is the systemd credential of the token.
const signalCredential = "BOTD_SIGNAL_TOKEN"

func (l *loader) signals(root *section) {
	c := &l.config.Signals
	s := root.section("signals")
	listen := s.text("listen", &c.Listen)
	file := s.text("token_file", &c.TokenFile)
	proxy := "false"
	s.choice("behind_proxy", &proxy, "false", "true")
	c.BehindProxy = proxy == "true"
	switch {
	case file != nil && looksSecret(file.Value):
		s.report(Error, file.Line, file.Column, "write the token to a file of mode 600 and its path here; change it if others could read this file",
			"signals.token_file looks like the token itself, not like a path")
	case listen == nil && file != nil:
		s.warn(file, "write listen: 127.0.0.1:8430", "signals.listen is not set: no signal arrives")
	case listen != nil && file == nil && l.config.Exchange.CredentialsDirectory == "":
		s.wrong(listen, "name a file of mode 600, or use systemd's LoadCredential="+signalCredential, "signals.token_file is not set")
	}
	if listen != nil {
		host, well := hostOf(c.Listen)
		switch {
		case !well:
			s.wrong(listen, "write 127.0.0.1:8430", "signals.listen %q is not host:port", shortened(c.Listen))
		case !loopback(host) && !c.BehindProxy:
			s.wrong(listen, "write 127.0.0.1:8430 and let a proxy with TLS pass POST /signal on; or behind_proxy: true, when the proxy is on another machine",
				"signals.listen %s would take the token over a network in the clear", shortened(c.Listen))
		}
	}
	s.done()
}

// ReadSignalToken returns the token of signals from its file or credential. No
// error holds it.
func ReadSignalToken(c *SignalsConfig, credentials string) (string, error) {
	token, err := readSecret("signals.token_file", c.TokenFile, credentials, signalCredential)
	return string(token), err
}

func (c *SignalsConfig) outline() outline {
	o := newOutline()
	o.set("listen", c.Listen)
	o.set("token_file", c.TokenFile)
	if c.BehindProxy {
		o.set("behind_proxy", "true")
	}
	return o
}
