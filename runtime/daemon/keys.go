package daemon

import (
	"context"
	"time"

	"botd/runtime/engine"
)

// keysEvery is how often the files of key and secret are compared with the credentials in use.
const keysEvery = 5 * time.Second

// watchKeys switches to a new key when its files change, until the context ends: without a restart, and without
// leaving a stop unattended. A refused key is logged once, and tried again.
func (p *process) watchKeys(ctx context.Context) {
	poll := time.NewTicker(keysEvery)
	defer poll.Stop()
	refused := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
		changed, err := p.venue.Rotate(ctx, p.config, p.directory, func() (*engine.Status, error) {
			var status engine.Status
			err := p.driver.Query(ctx, func() { status = p.machine.Status() })
			return &status, err
		})
		switch {
		case err == nil:
			refused = ""
			if changed {
				p.console.Warn("exchange.key_rotated", "key       requests are signed with the key now in its files")
			}
		case err.Error() != refused && ctx.Err() == nil:
			p.console.Warn("exchange.key_refused", "key       the files of key or secret have changed, but are not used: %v", err)
			refused = err.Error()
		}
	}
}
