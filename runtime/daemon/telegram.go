package daemon

import (
	"net/http"

	"botd/configs"
	"botd/internal/failure"
	"botd/internal/plural"
	"botd/runtime/api"
	"botd/runtime/ops"
	"botd/runtime/telegram"
)

// commands are the users who may send commands by Telegram, and the bot's token.
type commands struct {
	config *configs.TelegramConfig
	token  string
}

// readTelegram returns nil if no user may send commands.
func readTelegram(config *configs.Config) (*commands, error) {
	if !config.Telegram.On() {
		return nil, nil
	}
	token, err := configs.ReadTelegramToken(&config.Telegram, config.Exchange.CredentialsDirectory)
	if err != nil {
		return nil, failure.Wrap(failure.Credentials, err)
	}
	return &commands{&config.Telegram, token}, nil
}

// bot returns the bot that takes the commands once it runs.
func (c *commands) bot(server *api.Server, transport http.RoundTripper, metrics *ops.Metrics, console *ops.Console) *telegram.Bot {
	for _, result := range telegram.Results {
		metrics.Commanded(result, 0)
	}
	operators, viewers := c.config.Operators, c.config.Viewers
	console.Say("daemon.telegram", "telegram  commands of %s and questions of %s", plural.Of(len(operators), "operator"),
		plural.Of(len(viewers), "viewer"))
	return telegram.New(telegram.Config{Token: c.token, Server: c.config.Server, Operators: operators, Viewers: viewers, API: server, Transport: transport,
		Count: func(result string) { metrics.Commanded(result, 1) },
		Say:   func(event, text string) { console.Say(event, "telegram  %s", text) },
		Warn:  func(event, text string) { console.Warn(event, "telegram  %s", text) }})
}
