package configs

import "botd/risk"

// Report is the output of botd check -o json.
type Report struct {
	Schema     int             `json:"schema"`
	OK         bool            `json:"ok"`
	Files      []string        `json:"files"`
	Mode       string          `json:"mode,omitempty"`
	Strategies int             `json:"strategies"`
	Errors     int             `json:"errors"`
	Warnings   int             `json:"warnings"`
	Problems   Problems        `json:"problems"`
	Limits     []ReportedLimit `json:"limits"`   // effective limits: the account's, then the tighter ones of each strategy
	Requests   []RequestCost   `json:"requests"` // of each market; empty in a demo
	Edges      []ReportedEdge  `json:"edges"`    // of strategies whose parameters determine the profit of a round trip
}

func (r Report) Rows() any { return r.Problems }

// ReportedLimit is one effective limit.
type ReportedLimit struct {
	Scope string `json:"scope"` // account, or strategy NAME
	Rule  string `json:"rule"`
	Limit string `json:"limit"`
}

// ReportedEdge is the profit of a strategy's round trip after fees.
type ReportedEdge struct {
	Strategy string `json:"strategy"`
	Edge     string `json:"edge"`
}

func reportedLimits(config *Config) []ReportedLimit {
	all := []ReportedLimit{}
	add := func(scope string, limits []risk.Setting) {
		for _, l := range limits {
			all = append(all, ReportedLimit{scope, l.Name, l.Value})
		}
	}
	if config != nil {
		add("account", config.Limits.List())
		for i := range config.Strategies {
			add("strategy "+config.Strategies[i].Name, config.Strategies[i].Limits.List())
		}
	}
	return all
}

func NewReport(config *Config, problems Problems) Report {
	result := Report{Schema: 1, OK: problems.Errors() == 0, Errors: problems.Errors(), Warnings: problems.Warnings(),
		Problems: append(Problems{}, problems...), Files: []string{}, Requests: []RequestCost{}, Edges: []ReportedEdge{}}
	if config != nil {
		result.Files, result.Mode, result.Strategies = config.Files, string(config.Mode), len(config.Strategies)
		result.Requests = append(result.Requests, config.Requests()...)
		for i := range config.Strategies {
			if c := &config.Strategies[i]; c.edge != "" {
				result.Edges = append(result.Edges, ReportedEdge{c.Name, c.edge})
			}
		}
	}
	result.Limits = reportedLimits(config)
	return result
}
