package api

import (
	"context"
	"errors"
	"sync"

	"botd/reconcile/record"
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var configRoutes = []route{
	{id: "config", tag: "state", method: "GET", path: "/api/v1/config", minimum: auth.Viewer, endpoint: read(of(maintenanceOf, (*maintenance).configuration)),
		summary: "The configuration in force, without secrets, and where each value comes from."},
	{id: "reload", tag: "state", method: "POST", path: "/api/v1/config/reload", minimum: auth.Operator,
		endpoint: change(by(maintenanceOf, (*maintenance).reload)),
		summary: "Reads the configuration again and applies all of its changes or none, as SIGHUP does. " +
			"A dry run returns the changes, or the errors.", fails: []int{409}},
}

// Configuration is the configuration in force, and where each value comes from.
type Configuration struct {
	Schema    int       `json:"schema"`
	Directory string    `json:"directory"`
	Files     []string  `json:"files"`
	Hash      string    `json:"hash"`
	YAML      string    `json:"yaml"` // the effective configuration, without secrets
	Settings  []Setting `json:"settings"`
}

// Setting is one value of the configuration.
type Setting struct {
	Key    string `json:"key"` // the path of a value, such as risk.max_leverage or strategies.trend.params.fast
	Value  string `json:"value"`
	Origin string `json:"origin"` // where the value comes from: file:line, default, or command line
}

// maintenance serves the daemon itself: its configuration, journal, log and channels.
type maintenance struct {
	config   *Config
	controls controls
	copying  sync.Mutex // held while a backup is made
	testing  sync.Mutex // held while channels are tested
}

func maintenanceOf(s *Server) *maintenance { return &s.maintenance }

func (m *maintenance) configuration(*request) (Configuration, error) {
	out := m.config.Configuration()
	out.Schema = 1
	out.Files, out.Settings = view.OrEmpty(out.Files), view.OrEmpty(out.Settings)
	return out, nil
}

// Reload reads the configuration again and applies its changes, all or none, as a SIGHUP does; a
// dry run only lists them. It journals the sender. Its error is a Refused when the configuration
// itself prevents the reload.
type Reload func(ctx context.Context, dryRun bool, audit *record.Audit) (does []string, err error)

// Refused gives the reason that a configuration is not applied.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

func (m *maintenance) reload(r *request, _ *nothing) (Change, error) {
	if m.config.Reload == nil {
		return Change{}, notPossible("this botd does not reload files")
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineTimeout)
	defer cancel()
	does, err := m.config.Reload(ctx, r.dryRun, r.audit("configuration", ""))
	if refused, ok := errors.AsType[*Refused](err); ok {
		return Change{}, notPossible("none of it is applied, the previous configuration stays in force: " + refused.Reason)
	}
	return Change{1, r.dryRun, does}, notTaken(err)
}
