package cli

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"botd/configs"
	"botd/internal/failure"
	"botd/runtime"
	"botd/runtime/api"
	"botd/runtime/ops"
	"botd/runtime/signals"
)

// startSignals takes signals from outside until stop is called.
func startSignals(config *configs.Config, current func() *configs.Config, metrics *ops.Metrics, console *ops.Console, driver *runtime.Driver) (stop func() error, err error) {
	nothing := func() error { return nil }
	if config.Signals.Listen == "" {
		return nothing, nil
	}
	token, err := configs.ReadSignalToken(&config.Signals, config.Exchange.CredentialsDirectory)
	if err != nil {
		return nothing, failure.Wrap(failure.Credentials, err)
	}
	for _, result := range signals.Results {
		metrics.Signalled(result, 0)
	}
	server, err := signals.New(signals.Config{Token: token, Driver: driver, Count: func(result string) { metrics.Signalled(result, 1) },
		Symbol: func(name string) string {
			if s := current().Strategy(name); s != nil {
				return s.Symbol
			}
			return ""
		}})
	if err != nil {
		return nothing, failure.Wrap(failure.Credentials, err)
	}
	listener, err := api.Listen(config.Signals.Listen, api.Access{BehindProxy: config.Signals.BehindProxy})
	if err != nil {
		return nothing, failure.Wrap(failure.Unavailable, err)
	}
	console.Say("daemon.signals", "signals   http://%s%s", listener.Addr(), signals.Path)
	ctx, cancel := context.WithCancel(context.Background())
	group := &errgroup.Group{}
	group.Go(func() error { return server.Serve(ctx, listener) })
	return func() error { cancel(); return errors.Join(group.Wait()) }, nil
}
