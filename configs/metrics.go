package configs

import (
	"fmt"

	"botd/internal/notation"
)

// MetricsConfig configures a separate address for the metrics. Without it only listen serves them.
type MetricsConfig struct {
	Listen    string // host:port
	TokenFile string
}

var metricsToken = tokenFile{"metrics.token_file", "BOTD_METRICS_TOKEN"}

func (c *MetricsConfig) keys() []key {
	const both = "metrics: {listen: 127.0.0.1:8421, token_file: /etc/botd/metrics-token}"
	return []key{
		{name: "listen", value: text(&c.Listen), what: "a separate address that serves all metrics and nothing else; beyond loopback it uses the " +
			"certificate of `access`", example: both},
		{name: "token_file", value: text(&c.TokenFile), what: "the file of mode 600 that holds the metrics token, at least 20 characters", example: both,
			instead: "systemd's credential BOTD_METRICS_TOKEN, where no file is named"},
	}
}

// checkMetrics runs after access is read, since it depends on it.
func (l *loader) checkMetrics(s *section) {
	c := &l.config.Metrics
	listen, file := s.single("listen"), s.single("token_file")
	if file != nil && looksSecret(file.Value) {
		metricsToken.refuse(s, file)
	}
	if listen == nil {
		return
	}
	host, well := hostOf(c.Listen)
	switch {
	case !well:
		s.wrong(listen, "write 127.0.0.1:8421", "metrics.listen %q is not host:port", notation.Shortened(c.Listen))
	case file == nil && l.config.Exchange.CredentialsDirectory == "":
		s.wrong(listen, secretHint(metricsToken.credential), "%s is not set", metricsToken.setting)
	case !loopback(host) && !l.config.Access.Secure():
		s.wrong(listen, "write 127.0.0.1:8421; or give access.certificate_file and access.key_file, which it uses too",
			"metrics.listen %s would receive the token over the network unencrypted", notation.Shortened(c.Listen))
	}
}

// shortestMetricsToken is the minimum length of a token that cannot be guessed.
const shortestMetricsToken = 20

// ReadMetricsToken returns the token of the metrics from its file or credential. No error contains it.
func ReadMetricsToken(c *MetricsConfig, credentials string) (string, error) {
	token, err := metricsToken.read(c.TokenFile, credentials)
	if err == nil && len(token) < shortestMetricsToken {
		return "", fmt.Errorf("%s: the token has %d characters, want at least %d", metricsToken.setting, len(token), shortestMetricsToken)
	}
	return token, err
}
