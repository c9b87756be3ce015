package daemon

import (
	"net"

	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/api"
)

// metricsAddress is the separate address of the metrics.
type metricsAddress struct {
	listener net.Listener // nil for none
	token    string
}

func (m *metricsAddress) close() error {
	if m.listener == nil {
		return nil
	}
	return m.listener.Close()
}

// listenMetrics listens at the address of the metrics, if one is configured.
func (p *process) listenMetrics(access api.Access) (m metricsAddress, err error) {
	if p.config.Metrics.Listen == "" {
		return m, nil
	}
	if m.token, err = configs.ReadMetricsToken(&p.config.Metrics, p.config.Exchange.CredentialsDirectory); err != nil {
		return m, failure.Wrap(failure.Credentials, err)
	}
	if m.listener, err = api.Listen(p.config.Metrics.Listen, access); err != nil {
		return m, failure.Wrap(failure.Unavailable, err)
	}
	p.console.Say("daemon.metrics", "metrics   all of them on %s, for their token", m.listener.Addr())
	return m, nil
}
