package configs

import (
	"errors"
	"net/url"
	"strings"
)

// HeartbeatConfig is a service that raises an alarm when botd's requests stop.
type HeartbeatConfig struct {
	AddressFile string // empty for none
	EveryMS     int64
}

// heartbeatCredential is the systemd credential of the service's address.
const heartbeatCredential = "BOTD_HEARTBEAT"

func (c *HeartbeatConfig) keys() []key {
	const both = "heartbeat: {url_file: /etc/botd/heartbeat, every: 1m}"
	return []key{
		{name: "url_file", value: text(&c.AddressFile), what: "the file of mode 600 that holds the address of a dead-man's service " +
			"(healthchecks.io, Uptime Kuma, Dead Man's Snitch): botd requests it while it works, and the service raises the alarm when the requests stop",
			example: both, instead: "systemd's credential BOTD_HEARTBEAT, where `every` is set and no file is named"},
		{name: "every", value: duration(&c.EveryMS, 10*second, day), what: "interval between requests", example: both},
	}
}

// checkHeartbeat refuses an address in place of its file's name.
func (l *loader) checkHeartbeat(s *section) {
	if file := s.single("url_file"); file != nil && strings.Contains(file.Value, "://") {
		s.wrong(file, "write the address to a file of mode 600 and its path here", "heartbeat.url_file contains the address itself, not the path of its file")
	}
}

// ReadHeartbeat returns the address from its file or credential, or an empty string without one. No error contains
// it.
func ReadHeartbeat(c *HeartbeatConfig, credentials string) (string, error) {
	if c.AddressFile == "" && c.EveryMS == 0 {
		return "", nil
	}
	text, err := readSecret("heartbeat.url_file", c.AddressFile, credentials, heartbeatCredential)
	if err != nil {
		return "", err
	}
	parsed, err := url.Parse(string(text))
	if err != nil || parsed.Host == "" || parsed.Scheme != "https" && (parsed.Scheme != "http" || !loopback(parsed.Hostname())) {
		return "", errors.New("heartbeat.url_file does not contain one https address (http only on loopback)\n  hint: copy the address that the service shows")
	}
	return string(text), nil
}
