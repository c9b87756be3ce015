package simulation

import (
	"fmt"
	"strconv"
	"strings"
)

// Report is a summary in its printed form.
type Report struct {
	Runs           int            `json:"runs"`
	Failed         int            `json:"failed"`
	ElapsedSeconds float64        `json:"elapsed_seconds"`
	RunsASecond    float64        `json:"runs_per_second"`
	VirtualHours   float64        `json:"virtual_hours"`
	Events         int64          `json:"events"`
	Requests       int64          `json:"requests"`
	Starts         int64          `json:"starts"`
	Points         int64          `json:"points"`
	CrashPoints    int64          `json:"crash_points_tried"`
	Uncertain      int64          `json:"unknowns"`
	UncertainP50   int            `json:"unknown_p50_seconds"`
	UncertainP99   int            `json:"unknown_p99_seconds"`
	Unprotected    int64          `json:"unprotected"`
	UnprotectedP50 int            `json:"unprotected_p50_seconds"`
	UnprotectedP99 int            `json:"unprotected_p99_seconds"`
	Quarantined    int64          `json:"quarantined_at_the_end"`
	Faults         []FaultCount   `json:"faults"`
	Rules          map[string]int `json:"broken_rules"`
	Failures       []Failure      `json:"failures"`
	Classes        []ClassSummary `json:"classes,omitempty"` // beyond the bounds
}

// FaultCount counts the injections of a fault.
type FaultCount struct {
	Name  string  `json:"name"`
	Count int64   `json:"count"`
	ARun  float64 `json:"per_run"`
}

// ReportOf returns the report of a summary.
func ReportOf(s *Summary) Report {
	r := Report{
		Runs: s.Runs, Failed: s.Failed, ElapsedSeconds: s.Elapsed.Seconds(), RunsASecond: s.Rate(), VirtualHours: float64(s.Stats.VirtualMS) / 3_600_000,
		Events: s.Stats.Events, Requests: s.Stats.Requests, Starts: s.Stats.Starts, Points: s.Points, CrashPoints: s.Crashed, Uncertain: s.Stats.Uncertain,
		UncertainP50: quantile(&s.Stats.UncertainFor, 0.5), UncertainP99: quantile(&s.Stats.UncertainFor, 0.99),
		UnprotectedP50: quantile(&s.Stats.Unprotected, 0.5), UnprotectedP99: quantile(&s.Stats.Unprotected, 0.99),
		Quarantined: s.Stats.Quarantined, Rules: s.Rules, Failures: s.Failures, Classes: s.Classes,
	}
	for _, n := range s.Stats.Unprotected {
		r.Unprotected += int64(n)
	}
	for f := range FaultEnd {
		r.Faults = append(r.Faults, FaultCount{f.String(), s.Stats.Faults[f], float64(s.Stats.Faults[f]) / float64(max(s.Runs, 1))})
	}
	return r
}

// ParseWeather parses NAME=STRENGTH pairs. It returns nil for no pairs, so that each seed draws its own weather.
func ParseWeather(pairs []string) (*Weather, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	var weather Weather
	for _, pair := range pairs {
		name, text, found := strings.Cut(pair, "=")
		if !found {
			return nil, fmt.Errorf("fault %q is not NAME=STRENGTH", pair)
		}
		fault, err := parseFault(name)
		if err != nil {
			return nil, err
		}
		strength, err := strconv.ParseFloat(text, 64)
		if err != nil || !(strength >= 0 && strength <= fault.most()) {
			return nil, fmt.Errorf("strength %q of %s is not 0 to %v", text, name, fault.most())
		}
		weather[fault] = strength
	}
	return &weather, nil
}
