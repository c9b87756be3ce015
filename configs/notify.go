package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/internal/notation"
)

// maxChannels is the maximum number of channels: their names are metric labels.
const maxChannels = 10

// NotifyConfig configures notifications.
type NotifyConfig struct {
	EveryMS  int64 // minimum time between two messages of a channel, after the first few
	Daily    int   // minutes after midnight UTC at which a summary is sent; or Never
	Channels []ChannelConfig
}

// ChannelConfig is one messaging service. Its address contains secrets, so it is stored in a separate file, or in
// systemd's credential.
type ChannelConfig struct {
	Name        string
	AddressFile string
	MinSeverity string // info, warning, error
	Also, Never []string

	QuietFrom, QuietUntil int // minutes after midnight UTC; only errors are sent between them; equal for never
}

// alwaysSent lists the events that a channel sends at any severity, unless it names others: beginnings, ends, and
// events that need a user.
var alwaysSent = []string{"daemon.*", "incident.*", "trade.*", "trading.armed", "order.uncertain", "config.rejected", "exchange.key_*",
	"strategy.notice"}

// Credential names the systemd credential of the channel's address.
func (c *ChannelConfig) Credential() string { return "BOTD_NOTIFY_" + strings.ToUpper(c.Name) }

func newChannel(name string) ChannelConfig {
	return ChannelConfig{Name: name, MinSeverity: "error", Also: alwaysSent}
}

var (
	channelName = regexp.MustCompile(`^[a-z][a-z0-9]{0,19}$`)
	eventName   = regexp.MustCompile(`^[a-z_*]+(\.[a-z_*]+)?$`)
)

func (l *loader) notifyKeys() []key {
	n, any := &l.config.Notify, newChannel("NAME")
	return []key{
		{name: "every", value: duration(&n.EveryMS, second, day),
			what: "minimum time between two messages of a channel, after the first few; the rest are combined", example: "1m"},
		{name: "daily", value: timeOfDay(&n.Daily),
			what: "time of the daily summary, UTC", example: `notify: {daily: "06:00", channels: {phone: {url_file: /etc/botd/phone}}}`},
		{name: "channels", members: &members{key: key{name: "NAME", keys: any.keys()}, read: l.readChannels, show: n.showChannels}},
	}
}

func (c *ChannelConfig) keys() []key {
	const hint = "names of events as in the log, * for any part: order.fill, strategy.*"
	example := func(more string) string {
		return "notify: {channels: {phone: {url_file: /etc/botd/phone" + more + "}}}"
	}
	return []key{
		{name: "url_file", value: text(&c.AddressFile), check: c.checkAddress,
			what: "the file of mode 600 that holds the channel's address (`botd notify --help` has their forms)", example: example(""),
			instead: "systemd's credential BOTD_NOTIFY_NAME, where no file is named"},
		{name: "least", value: choice(&c.MinSeverity, "info", "warning", "error"),
			what: "minimum severity from which every event is sent", example: example(", least: warning")},
		{name: "also", zero: true, value: words(&c.Also, eventName, hint),
			what: "events sent regardless of severity; logs.md lists them, `*` matches any part", example: example(", also: [order.fill]")},
		{name: "never", value: words(&c.Never, eventName, hint), what: "events that are never sent", example: example(", never: [exchange.*]")},
		{name: "quiet", value: hours(&c.QuietFrom, &c.QuietUntil),
			what: "hours of the day, UTC, in which only errors are sent; the rest follows afterwards", example: example(", quiet: 22:00-07:00")},
	}
}

func (c *ChannelConfig) checkAddress(s *section, node *yaml.Node) {
	if strings.Contains(node.Value, "://") || looksSecret(node.Value) {
		s.wrong(node, "write the address to a file of mode 600 and its path here; change its token if others could read this file",
			"%surl_file contains the address itself, not the path of its file", s.path)
	}
}

func (l *loader) readChannels(s *section) {
	n := &l.config.Notify
	for _, e := range s.entries {
		name := e.key.Value
		if !channelName.MatchString(name) {
			s.report(Error, e.key.Line, e.key.Column, "1 to 20 of a-z and 0-9, such as phone",
				fmt.Sprintf("notify.channels: %q is not a valid channel name", notation.Shortened(name)))
			continue
		}
		c, block := newChannel(name), s.section(name)
		block.read(c.keys())
		if block.single("url_file") == nil && l.config.Exchange.CredentialsDirectory == "" {
			block.fail(block.line, "name a file of mode 600 that holds the address, or use systemd's LoadCredential="+c.Credential(),
				"%surl_file is not set", block.path)
		}
		n.Channels = append(n.Channels, c)
	}
	if len(n.Channels) > maxChannels {
		s.fail(s.line, "", "%d channels exceed the maximum of %d", len(n.Channels), maxChannels)
	}
	slices.SortFunc(n.Channels, func(a, b ChannelConfig) int { return strings.Compare(a.Name, b.Name) })
}

func (n *NotifyConfig) showChannels(into outline) {
	for i := range n.Channels {
		one := newOutline()
		one.add(n.Channels[i].keys())
		into.put(n.Channels[i].Name, one)
	}
}

func (l *loader) checkNotify(s *section) {
	if n := &l.config.Notify; n.Daily != Never && len(n.Channels) == 0 {
		s.report(Warning, s.lineOf("daily"), 0, "name one under notify.channels", "notify.daily reaches nobody: there is no channel")
	}
}

// ReadAddress returns a channel's address from its file or credential. No error contains it.
func ReadAddress(c *ChannelConfig, credentials string) (string, error) {
	address, err := readSecret("notify.channels."+c.Name+".url_file", c.AddressFile, credentials, c.Credential())
	return string(address), err
}
