package offline

import (
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
)

// NewNotify returns the command botd notify.
func NewNotify() *cobra.Command {
	return shell.Group("notify", "notifications: their channels, and a test",
		`Sends notifications through the services that people read: Telegram, Discord, Slack, e-mail,
ntfy, Matrix, webhooks and others. In botd.yaml:

  notify:
    every: 1m                              # at most one message a channel a minute, after the first few
    daily: 06:00                           # a summary, UTC; or off
    channels:
      phone: {url_file: /etc/botd/phone}   # a file of mode 600 with the service's address
      desk:  {url_file: /etc/botd/desk, least: warning, also: [order.fill], never: ["risk.*"], quiet: 22:00-07:00}

The file holds one line, an address of shoutrrr: telegram://TOKEN@telegram?chats=NUMBER,
discord://TOKEN@ID, slack://hook:A-B-C@webhook, ntfy://ntfy.sh/TOPIC,
smtp://USER:PASSWORD@HOST:587/?from=A&to=B, generic+https://HOST/PATH?template=json.
Under systemd it may be a credential instead: LoadCredential=BOTD_NOTIFY_PHONE:/etc/botd/phone.

A channel receives the log lines of at least its severity (least: info, warning or error; the
default is error) and the events that it names (also; the default is daemon.*, incident.*,
trade.*, trading.armed, order.uncertain, config.rejected, exchange.key_* and strategy.notice). By
default, therefore, it receives each entry and exit with its result (as a digest if there are
more than 12 an hour), and each incident's opening, reminders and end. In its quiet hours (UTC) it receives errors only, and the
rest afterwards. Events close together form one message; a mail's subject names the
account, the most severe event and its scope. Trading never waits for a message: a failed one is
retried, sent with the next one, and counted in botd_notifications_total.`,
		"  botd notify list -c configs\n  botd notify test -c configs",
		newNotifyList(), newNotifyTest())
}
