package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Channels sends test messages through the channels by which people are told.
type Channels interface {
	Names() []string
	Test(ctx context.Context, names []string) []ToldChannel
}

// ToldChannel is what became of a test message.
type ToldChannel struct {
	Channel string `json:"channel"`
	Result  string `json:"result"` // sent, failed, not_sent: it was only tried
	Why     string `json:"why,omitempty"`
	TookMS  int64  `json:"took_ms"`
}

// ChannelRequest is what a test of the channels takes.
type ChannelRequest struct {
	Channel string `json:"channel,omitempty"` // only this one
	DryRun  bool   `json:"dry_run,omitempty"`
}

// ChannelAnswer is the answer.
type ChannelAnswer struct {
	Schema int           `json:"schema"`
	DryRun bool          `json:"dry_run"`
	Does   []string      `json:"does"`
	Items  []ToldChannel `json:"items"`
}

// testChannels serves POST /api/v1/notifications/test.
func (s *Server) testChannels(w http.ResponseWriter, r *http.Request) {
	var asked ChannelRequest
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	if err := optional(r, &asked); err != nil {
		problemOfBody(w, r, err)
		return
	}
	names, err := s.channels(asked.Channel)
	if err != nil {
		problem(w, r, http.StatusConflict, "not_possible", err.Error())
		return
	}
	out := ChannelAnswer{Schema: 1, DryRun: dry || asked.DryRun, Does: []string{"send a test message through " + strings.Join(names, ", ")}, Items: []ToldChannel{}}
	if out.DryRun {
		for _, name := range names {
			out.Items = append(out.Items, ToldChannel{Channel: name, Result: "not_sent"})
		}
		answerAs(w, http.StatusOK, out)
		return
	}
	if !s.telling.TryLock() {
		problem(w, r, http.StatusConflict, "not_possible", "a test is under way: a service has not answered yet")
		return
	}
	defer s.telling.Unlock()
	if s.sent(r.Context(), w, r, audited(r, "notifications", "a test message through "+strings.Join(names, ", "), nil)) {
		out.Items = s.config.Channels.Test(r.Context(), names)
		answerAs(w, http.StatusOK, out)
	}
}

// channels are the names asked for.
func (s *Server) channels(only string) ([]string, error) {
	var names []string
	if s.config.Channels != nil {
		names = s.config.Channels.Names()
	}
	if len(names) == 0 {
		return nil, errors.New("nobody is told: there is no channel in notify.channels of botd.yaml")
	}
	if only == "" {
		return names, nil
	}
	for _, name := range names {
		if name == only {
			return []string{name}, nil
		}
	}
	return nil, fmt.Errorf("there is no channel %q (there are: %s)", only, strings.Join(names, ", "))
}
