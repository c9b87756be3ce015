package api

import (
	"context"
	"errors"
	"net/http"

	"botd/reconcile/record"
	"botd/runtime/view"
)

// Configuration is what holds, and where each value comes from.
type Configuration struct {
	Schema    int       `json:"schema"`
	Directory string    `json:"directory"`
	Files     []string  `json:"files"`
	Hash      string    `json:"hash"`
	YAML      string    `json:"yaml"` // effective, without any secret
	Settings  []Setting `json:"settings"`
}

// Setting is one value of the configuration.
type Setting struct {
	Key    string `json:"key"` // risk.max_leverage, strategies.trend.params.fast
	Value  string `json:"value"`
	Origin string `json:"origin"` // file:line, default, or command line
}

// configuration serves GET /api/v1/config.
func (s *Server) configuration(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	out := s.config.Configuration()
	out.Schema = 1
	out.Files, out.Settings = view.OrEmpty(out.Files), view.OrEmpty(out.Settings)
	answer(w, r, out)
}

// Reload reads the configuration anew and puts what changed in place, all of it or
// nothing, as a SIGHUP does; a trial only says what would change. It journals who asked.
// Its error is a Refused when the configuration is what keeps it from that.
type Reload func(ctx context.Context, trial bool, audit *record.Audit) (does []string, err error)

// Refused says why a configuration is not taken over.
type Refused struct{ Why string }

func (r *Refused) Error() string { return r.Why }

// reload serves POST /api/v1/config/reload.
func (s *Server) reload(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	if s.config.Reload == nil {
		problem(w, r, http.StatusConflict, "not_possible", "this botd reads no files anew")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	does, err := s.config.Reload(ctx, dry, audit(r, "configuration", ""))
	var refused *Refused
	if errors.As(err, &refused) {
		problem(w, r, http.StatusConflict, "not_possible", "nothing of it is taken over, what runs goes on: "+refused.Why)
		return
	}
	if s.taken(w, r, err) {
		answerAs(w, http.StatusOK, Change{1, dry, does})
	}
}
