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

// WritePage writes the page: the sentence, what was checked, the settings near the given ones, what was guessed, and the report
// beside it.
func (o *Outcome) WritePage(w io.Writer) error { return page.Execute(w, o) }

// settings writes a trial's parameters.
func settings(t backtest.Trial) string {
	var all []string
	for name, value := range t.Params {
		all = append(all, name+" "+value)
	}
	sort.Strings(all)
	return strings.Join(all, ", ")
}

// profit is a trial's, nil where it has none.
func profit(t backtest.Trial) *float64 {
	if t.Seen == nil {
		return nil
	}
	return t.Seen.Profit
}
