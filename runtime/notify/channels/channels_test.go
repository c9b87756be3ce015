package channels

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/notify"
)

// hook is a messaging service of the generic kind, and the messages that it received.
type hook struct {
	*httptest.Server
	mutex sync.Mutex // guards got
	got   []string
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		h.mutex.Lock()
		defer h.mutex.Unlock()
		h.got = append(h.got, r.URL.Path+" "+string(text))
	}))
	t.Cleanup(h.Close)
	return h
}

// address writes an address of the hook into a file of the mode, and returns its path.
func (h *hook) address(t *testing.T, path string, mode os.FileMode) string {
	t.Helper()
	return file(t, "generic://"+strings.TrimPrefix(h.URL, "http://")+path+"?disabletls=yes&template=json", mode)
}

func file(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "address")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func configured(channels ...configs.ChannelConfig) *configs.Config {
	return &configs.Config{Instance: "night", Mode: configs.Paper, Notify: configs.NotifyConfig{Channels: channels}}
}

func TestARouteHasWhatItsChannelConfigures(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	config := configured(
		configs.ChannelConfig{Name: "all", AddressFile: h.address(t, "/all", 0o600), MinSeverity: "info", Also: []string{"daemon.*"},
			QuietFrom: 60, QuietUntil: 120},
		configs.ChannelConfig{Name: "few", AddressFile: h.address(t, "/few", 0o600), MinSeverity: "error", Never: []string{"trade.*"}},
		configs.ChannelConfig{Name: "some", AddressFile: h.address(t, "/some", 0o600), MinSeverity: "warning"})
	routes, err := Routes(config)
	if err != nil || len(routes) != 3 {
		t.Fatalf("want three routes, have %+v, %v", routes, err)
	}
	for i, want := range []notify.Route{
		{Name: "all", MinSeverity: notify.Info, Also: []string{"daemon.*"}, Quiet: notify.Quiet{From: 60, Until: 120}},
		{Name: "few", MinSeverity: notify.Error, Never: []string{"trade.*"}},
		{Name: "some", MinSeverity: notify.Warning},
	} {
		have := routes[i]
		if have.Sender == nil {
			t.Errorf("%s: want a sender", want.Name)
		}
		if have.Sender = nil; !reflect.DeepEqual(have, want) {
			t.Errorf("want %+v, have %+v", want, have)
		}
	}
}

// TestChannelsThatCannotBeOpened covers one good channel between those; the exit code is that of the first error.
func TestChannelsThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	loose := configs.ChannelConfig{Name: "loose", AddressFile: h.address(t, "/canary", 0o644), MinSeverity: "info"}
	missing := configs.ChannelConfig{Name: "missing", MinSeverity: "info"}
	good := configs.ChannelConfig{Name: "good", AddressFile: h.address(t, "/good", 0o600), MinSeverity: "info"}
	wrong := configs.ChannelConfig{Name: "wrong", AddressFile: file(t, "nonsense://canary", 0o600), MinSeverity: "info"}
	for _, c := range []struct {
		name     string
		channels []configs.ChannelConfig
		code     int
		words    []string
	}{
		{"a file that others can read", []configs.ChannelConfig{good, loose}, 77, []string{"notify.channels.loose.url_file", "600"}},
		{"neither a file nor a credential", []configs.ChannelConfig{missing, good}, 77, []string{"notify.channels.missing.url_file", "BOTD_NOTIFY_MISSING"}},
		{"no service", []configs.ChannelConfig{wrong, good}, 78, []string{"notify.channels.wrong: ", "begins with one of"}},
		{"two, of which the first decides", []configs.ChannelConfig{wrong, good, loose}, 78,
			[]string{"notify.channels.wrong: ", "notify.channels.loose.url_file"}},
		{"two, the other way round", []configs.ChannelConfig{loose, wrong}, 77, []string{"notify.channels.wrong: ", "notify.channels.loose.url_file"}},
	} {
		routes, err := Routes(configured(c.channels...))
		if err == nil || failure.CodeOf(err) != c.code || len(routes) != len(c.channels) {
			t.Errorf("%s: want exit code %d and a route each, have %v, %+v", c.name, c.code, err, routes)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: want %q, have %q", c.name, word, err)
			}
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: want no part of the address, have %q", c.name, err)
		}
		for i := range routes {
			if opened := routes[i].Sender != nil; opened != (routes[i].Name == "good") {
				t.Errorf("%s: %s: want the good channel opened alone, have %t", c.name, routes[i].Name, opened)
			}
		}
	}
}

// TestAnAddressCanBeACredential puts it into systemd's directory under the channel's name in capitals.
func TestAnAddressCanBeACredential(t *testing.T) {
	t.Parallel()
	h, config := newHook(t), configured(configs.ChannelConfig{Name: "phone", MinSeverity: "info"})
	config.Exchange.CredentialsDirectory = t.TempDir()
	text, err := os.ReadFile(h.address(t, "/phone", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config.Exchange.CredentialsDirectory, "BOTD_NOTIFY_PHONE"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if routes, err := Routes(config); err != nil || routes[0].Sender.Send("subject", "text") != nil || len(h.got) != 1 {
		t.Errorf("want a message at the address of the credential, have %+v, %v, %q", routes, err, h.got)
	}
}

func TestATestMessageGoesThroughTheNamedChannels(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	all := &Channels{configured(
		configs.ChannelConfig{Name: "one", AddressFile: h.address(t, "/one", 0o600), MinSeverity: "info"},
		configs.ChannelConfig{Name: "two", AddressFile: h.address(t, "/two", 0o600), MinSeverity: "error"},
		configs.ChannelConfig{Name: "gone", AddressFile: "missing", MinSeverity: "error"})}
	if want := []string{"one", "two", "gone"}; !slices.Equal(all.Names(), want) {
		t.Errorf("want %q, have %q", want, all.Names())
	}
	results := all.Test(t.Context(), []string{"gone", "two"})
	if len(results) != 2 || results[0].Channel != "two" || results[0].Result != "sent" || results[0].Reason != "" {
		t.Errorf("want two sent, have %+v", results)
	}
	if r := results[1]; r.Channel != "gone" || r.Result != "failed" || !strings.Contains(r.Reason, "notify.channels.gone.url_file") {
		t.Errorf("want the reason for gone, have %+v", r)
	}
	if len(h.got) != 1 || !strings.HasPrefix(h.got[0], "/two ") || !strings.Contains(h.got[0], `"title":"botd night (paper): test message"`) ||
		!strings.Contains(h.got[0], `test message from `) || !strings.Contains(h.got[0], "this channel works") {
		t.Errorf("want one test message that names the botd, have %q", h.got)
	}
	if none := all.Test(t.Context(), nil); len(none) != 0 || len(h.got) != 1 {
		t.Errorf("want nothing sent through no channel, have %+v, %q", none, h.got)
	}
}

// slow is a service that answers after a time, or when the test ends.
type slow struct {
	after time.Duration
	err   error
	end   <-chan struct{}
}

func (s slow) Send(string, string) error {
	select {
	case <-time.After(s.after):
	case <-s.end:
	}
	return s.err
}

// TestATestMessageWaits runs on virtual time: a service has 20 seconds, all at once.
func TestATestMessageWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		defer close(end)
		open := []Channel{
			{Route: notify.Route{Name: "quick", Sender: slow{3 * time.Second, nil, end}}},
			{Route: notify.Route{Name: "refused", Sender: slow{5 * time.Second, errors.New("no such chat"), end}}},
			{Route: notify.Route{Name: "just", Sender: slow{19999 * time.Millisecond, nil, end}}},
			{Route: notify.Route{Name: "hung", Sender: slow{time.Hour, nil, end}}},
			{Route: notify.Route{Name: "hung too", Sender: slow{time.Hour, nil, end}}},
		}
		want := []api.ChannelResult{
			{Channel: "quick", Result: "sent", TookMS: 3000},
			{Channel: "refused", Result: "failed", Reason: "no such chat", TookMS: 5000},
			{Channel: "just", Result: "sent", TookMS: 19999},
			{Channel: "hung", Result: "failed", Reason: "no answer within 20s", TookMS: 20000},
			{Channel: "hung too", Result: "failed", Reason: "no answer within 20s", TookMS: 20000},
		}
		began := time.Now()
		if have := Test(t.Context(), configured(), open); !slices.Equal(have, want) || time.Since(began) != 20*time.Second {
			t.Errorf("want 20s and %+v, have %s and %+v", want, time.Since(began), have)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 7*time.Second, fmt.Errorf("botd shuts down"))
		defer cancel()
		ended := Test(ctx, configured(), open[3:4])
		if want := (api.ChannelResult{Channel: "hung", Result: "failed", Reason: "botd shuts down", TookMS: 7000}); ended[0] != want {
			t.Errorf("want %+v, have %+v", want, ended)
		}
	})
}
