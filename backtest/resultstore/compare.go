package resultstore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"botd/backtest"
)

// Comparison shows the common and the different parts of several reports.
type Comparison struct {
	Schema     int        `json:"schema"`
	Runs       []*Run     `json:"runs"`
	SameData   bool       `json:"same_data"`
	SameConfig bool       `json:"same_config"`
	Config     [][]string `json:"config"`      // for each run, the lines of its strategies that some other run lacks
	Assumed    [][]string `json:"assumptions"` // for each run, the assumptions that some other run lacks
	FirstFill  string     `json:"first_fill_that_differs"`
}

func (c *Comparison) Compare() {
	var config, assumed [][]string
	for _, run := range c.Runs {
		c.SameData = c.SameData && run.DataSHA256 == c.Runs[0].DataSHA256
		c.SameConfig = c.SameConfig && run.ConfigSHA256 == c.Runs[0].ConfigSHA256
		lines := []string{}
		if run.Result.Inputs != nil {
			for _, input := range run.Result.Inputs.Strategies {
				lines = append(lines, strings.Split(strings.TrimSpace(input.YAML), "\n")...)
			}
		}
		config, assumed = append(config, lines), append(assumed, run.Result.Assumptions)
	}
	c.Config, c.Assumed = apart(config), apart(assumed)
	c.FirstFill = firstFill(c.Runs[0].Result, c.Runs[1].Result)
}

// apart returns for each list the items that some other list lacks.
func apart(lists [][]string) [][]string {
	own := make([][]string, len(lists))
	for i, list := range lists {
		own[i] = []string{}
		for _, line := range list {
			if slices.ContainsFunc(lists, func(other []string) bool { return !slices.Contains(other, line) }) {
				own[i] = append(own[i], line)
			}
		}
	}
	return own
}

// firstFill describes the first fill in which two results differ.
func firstFill(a, b *backtest.Result) string {
	for i := range max(len(a.Executions), len(b.Executions)) {
		one, other := fillText(a, i), fillText(b, i)
		if one != other {
			return fmt.Sprintf("fill %d: %s; %s", i+1, one, other)
		}
	}
	return ""
}

func fillText(r *backtest.Result, i int) string {
	if i >= len(r.Executions) {
		return "none"
	}
	e := &r.Executions[i]
	return fmt.Sprintf("%s %s %s %s at %s", time.UnixMilli(e.TimeMS).UTC().Format("2006-01-02 15:04"), e.Symbol, e.Side, e.Quantity, e.Price)
}
