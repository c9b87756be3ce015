package daemon

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/signals"
	"botd/strategy"
)

// startSignals takes signals from outside until stop is called.
func (p *process) startSignals() (stop func() error, err error) {
	nothing := func() error { return nil }
	if p.config.Signals.Listen == "" {
		return nothing, nil
	}
	token, err := configs.ReadSignalToken(&p.config.Signals, p.config.Exchange.CredentialsDirectory)
	if err != nil {
		return nothing, failure.Wrap(failure.Credentials, err)
	}
	for _, result := range signals.Results {
		p.metrics.Signaled(result, 0)
	}
	server, err := signals.New(signals.Config{Token: token, Driver: p.driver, Receive: p.workers.Receive,
		Count:  func(result string) { p.metrics.Signaled(result, 1) },
		Record: func(name string, s *strategy.Signal) { p.recording.signal(p.venue.Client.ServerNowMS(), name, s) },
		Symbol: func(name string) string {
			if s := p.reloads.Current.Load().Strategy(name); s != nil {
				return s.Symbol
			}
			return ""
		}})
	if err != nil {
		return nothing, failure.Wrap(failure.Credentials, err)
	}
	listener, err := p.accept(p.config.Signals.Listen, api.Access{BehindProxy: p.config.Signals.BehindProxy})
	if err != nil {
		return nothing, failure.Wrap(failure.Unavailable, err)
	}
	p.console.Say("daemon.signals", "signals   http://%s%s", listener.Addr(), signals.Path)
	ctx, cancel := context.WithCancel(context.Background())
	group := &errgroup.Group{}
	group.Go(func() error { return server.Serve(ctx, listener) })
	return func() error { cancel(); return errors.Join(group.Wait()) }, nil
}
