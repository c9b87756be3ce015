package configs

import (
	"net/url"
	"regexp"
	"slices"

	"botd/internal/notation"
)

// TelegramConfig configures commands by Telegram. Without users it is off.
type TelegramConfig struct {
	TokenFile          string
	Operators, Viewers []int64 // user ids
	Server             string  // https, or http on this machine
}

// On reports whether botd accepts commands.
func (c *TelegramConfig) On() bool { return len(c.Operators)+len(c.Viewers) > 0 }

// telegramServer is the address of Telegram's own server.
const telegramServer = "https://api.telegram.org"

var telegramTokenFile = tokenFile{"telegram.token_file", "BOTD_TELEGRAM_TOKEN"}

var telegramToken = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]{20,}$`)

func (c *TelegramConfig) keys() []key {
	const both = "telegram: {token_file: /etc/botd/telegram, operators: [123456789]}"
	return []key{
		{name: "token_file", value: text(&c.TokenFile),
			what:    "the file of mode 600 that holds the token of the Telegram bot that receives commands (telegram.md); without it no command is accepted",
			example: both, instead: "systemd's credential BOTD_TELEGRAM_TOKEN, where no file is named"},
		{name: "operators", value: users(&c.Operators), what: "the numbers of the Telegram users who may pause, halt and resume", example: both},
		{name: "viewers", value: users(&c.Viewers),
			what: "the numbers of the Telegram users who may only read", example: "telegram: {token_file: /etc/botd/telegram, viewers: [987654321]}"},
		{name: "server", value: text(&c.Server).showing(func() string {
			if c.Server == telegramServer {
				return ""
			}
			return c.Server
		}), what: "your own Bot API server; https, or http on this machine", example: "https://telegram.example"},
	}
}

func (l *loader) checkTelegram(s *section) {
	c := &l.config.Telegram
	file, server := s.single("token_file"), s.single("server")
	switch {
	case file != nil && (looksSecret(file.Value) || telegramToken.MatchString(file.Value)):
		telegramTokenFile.refuse(s, file)
	case file != nil && !c.On():
		s.wrong(file, "write operators: [NUMBER] or viewers: [NUMBER]", "telegram lists no users: no command would be accepted")
	case c.On() && file == nil && l.config.Exchange.CredentialsDirectory == "":
		s.fail(s.line, secretHint(telegramTokenFile.credential), "%s is not set", telegramTokenFile.setting)
	}
	for _, user := range c.Viewers {
		if slices.Contains(c.Operators, user) {
			s.fail(s.line, "an operator may also read", "telegram: %d is both an operator and a viewer", user)
		}
	}
	if server != nil {
		address, err := url.Parse(c.Server)
		plain := err == nil && address.Scheme == "http" && loopback(address.Hostname())
		if err != nil || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Scheme != "https" && !plain {
			s.wrong(server, "write https://HOST; the token is part of every address there",
				"telegram.server %q is neither https nor http on this machine", notation.Shortened(c.Server))
		}
	}
}

// ReadTelegramToken returns the bot's token from its file or credential. No error contains it.
func ReadTelegramToken(c *TelegramConfig, credentials string) (string, error) {
	return telegramTokenFile.read(c.TokenFile, credentials)
}
