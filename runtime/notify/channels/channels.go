// Package channels opens the configured notification channels, and tests them.
package channels

import (
	"errors"
	"fmt"
	"slices"

	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/notify"
)

// Channel is a channel of a configuration, or the error that prevents it.
type Channel struct {
	notify.Route
	Err error
}

// OpenAll opens the channels of a configuration; one that fails does not affect the others.
func OpenAll(config *configs.Config) (all []Channel) {
	for i := range config.Notify.Channels {
		c := &config.Notify.Channels[i]
		sender, err := Open(config, c)
		all = append(all, Channel{notify.Route{Name: c.Name, Sender: sender, MinSeverity: notify.Severity(slices.Index(notify.Severities, c.MinSeverity)),
			Also: c.Also, Never: c.Never, Quiet: notify.Quiet{From: c.QuietFrom, Until: c.QuietUntil}}, err})
	}
	return all
}

// Routes opens the channels of a configuration. The error names each that cannot be opened.
func Routes(config *configs.Config) (all []notify.Route, err error) {
	open := OpenAll(config)
	for _, one := range open {
		all = append(all, one.Route)
	}
	return all, Unopened(open)
}

// Unopened returns an error that names each channel that cannot be opened.
func Unopened(open []Channel) error {
	var wrong []error
	for _, one := range open {
		if one.Err != nil {
			wrong = append(wrong, one.Err)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return failure.Wrap(failure.CodeOf(wrong[0]), errors.Join(wrong...))
}

func Open(config *configs.Config, c *configs.ChannelConfig) (notify.Sender, error) {
	address, err := configs.ReadAddress(c, config.Exchange.CredentialsDirectory)
	if err != nil {
		return nil, failure.Wrap(failure.Credentials, err)
	}
	sender, err := notify.Open(address)
	if err != nil {
		return nil, failure.New(failure.Config, "", "notify.channels.%s: %w", c.Name, err)
	}
	return sender, nil
}

// Title begins each message and identifies the botd that sends it.
func Title(config *configs.Config) string {
	return fmt.Sprintf("botd %s (%s)", config.Instance, config.Mode)
}
