package cli

import (
	"context"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/runtime/engine"
	"botd/runtime/notify"
	"botd/runtime/notify/channels"
	"botd/runtime/ops"
)

// startNotices tells people what the log tells, until stop is called; stop sends
// what is left, within seconds.
func (p *process) startNotices() (stop func(), err error) {
	open, err := channels.Routes(p.config)
	if err != nil || len(open) == 0 {
		return func() {}, err
	}
	for i := range open {
		for _, result := range notify.Results {
			p.metrics.Notified(open[i].Name, result, 0)
		}
	}
	notifier := notify.New(notify.Config{Title: channels.Title(p.config), Every: time.Duration(p.config.Notify.EveryMS) * time.Millisecond, Routes: open,
		Count: p.metrics.Notified, Log: func(event, text string) { p.console.Warn(event, "notify    %s", text) }})
	var tally notify.Tally
	p.logs.Offer(func(l ops.LogLine) {
		e := eventOf(&l)
		tally.Take(&e)
		notifier.Notify(e)
	})
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { notifier.Run(ctx) })
	if p.config.Notify.Daily != configs.Never {
		all.Go(func() {
			notify.Daily(ctx, p.config.Notify.Daily, func() {
				var status engine.Status
				if p.driver.Query(ctx, func() { status = p.machine.Status() }) == nil {
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
	command := &cobra.Command{Use: "notify", Short: "what botd tells people, and where", Args: shell.UnknownCommand,
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
