package tryout

import (
	_ "embed"
	"html/template"
	"io"
	"sort"
	"strings"

	"botd/backtest"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"settings": settings, "profit": profit}).Parse(pageText))

// WritePage writes the page: the verdict, the checks, the settings near the given ones, the guesses, and the
// embedded report.
func (o *Outcome) WritePage(w io.Writer) error { return page.Execute(w, o) }

// settings formats a trial's parameters.
func settings(t backtest.Trial) string {
	var all []string
	for name, value := range t.Params {
		all = append(all, name+" "+value)
	}
	sort.Strings(all)
	return strings.Join(all, ", ")
}

// profit returns a trial's profit, or nil without one.
func profit(t backtest.Trial) *float64 {
	if t.Seen == nil {
		return nil
	}
	return t.Seen.Profit
}
