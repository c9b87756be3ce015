package configs

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// TelegramConfig says who may give commands by Telegram; without people nobody.
type TelegramConfig struct {
	TokenFile          string
	Operators, Viewers []int64 // numbers of users
	Server             string  // https, or http on this machine
}

// On reports whether commands are taken.
func (c *TelegramConfig) On() bool { return len(c.Operators)+len(c.Viewers) > 0 }

// telegramServer is Telegram's own.
const telegramServer = "https://api.telegram.org"

// telegramCredential is the systemd credential of the bot's token.
const telegramCredential = "BOTD_TELEGRAM_TOKEN"

var (
	userNumber    = regexp.MustCompile(`^[1-9][0-9]{0,15}$`)
	telegramToken = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]{20,}$`)
)

func (l *loader) telegram(root *section) {
	c := &l.config.Telegram
	c.Server = telegramServer
	s := root.section("telegram")
	file := s.text("token_file", &c.TokenFile)
	s.users("operators", &c.Operators)
	s.users("viewers", &c.Viewers)
	server := s.text("server", &c.Server)
	switch {
	case file != nil && (looksSecret(file.Value) || telegramToken.MatchString(file.Value)):
		s.report(Error, file.Line, file.Column, "write the token to a file of mode 600 and its path here; have it changed if others could read this file",
			"telegram.token_file looks like the token itself, not like a path")
		c.TokenFile = ""
	case file != nil && !c.On():
		s.wrong(file, "write operators: [NUMBER] or viewers: [NUMBER]", "telegram lists nobody: no command would be taken")
	case c.On() && file == nil && l.config.Exchange.CredentialsDirectory == "":
		s.fail(s.line, "name a file of mode 600, or use systemd's LoadCredential="+telegramCredential, "telegram.token_file is not set")
	}
	for _, user := range c.Viewers {
		if slices.Contains(c.Operators, user) {
			s.fail(s.line, "an operator may look too", "telegram: %d is an operator and a viewer", user)
		}
	}
	if server != nil {
		address, err := url.Parse(c.Server)
		plain := err == nil && address.Scheme == "http" && loopback(address.Hostname())
		if err != nil || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Scheme != "https" && !plain {
			s.wrong(server, "write https://HOST; the token is a part of every address there", "telegram.server %q is neither https nor http on this machine", shortened(c.Server))
		}
	}
	s.done()
}

// users reads a list of numbers of people.
func (s *section) users(key string, into *[]int64) {
	s.learn(key, Key{Kind: KindUsers})
	s.known = append(s.known, key)
	node := s.value(key)
	if node == nil {
		return
	}
	if node.Kind != yaml.SequenceNode || len(node.Content) > maxWords {
		s.wrong(node, fmt.Sprintf("write %s: [123456789]", key), "%s%s is %s, not a list of at most %d numbers", s.path, key, kindOf(node), maxWords)
		return
	}
	for _, member := range node.Content {
		user, err := strconv.ParseInt(member.Value, 10, 64)
		if member.Kind != yaml.ScalarNode || member.Tag != "!!int" || !userNumber.MatchString(member.Value) || err != nil {
			s.wrong(member, "botd's log tells a user's number when he writes to the bot; a group has a negative one and can not be listed", "%s%s: %q is not a user's number", s.path, key, shortened(member.Value))
			return
		}
		*into = append(*into, user)
	}
}

// ReadTelegramToken returns the bot's token from its file or credential. No error
// holds it.
func ReadTelegramToken(c *TelegramConfig, credentials string) (string, error) {
	token, err := readSecret("telegram.token_file", c.TokenFile, credentials, telegramCredential)
	return string(token), err
}

func (c *TelegramConfig) outline() outline {
	o := newOutline()
	o.set("token_file", c.TokenFile)
	o.setUsers("operators", c.Operators)
	o.setUsers("viewers", c.Viewers)
	if c.Server != telegramServer {
		o.set("server", c.Server)
	}
	return o
}

// setUsers lists numbers, unless there are none.
func (o outline) setUsers(key string, users []int64) {
	if len(users) == 0 {
		return
	}
	var words []string
	for _, user := range users {
		words = append(words, strconv.FormatInt(user, 10))
	}
	o.setWords(key, words)
}
