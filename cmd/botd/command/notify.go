package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/configs"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/notify"
	"botd/runtime/ops"
)

// routes opens the channels of a configuration. The error tells of each that can not be.
func routes(config *configs.Config) (all []notify.Route, err error) {
	var wrong []error
	for i := range config.Notify.Channels {
		c := &config.Notify.Channels[i]
		sender, err := openChannel(config, c)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		all = append(all, notify.Route{Name: c.Name, Sender: sender, Least: notify.Severity(slices.Index(notify.Severities, c.Least)), Also: c.Also, Never: c.Never})
	}
	if len(wrong) > 0 {
		return nil, fail(exitCode(wrong[0]), errors.Join(wrong...))
	}
	return all, nil
}

func openChannel(config *configs.Config, c *configs.ChannelConfig) (notify.Sender, error) {
	address, err := configs.ReadAddress(c, config.Exchange.CredentialsDirectory)
	if err != nil {
		return nil, fail(exitCredentials, err)
	}
	sender, err := notify.Open(address)
	if err != nil {
		return nil, failure(exitConfig, "", "notify.channels.%s: %w", c.Name, err)
	}
	return sender, nil
}

// title begins each message: which botd tells.
func title(config *configs.Config) string {
	return fmt.Sprintf("botd %s (%s)", config.Instance, config.Mode)
}

// startNotices tells people what the log tells, until stop is called; stop sends
// what is left, within seconds.
func startNotices(config *configs.Config, metrics *ops.Metrics, logs *ops.Logs, console *ops.Console, driver *runtime.Driver, machine *engine.Engine) (stop func(), err error) {
	open, err := routes(config)
	if err != nil || len(open) == 0 {
		return func() {}, err
	}
	for i := range open {
		for _, result := range notify.Results {
			metrics.Notified(open[i].Name, result, 0)
		}
	}
	notifier := notify.New(notify.Config{Title: title(config), Every: time.Duration(config.Notify.EveryMS) * time.Millisecond, Routes: open,
		Count: metrics.Notified, Log: func(event, text string) { console.Warn(event, "notify    %s", text) }})
	var tally notify.Tally
	logs.Offer(func(l ops.LogLine) {
		e := eventOf(&l)
		tally.Take(&e)
		notifier.Notify(e)
	})
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { notifier.Run(ctx) })
	if config.Notify.Daily != configs.Never {
		all.Go(func() {
			notify.Daily(ctx, config.Notify.Daily, func() {
				var status engine.Status
				if driver.Query(ctx, func() { status = machine.Status() }) == nil {
					notifier.Tell(notify.Event{At: time.Now(), Name: "daemon.summary", Text: tally.Summary(&status)})
				}
			})
		})
	}
	return func() { cancel(); all.Wait() }, nil
}

// eventOf is a line of the log as an event.
func eventOf(l *ops.LogLine) notify.Event {
	e := notify.Event{Name: l.Event, Text: l.Message}
	e.At, _ = time.Parse(time.RFC3339Nano, l.Time)
	switch l.Level {
	case "warn":
		e.Severity = notify.Warning
	case "error", "fatal", "panic":
		e.Severity = notify.Error
	}
	return e
}

func newNotify() *cobra.Command {
	command := &cobra.Command{Use: "notify", Short: "what botd tells people, and where", Args: unknownCommand,
		Long: `Tells people what matters, by the services they read: Telegram, Discord, Slack,
e-mail, ntfy, Matrix, a webhook and others. In botd.yaml:

  notify:
    every: 1m                              # at most one message a channel a minute, after the first few
    daily: 06:00                           # a summary, UTC; or off
    channels:
      phone: {url_file: /etc/botd/phone}   # a file of mode 600 with the service's address
      desk:  {url_file: /etc/botd/desk, least: warning, also: [order.fill], never: ["risk.*"]}

The file holds one line, an address of shoutrrr: telegram://TOKEN@telegram?chats=NUMBER,
discord://TOKEN@ID, slack://hook:A-B-C@webhook, ntfy://ntfy.sh/TOPIC,
smtp://USER:PASSWORD@HOST:587/?from=A&to=B, generic+https://HOST/PATH?template=json.
Under systemd it may be a credential instead: LoadCredential=BOTD_NOTIFY_PHONE:/etc/botd/phone.

A channel takes the lines of the log from its severity on (least: info, warning or
error; error without it) and the events it names (also; without it daemon.*,
trading.armed, order.uncertain and config.rejected). What comes close together is
one message. Trading never waits for a message: what fails is tried again, told
with the next one, and counted in botd_notifications_total.`,
		Example: "  botd notify list -c configs\n  botd notify test -c configs",
		RunE:    func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(newNotifyList(), newNotifyTest())
	return command
}

// toldChannel is what botd notify test did with one channel.
type toldChannel struct {
	Channel string `json:"channel"`
	Result  string `json:"result"` // sent, failed
	Why     string `json:"why,omitempty"`
	TookMS  int64  `json:"took_ms"`
}

func newNotifyTest() *cobra.Command {
	var directory, channel, output string
	command := &cobra.Command{
		Use: "test", Short: "send a test message to every channel, or to one", Args: cobra.NoArgs,
		Long:    "Sends a test message through each channel of botd.yaml, now and without a running\nbotd, and says what became of it. It ends with 1 when any of them failed.",
		Example: "  botd notify test -c configs\n  botd notify test -c configs --channel phone -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			config, problems, err := load(directory, "")
			if err == nil && problems.Errors() > 0 {
				err = failure(exitConfig, "botd check shows all of it", "%s", problems.String())
			}
			if err != nil {
				return err
			}
			open, err := routes(config)
			if err != nil {
				return err
			}
			open = slices.DeleteFunc(open, func(r notify.Route) bool { return channel != "" && r.Name != channel })
			if len(open) == 0 && channel == "" {
				return failure(exitConfig, "botd notify --help shows how to write one", "there is no channel in notify.channels of botd.yaml")
			}
			if len(open) == 0 {
				return failure(exitConfig, "botd notify --help shows how to write one", "there is no channel %s in notify.channels of botd.yaml", channel)
			}
			return testChannels(command, config, open, output)
		},
	}
	command.Flags().StringVarP(&directory, "config", "c", "", "configuration directory (default ./configs, else the built-in examples)")
	command.Flags().StringVar(&channel, "channel", "", "only this one")
	outputFlag(command, &output)
	return command
}

// testWithin bounds one test message.
const testWithin = 20 * time.Second

func testChannels(command *cobra.Command, config *configs.Config, open []notify.Route, output string) error {
	host, _ := os.Hostname() // the message does without it
	text := fmt.Sprintf("%s\ntest message from %s at %s: this channel works", title(config), host, time.Now().UTC().Format(time.DateTime+" UTC"))
	var all []toldChannel
	failed := 0
	for i := range open {
		fmt.Fprintf(command.ErrOrStderr(), "sending to %s\n", open[i].Name)
		began, done := time.Now(), make(chan error, 1)
		go func() { done <- open[i].Sender.Send(text) }()
		var err error
		select {
		case err = <-done:
		case <-time.After(testWithin):
			err = fmt.Errorf("no answer within %s", testWithin)
		case <-command.Context().Done():
			return context.Cause(command.Context())
		}
		result := toldChannel{Channel: open[i].Name, Result: notify.Sent, TookMS: time.Since(began).Milliseconds()}
		if err != nil {
			failed++
			result.Result, result.Why = notify.Failed, err.Error()
		}
		all = append(all, result)
	}
	err := print(command.OutOrStdout(), output, map[string]any{"schema": 1, "items": all}, func(w io.Writer) {
		t := grid(w, table.Row{"channel", "result", "took", "why"})
		for _, r := range all {
			t.AppendRow(table.Row{r.Channel, r.Result, fmt.Sprintf("%d ms", r.TookMS), r.Why})
		}
		t.Render()
	})
	if err == nil && failed > 0 {
		err = failure(exitNegative, "the address stands in the channel's url_file", "%d of %d channels failed", failed, len(all))
	}
	return err
}
