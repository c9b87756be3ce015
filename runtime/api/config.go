package api

import "net/http"

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
	out.Files, out.Settings = filled(out.Files), filled(out.Settings)
	answer(w, r, out)
}
