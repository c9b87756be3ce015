package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"botd/runtime/api/auth"
)

var channelRoutes = []route{
	{id: "test_channels", tag: "log", method: "POST", path: "/api/v1/notifications/test", minimum: auth.Operator,
		endpoint: change(by(maintenanceOf, (*maintenance).testChannels)),
		summary:  "Sends a test message through every channel of notify.channels, or through one, and returns the result of each, within 20 s.",
		fails:    []int{409}},
}

// Channels sends test messages through the channels that notify people.
type Channels interface {
	Names() []string
	Test(ctx context.Context, names []string) []ChannelResult
}

// ChannelResult is the result of a test message.
type ChannelResult struct {
	Channel string `json:"channel"`
	Result  string `json:"result"` // sent | failed | not_sent; the last for a dry run
	Reason  string `json:"reason,omitempty" was:"why"`
	TookMS  int64  `json:"took_ms"`
}

// ChannelRequest is which channels to test.
type ChannelRequest struct {
	Channel string `json:"channel,omitempty"` // the only channel to test
	DryRun  bool   `json:"dry_run,omitempty"`
}

// ChannelAnswer is the results of a test.
type ChannelAnswer struct {
	Schema  int             `json:"schema"`
	DryRun  bool            `json:"dry_run"`
	Effects []string        `json:"effects" was:"does"`
	Items   []ChannelResult `json:"items"`
}

func (m *maintenance) testChannels(r *request, body *ChannelRequest) (ChannelAnswer, error) {
	r.dryRun = r.dryRun || body.DryRun
	out := ChannelAnswer{Schema: 1, DryRun: r.dryRun, Items: []ChannelResult{}}
	names, err := m.channels(body.Channel)
	if err != nil {
		return out, err
	}
	what := "a test message through " + strings.Join(names, ", ")
	out.Effects = []string{"send " + what}
	if r.dryRun {
		for _, name := range names {
			out.Items = append(out.Items, ChannelResult{Channel: name, Result: "not_sent"})
		}
		return out, nil
	}
	if !m.testing.TryLock() {
		return out, notPossible("another test is running: a service has not answered yet")
	}
	defer m.testing.Unlock()
	if err := m.controls.record(r, "notifications", what); err != nil {
		return out, err
	}
	out.Items = m.config.Channels.Test(r.Context(), names)
	return out, nil
}

// channels returns the names of the channels to test.
func (m *maintenance) channels(only string) ([]string, error) {
	var names []string
	if m.config.Channels != nil {
		names = m.config.Channels.Names()
	}
	switch {
	case len(names) == 0:
		return nil, notPossible("nobody is notified: there is no channel in notify.channels of botd.yaml")
	case only == "":
		return names, nil
	case slices.Contains(names, only):
		return []string{only}, nil
	}
	return nil, notPossible(fmt.Sprintf("there is no channel %q (there are: %s)", only, strings.Join(names, ", ")))
}
