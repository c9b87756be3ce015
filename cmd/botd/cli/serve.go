package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"botd/backtest/runner"
	"botd/backtest/saved"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/api/auth"
	"botd/runtime/notify/channels"
	"botd/runtime/ops"
	"botd/runtime/view"
	"botd/runtime/web"
	"botd/strategy"
	"botd/strategy/library"
)

// serving is what the daemon's server is made of.
type serving struct {
	config    *configs.Config
	current   func() *configs.Config // as it was last reloaded
	directory string
	venue     *venue
	console   *ops.Console
	api       api.Config
}

// serve answers metrics, health and the API beside the engine: on the unix socket
// for the command line, and on TCP for the browser.
func serve(ctx context.Context, command *cobra.Command, s serving) (stop func() error, err error) {
	tokens, _, err := auth.ReadTokens(s.directory)
	if err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	if s.api.Keyring, err = auth.OpenKeyring(s.directory); err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	commands, err := readTelegram(s.config)
	if err != nil {
		return nil, err
	}
	equity, err := view.OpenEquity(filepath.Join(s.directory, "equity.csv"))
	if err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	a := s.config.Access
	s.api.Access = api.Access{Certificate: a.CertificateFile, Key: a.KeyFile, BehindProxy: a.BehindProxy, Hosts: a.Hosts}
	listeners, address, err := s.listen()
	if err != nil {
		return nil, errors.Join(err, equity.Close())
	}
	table := s.venue.client.Symbols()
	s.api.Equity, s.api.Tokens, s.api.Market, s.api.Symbols, s.api.Listed = equity, tokens, s.venue.client, table.Symbol, table.All
	s.api.Epoch = strconv.FormatInt(s.api.Engine.Epoch(), 36)
	s.api.Web, s.api.Reports = web.Handler(), filepath.Join(s.current().DataDir, "backtests")
	s.api.Sweeps = filepath.Join(s.current().DataDir, saved.SweepFolder)
	s.api.Runner = &runner.Runner{Current: s.current, Symbols: table.All, Recorded: filepath.Join(s.directory, tape.RecordedFolder)}
	s.api.Backups = &backups{directory: s.directory, prefix: fmt.Sprintf("%s-%s-", s.config.Mode, s.config.Instance)}
	s.api.Channels = &channels.Channels{Config: s.config}
	s.api.Configuration, s.api.StrategyConfig = configuration(s.current), strategyYAML(s.current)
	s.api.Plots = func(name string) []strategy.Plot {
		if c := s.current().Strategy(name); c != nil {
			return library.Plots(c.Kind, c.Params)
		}
		return nil
	}
	if address != "" && a.CertificateFile != "" {
		address = "https://" + address
	} else if address != "" {
		address = "http://" + address
	}
	s.api.Address = address
	server := api.New(s.api)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	group := &errgroup.Group{}
	group.Go(func() error { return server.Serve(running, listeners...) })
	group.Go(func() error {
		equity.Keep(running, s.api.Board, func(err error) { s.console.Warn("equity.unwritten", "equity    %v", err) })
		return nil
	})
	if commands != nil {
		bot := commands.bot(server, s.api.Metrics, s.console)
		group.Go(func() error { bot.Run(running); return nil })
	}
	if address != "" {
		s.console.Say("daemon.listening", "metrics   %s/metrics   health /healthz /readyz   dashboard /   API /api/v1", address)
		if shell.Terminal(command.ErrOrStderr()) { // a log file is no place for what logs somebody in
			fmt.Fprintf(command.ErrOrStderr(), "log in with this link, once, within ten minutes: %s%s\n", address, server.NewLink().Path)
		}
	}
	return func() error { cancel(); return errors.Join(group.Wait(), equity.Close()) }, nil
}

// listen takes the unix socket, and the TCP address unless it is off.
func (s *serving) listen() (listeners []net.Listener, address string, err error) {
	socket, err := api.ListenSocket(s.directory)
	if err != nil {
		// A path too long for a socket is no reason not to trade.
		s.console.Warn("daemon.socket", "socket    %v; the command line needs --listen", err)
	} else {
		listeners = append(listeners, socket)
	}
	if s.config.Listen == configs.ListenOff {
		return listeners, "", nil
	}
	tcp, err := api.Listen(s.config.Listen, s.api.Access)
	if err != nil {
		if socket != nil {
			err = errors.Join(err, socket.Close())
		}
		if errors.Is(err, api.ErrExposed) {
			return nil, "", failure.Wrap(failure.Config, err)
		}
		return nil, "", failure.Wrap(failure.Unavailable, err)
	}
	return append(listeners, tcp), tcp.Addr().String(), nil
}

// configuration tells what holds.
func configuration(current func() *configs.Config) func() api.Configuration {
	return func() api.Configuration {
		c := current()
		out := api.Configuration{Directory: c.Directory, Files: c.Files, Hash: c.Hash(), YAML: c.Effective()}
		settings, err := c.Settings()
		if err != nil {
			panic(err) // an effective configuration that is no YAML
		}
		for _, s := range settings {
			out.Settings = append(out.Settings, api.Setting{Key: s.Path, Value: s.Value, Origin: s.Origin})
		}
		return out
	}
}

// strategyYAML tells a strategy's effective configuration.
func strategyYAML(current func() *configs.Config) func(name string) string {
	return func(name string) string {
		if c := current().Strategy(name); c != nil {
			return c.Effective()
		}
		return ""
	}
}
