package configs

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/exchange/wire"
	"botd/internal/notation"
	"botd/internal/spell"
)

// ExchangeConfig configures the connection to the venue.
type ExchangeConfig struct {
	BaseURL              string
	KeyFile              string
	SecretFile           string
	CredentialsDirectory string // systemd's $CREDENTIALS_DIRECTORY, holding BOTD_KEY and BOTD_SECRET
	Signature            SignatureConfig
	Profile              ProfileConfig
	Settle               SettleConfig
	Breaker              BreakerConfig
	RequestsPerSecond    int // to each market, from all callers together; 0 for no limit
}

// SignatureConfig configures the signed payload and the encoding of the signature (docs/exchange.md, the signed string).
type SignatureConfig struct {
	Payload  string // in the notation of wire.Signer
	Encoding string // hex, base64
	Paths    string // full, route: the signed part of a base_url with a path
}

// BreakerConfig configures when the account pauses openings (exactly-once.md, cases 25 and 26).
type BreakerConfig struct {
	Uncertain    int // lost answers ...
	WithinMS     int64
	PauseMS      int64
	EmptyEndings int // consecutive endings without a fill
	EmptyPauseMS int64
}

// exchangeKeys returns the keys of the block.
func (l *loader) exchangeKeys() []key {
	e := &l.config.Exchange
	return []key{
		{name: "base_url", value: text(&e.BaseURL), check: l.checkBaseURL, after: l.needsBaseURL,
			what: "the venue's address; http only on this machine", modes: "paper, live", example: "https://api.venue.example",
			instead: "`--base-url` of the commands that only read"},
		{name: "key_file", value: text(&e.KeyFile), check: checkSecretFile("key_file"), after: l.needsSecretFile("key_file"),
			what: "the file of mode 600 that holds the API key", modes: "live", example: "/etc/botd/key",
			instead: "systemd's credential BOTD_KEY, where no file is named"},
		{name: "secret_file", value: text(&e.SecretFile), check: checkSecretFile("secret_file"), after: l.needsSecretFile("secret_file"),
			what: "the file of mode 600 that holds the API secret", modes: "live", example: "/etc/botd/secret",
			instead: "systemd's credential BOTD_SECRET, where no file is named"},
		{name: "profile", keys: e.profileKeys(), file: l.profileFile},
		{name: "signature", keys: signatureKeys(&e.Signature)},
		{name: "settle", keys: settleKeys(&e.Settle), after: e.Settle.noteWritten},
		{name: "breaker", keys: breakerKeys(&e.Breaker)},
		{name: "requests_per_second", value: whole(&e.RequestsPerSecond, 0, maxPerSecond),
			what: "maximum request rate to each market, for all callers together; exits and settlement have priority, market data comes last; 0 is unlimited",
			unit: "requests a second", modes: "paper, live", example: "20"},
	}
}

func signatureKeys(c *SignatureConfig) []key {
	return []key{
		{name: "payload", value: text(&c.Payload), check: checkPayload,
			what: "the signed string: `{timestamp}`, `{method}`, `{path}` with its query, `{route}` without, `{query}`, `{body}`, `{body_base64}`, " +
				"`{body_sha256}`, `{key}`; `\\n` is a newline, and a part in `[ ]` is included only with a body. `botd probe` determines it", modes: "live",
			example: `"{timestamp}{method}{path}{body}"`},
		{name: "encoding", value: choice(&c.Encoding, "hex", "base64"),
			what: "encoding of the signature", modes: "live", example: "base64"},
	}
}

func breakerKeys(c *BreakerConfig) []key {
	return []key{
		{name: "unknowns", value: whole(&c.Uncertain, 1, 1000),
			what: "number of orders with an uncertain outcome, `within` the window, that pauses openings", unit: "orders", example: "3"},
		{name: "within", value: duration(&c.WithinMS, second, 7*day), what: "length of the window for `unknowns`", example: "10m"},
		{name: "pause", value: duration(&c.PauseMS, second, 7*day), what: "how long openings pause after `unknowns`", example: "10m"},
		{name: "empty_endings", value: whole(&c.EmptyEndings, 1, 1000),
			what: "number of consecutive orders without a fill that pauses openings", unit: "orders", example: "3"},
		{name: "empty_pause", value: duration(&c.EmptyPauseMS, second, 7*day), what: "how long openings pause after `empty_endings`", example: "45s"},
	}
}

// needsBaseURL reports a missing address of the venue.
func (l *loader) needsBaseURL(s *section) {
	if l.config.Mode != Demo && s.find("base_url") == nil {
		s.fail(l.modeLine, "write exchange: {base_url: https://...}", "mode %s needs exchange.base_url", l.config.Mode)
	}
}

func (l *loader) checkBaseURL(s *section, node *yaml.Node) {
	e := &l.config.Exchange
	address, err := url.Parse(e.BaseURL)
	switch {
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https":
		s.wrong(node, "write https://host or, for a test on this machine, http://127.0.0.1:port", "exchange.base_url is not an address")
	case address.User != nil:
		s.wrong(node, "remove user and password; keys go into key_file and secret_file", "exchange.base_url contains a user name or password")
	case address.RawQuery != "" || address.Fragment != "":
		s.wrong(node, "remove the ? or # and what follows", "exchange.base_url has a query or fragment")
	case address.Scheme == "http" && !loopback(address.Hostname()):
		s.wrong(node, "write https://"+address.Host, "exchange.base_url is http, which only loopback addresses may be")
	default:
		e.BaseURL = strings.TrimRight(e.BaseURL, "/")
	}
}

func loopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost"
}

// checkSecretFile reports a credential written in place of its file's name. It never reads the file.
func checkSecretFile(name string) func(*section, *yaml.Node) {
	return func(s *section, node *yaml.Node) {
		if looksSecret(node.Value) {
			s.wrong(node, "write the secret to a file of mode 600 and its path here; change it if others could read this file",
				"exchange.%s looks like the secret itself, not like a path", name)
		}
	}
}

// needsSecretFile reports a missing credential.
func (l *loader) needsSecretFile(name string) func(*section) {
	return func(s *section) {
		if l.config.Mode == Live && l.config.Exchange.CredentialsDirectory == "" && s.find(name) == nil {
			s.fail(l.modeLine, "name a file of mode 600, or use systemd credentials BOTD_KEY and BOTD_SECRET", "mode live needs exchange.%s", name)
		}
	}
}

var secretText = regexp.MustCompile(`^[A-Za-z0-9+=_-]{24,}$`)

// looksSecret reports whether a text in place of a path is long and without any separator, like a key.
func looksSecret(text string) bool { return secretText.MatchString(text) }

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

func checkPayload(s *section, node *yaml.Node) {
	known := make([]string, len(wire.Placeholders))
	for i, name := range wire.Placeholders {
		known[i] = "{" + name + "}"
	}
	hint := "known: " + strings.Join(known, ", ")
	found := placeholder.FindAllString(node.Value, -1)
	for _, word := range found {
		if near := spell.Nearest(word, known); near != word {
			if near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
			s.wrong(node, hint, "%spayload has an unknown placeholder %s", s.path, notation.Shortened(word))
			return
		}
	}
	if len(found) == 0 {
		s.wrong(node, hint, "%spayload includes no part of the request", s.path)
	} else if err := wire.CheckTemplate(node.Value); err != nil {
		s.wrong(node, `such as "{timestamp}{method}{path}[{body}]"`, "%spayload: %v", s.path, err)
	}
}
