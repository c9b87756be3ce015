package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxChannels is how many channels there may be: their names are metric labels.
const MaxChannels = 10

// Never is no time of day.
const Never = -1

// NotifyConfig says who is told what.
type NotifyConfig struct {
	EveryMS  int64 // at most one message a channel in this time, after the first few
	Daily    int   // minutes after midnight UTC at which a summary is told; or Never
	Channels []ChannelConfig
}

// ChannelConfig is one messaging service. Its address holds secrets and stands in
// a file of its own, or in systemd's credential.
type ChannelConfig struct {
	Name        string
	AddressFile string
	Least       string // info, warning, error
	Also, Never []string
}

// told are the events that a channel takes whatever their severity, unless it
// names others: what ends or begins, and what asks for a look.
var told = []string{"daemon.*", "trading.armed", "order.uncertain", "config.rejected"}

// Credential is the systemd credential of the channel's address.
func (c *ChannelConfig) Credential() string { return "BOTD_NOTIFY_" + strings.ToUpper(c.Name) }

var (
	channelName = regexp.MustCompile(`^[a-z][a-z0-9]{0,19}$`)
	eventName   = regexp.MustCompile(`^[a-z_*]+(\.[a-z_*]+)?$`)
	timeOfDay   = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])$`)
)

func (l *loader) notify(root *section) {
	n := &l.config.Notify
	s := root.section("notify")
	s.duration("every", &n.EveryMS, second, day)
	s.timeOfDay("daily", &n.Daily)
	all := s.section("channels")
	all.learn("NAME", Key{Kind: KindBlock, Any: true})
	if all.keys != nil {
		l.channel(&section{document: all.document, path: all.path + "NAME."}, "NAME")
	}
	for _, e := range all.entries {
		name := e.key.Value
		if !channelName.MatchString(name) {
			all.report(Error, e.key.Line, e.key.Column, "1 to 20 of a-z and 0-9, as phone", fmt.Sprintf("notify.channels: %q is not a channel's name", shortened(name)))
			continue
		}
		n.Channels = append(n.Channels, l.channel(all.section(name), name))
	}
	if len(n.Channels) > MaxChannels {
		all.fail(all.line, "", "%d channels are more than %d", len(n.Channels), MaxChannels)
	}
	slices.SortFunc(n.Channels, func(a, b ChannelConfig) int { return strings.Compare(a.Name, b.Name) })
	if n.Daily != Never && len(n.Channels) == 0 {
		s.report(Warning, s.lineOf("daily"), 0, "name one under notify.channels", "notify.daily tells nobody: there is no channel")
	}
	s.done()
}

func (l *loader) channel(s *section, name string) ChannelConfig {
	c := ChannelConfig{Name: name, Least: "error", Also: told}
	node := s.text("url_file", &c.AddressFile)
	switch {
	case node != nil && (strings.Contains(node.Value, "://") || looksSecret(node.Value)):
		c.AddressFile = ""
		s.report(Error, node.Line, node.Column, "write the address to a file of mode 600 and its path here; change its token if others could read this file",
			s.path+"url_file holds the address itself, not the path of its file")
	case node == nil && s.keys == nil && l.config.Exchange.CredentialsDirectory == "":
		s.fail(s.line, "name a file of mode 600 that holds the address, or use systemd's LoadCredential="+c.Credential(), "%surl_file is not set", s.path)
	}
	s.choice("least", &c.Least, "info", "warning", "error")
	hint := "names of events as in the log, * for any part: order.fill, strategy.*"
	s.words("also", &c.Also, eventName, hint)
	s.words("never", &c.Never, eventName, hint)
	s.done()
	return c
}

// timeOfDay reads 06:00 into minutes after midnight, or off.
func (s *section) timeOfDay(key string, into *int) {
	s.learn(key, Key{Kind: KindTime, Default: "off"})
	node, ok := s.scalar(key)
	if !ok {
		return
	}
	if node.Value == "off" {
		*into = Never
		return
	}
	parts := timeOfDay.FindStringSubmatch(node.Value)
	if parts == nil {
		s.wrong(node, "write 06:00, or off", "%s%s %q is not a time of day in UTC", s.path, key, shortened(node.Value))
		return
	}
	hours, _ := strconv.Atoi(parts[1])
	minutes, _ := strconv.Atoi(parts[2])
	*into = hours*60 + minutes
}

// ReadAddress returns a channel's address from its file or credential. No error
// holds it.
func ReadAddress(c *ChannelConfig, credentials string) (string, error) {
	address, err := readSecret("notify.channels."+c.Name+".url_file", c.AddressFile, credentials, c.Credential())
	return string(address), err
}

func (n *NotifyConfig) outline() outline {
	o, all := newOutline(), newOutline()
	o.set("every", durationText(n.EveryMS))
	daily := "off"
	if n.Daily != Never {
		daily = fmt.Sprintf("%02d:%02d", n.Daily/60, n.Daily%60)
	}
	o.set("daily", daily)
	for i := range n.Channels {
		c := &n.Channels[i]
		one := newOutline()
		one.set("url_file", c.AddressFile)
		one.set("least", c.Least)
		one.setWords("also", c.Also)
		if len(c.Never) > 0 {
			one.setWords("never", c.Never)
		}
		all.put(c.Name, one)
	}
	o.put("channels", all)
	return o
}
