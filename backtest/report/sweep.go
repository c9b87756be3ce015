package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"botd/backtest"
	"botd/backtest/resultstore"
)

// MaxTrialRows bounds the table of a sweep's page.
const MaxTrialRows = 100

// Limits of a sweep's page.
const (
	maxTrialWays = 300 // lines of the parallel coordinates: the best trials
	maxMaps      = 10  // heat maps
	maxSteps     = 12  // of an axis in a heat map; more values are merged
	neighbors    = 8   // of the best trial
)

// sweepPage is the input of a sweep's template.
type sweepPage struct {
	*resultstore.Sweep
	Clicks    bool   // a trial's row opens its report
	Headline  string // the verdict with a capital
	Names     []string
	Maps      []heatMap
	Ways      template.HTML
	Scatter   template.HTML
	Rank      string // how well the ranking persisted
	Near      []trialRow
	NearNote  string
	Rows      []trialRow
	Left      int
	WhenSplit string
	Bounded   bool // any of the rows
}

type trialRow struct {
	Place                         int
	Link, Job                     string // of its report
	Settings                      []string
	Seen                          *backtest.Column
	Unseen                        *backtest.Column
	Profit, Sharpe, Drawdown      string
	UnseenProfit, UnseenSharpe    string
	UnseenDrawdown, Tone, Changed string
	Bound                         string // the event that ended or bounded it
}

// TrialLink returns the address of a trial's report, or an empty string.
type TrialLink func(place int, t *backtest.Trial) string

// asked returns the link for a page inside the dashboard, which requests the trial's report.
func asked(_ int, t *backtest.Trial) string { return "#" + t.Job }

// WriteSweep writes a sweep as one page that opens offline. link may be nil.
func WriteSweep(w io.Writer, r *resultstore.Sweep, link TrialLink) error {
	body, err := filled("sweep.gohtml", newSweepPage(r, link))
	if err != nil {
		return err
	}
	script, err := files.ReadFile("page/sweep.js")
	if err != nil {
		return err
	}
	return frame(w, r.Strategy+" – botd sweep", body, nil, script)
}

func newSweepPage(r *resultstore.Sweep, link TrialLink) *sweepPage {
	if link == nil {
		link = func(int, *backtest.Trial) string { return "" }
	}
	verdict := r.Verdict()
	p := &sweepPage{Sweep: r, Headline: strings.ToUpper(verdict[:1]) + verdict[1:] + ".", Left: max(0, len(r.Trials)-MaxTrialRows)}
	if len(r.Trials) == 0 {
		return p
	}
	p.Names = slices.Sorted(maps.Keys(r.Trials[0].Params))
	if r.Split != nil {
		p.WhenSplit = minute(*r.Split)
	}
	axes := axesOf(r.Trials, p.Names)
	for i := range axes {
		for k := i + 1; k < len(axes) && len(p.Maps) < maxMaps; k++ {
			p.Maps = append(p.Maps, heatOf(r.Trials, &axes[i], &axes[k]))
		}
	}
	p.Ways = waysOf(r.Trials, axes)
	p.Scatter, p.Rank = unseenOf(r.Trials)
	if r.Best() != nil {
		p.Near, p.NearNote = around(r.Trials, axes, link)
	}
	for i := range r.Trials[:min(MaxTrialRows, len(r.Trials))] {
		p.Rows = append(p.Rows, rowOfTrial(&r.Trials[i], p.Names, i, link))
		p.Clicks, p.Bounded = p.Clicks || p.Rows[i].Link != "", p.Bounded || p.Rows[i].Bound != ""
	}
	return p
}

func rowOfTrial(t *backtest.Trial, names []string, place int, link TrialLink) trialRow {
	row := trialRow{Place: place + 1, Link: link(place+1, t), Job: t.Job,
		Seen: t.Seen, Unseen: t.Unseen, UnseenProfit: none, UnseenSharpe: none, UnseenDrawdown: none}
	for _, name := range names {
		row.Settings = append(row.Settings, t.Params[name])
	}
	row.Profit, row.Sharpe, row.Drawdown = signedPercent(t.Seen.Profit), number(t.Seen.Sharpe), percent(t.Seen.MaxDrawdown)
	if u := t.Unseen; u != nil {
		row.UnseenProfit, row.UnseenSharpe, row.UnseenDrawdown = signedPercent(u.Profit), number(u.Sharpe), percent(u.MaxDrawdown)
	}
	row.Bound = boundOf(t.Seen, "")
	if t.Unseen != nil {
		row.Bound += boundOf(t.Unseen, "unseen ")
	}
	row.Bound = strings.TrimPrefix(row.Bound, "; ")
	return row
}

// boundOf describes the event that ended a part of a trial, and the trades that did not happen in it.
func boundOf(c *backtest.Column, part string) (text string) {
	if c.EndedBy != nil {
		text = "; " + part + "ended by " + c.EndedBy.Short()
	}
	if lacking := backtest.ShortOf(c.NotTraded); lacking != "" {
		text += "; " + part + "not traded: " + lacking
	}
	return text
}

// axis is one varied name: its values in order, and the step of each value.
type axis struct {
	name   string
	values []string
	step   map[string]int // of a value, in a heat map
	steps  []string       // their names
}

func axesOf(trials []backtest.Trial, names []string) (all []axis) {
	for _, name := range names {
		a := axis{name: name, step: map[string]int{}}
		seen := map[string]bool{}
		for i := range trials {
			if value := trials[i].Params[name]; !seen[value] {
				seen[value] = true
				a.values = append(a.values, value)
			}
		}
		slices.SortFunc(a.values, inOrder)
		if len(a.values) < 2 {
			continue
		}
		count := min(maxSteps, len(a.values))
		a.steps = make([]string, count)
		for i, value := range a.values {
			k := i * count / len(a.values)
			a.step[value] = k
			switch {
			case a.steps[k] == "":
				a.steps[k] = value
			default:
				first, _, _ := strings.Cut(a.steps[k], " to ")
				a.steps[k] = first + " to " + value
			}
		}
		all = append(all, a)
	}
	return all
}

// inOrder sorts numbers, with or without a unit, before words.
func inOrder(a, b string) int {
	x, xIs := leading(a)
	y, yIs := leading(b)
	if xIs && yIs && x != y {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

func leading(text string) (float64, bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' })
	if end < 0 {
		end = len(text)
	}
	f, err := strconv.ParseFloat(text[:end], 64)
	return f, err == nil
}

// at returns the place of a value on its axis, from 0 to 1.
func (a *axis) at(value string) float64 {
	return float64(slices.Index(a.values, value)) / float64(len(a.values)-1)
}

// sharpe returns a trial's Sharpe ratio on the data before the split. That of a trial that was stopped early covers other
// days, so it is no part of the page's means and charts.
func sharpe(t *backtest.Trial) (float64, bool) {
	if t.Seen == nil || t.Seen.Sharpe == nil || t.Seen.StoppedEarly() {
		return 0, false
	}
	return *t.Seen.Sharpe, true
}

// heatMap is the mean Sharpe ratio by two axes.
type heatMap struct {
	Across, Down string
	Columns      []string
	Rows         []heatRow
}

type heatRow struct {
	Name  string
	Cells []heatCell
}

type heatCell struct{ Text, Class, Title string }

func heatOf(trials []backtest.Trial, across, down *axis) heatMap {
	m := heatMap{Across: across.name, Down: down.name, Columns: across.steps}
	type tally struct {
		sum, best float64
		count     int
	}
	tallies := make([]tally, len(across.steps)*len(down.steps))
	most := 0.0
	for i := range trials {
		value, known := sharpe(&trials[i])
		if !known {
			continue
		}
		cell := &tallies[down.step[trials[i].Params[down.name]]*len(across.steps)+across.step[trials[i].Params[across.name]]]
		if cell.count == 0 || value > cell.best {
			cell.best = value
		}
		cell.sum, cell.count = cell.sum+value, cell.count+1
		most = max(most, math.Abs(value))
	}
	for k, name := range down.steps {
		row := heatRow{Name: name}
		for j := range across.steps {
			cell := &tallies[k*len(across.steps)+j]
			if cell.count == 0 {
				row.Cells = append(row.Cells, heatCell{Text: "", Class: "h0"})
				continue
			}
			mean := cell.sum / float64(cell.count)
			shown := heat(mean, max(most, 0.01))
			row.Cells = append(row.Cells, heatCell{Text: fixed(mean, 2), Class: shown.Class, Title: fmt.Sprintf(
				"%s %s, %s %s: mean Sharpe %.2f of %d, the best %.2f", across.name, across.steps[j], down.name, name, mean, cell.count, cell.best)})
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// waysOf draws each trial as a line through its settings to its result. The best tenth is drawn on top.
func waysOf(trials []backtest.Trial, axes []axis) template.HTML {
	const top, bottom, left, right = 42.0, 292.0, 6.0, 94.0
	if len(axes) == 0 || len(trials) < 2 {
		return ""
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range trials {
		if value, known := sharpe(&trials[i]); known {
			low, high = min(low, value), max(high, value)
		}
	}
	if low >= high {
		return ""
	}
	d := drawing{height: 326}
	x := func(k int) float64 { return left + float64(k)*(right-left)/float64(len(axes)) }
	y := func(share float64) float64 { return bottom - float64(share*(bottom-top)) }
	shown := trials[:min(maxTrialWays, len(trials))]
	for n := len(shown) - 1; n >= 0; n-- {
		value, known := sharpe(&shown[n])
		if !known {
			continue
		}
		class := "way"
		if n*10 < len(trials) {
			class = "way best"
		}
		heights := make([]float64, 0, len(axes)+1)
		for k := range axes {
			heights = append(heights, y(axes[k].at(shown[n].Params[axes[k].name])))
		}
		heights = append(heights, y((value-low)/(high-low)))
		for k := range axes {
			d.line(class, x(k), heights[k], x(k+1), heights[k+1])
		}
	}
	for k := range axes {
		d.line("axis", x(k), top, x(k), bottom)
		d.text("value", "middle", x(k), 14, axes[k].name)
		d.text("name", "middle", x(k), bottom+18, axes[k].values[0])
		d.text("name", "middle", x(k), top-8, axes[k].values[len(axes[k].values)-1])
	}
	d.line("axis", right, top, right, bottom)
	d.text("value", "middle", right, 14, "Sharpe")
	d.text("name", "middle", right, bottom+18, fixed(low, 2))
	d.text("name", "middle", right, top-8, fixed(high, 2))
	return d.done(fmt.Sprintf("%d trials by their settings and the Sharpe ratio they showed, from %.2f to %.2f", len(shown), low, high))
}

// unseenOf plots the results of trials before and after the split, and describes how well the ranking persisted.
func unseenOf(trials []backtest.Trial) (template.HTML, string) {
	const left, right, top, bottom = 8.0, 98.0, 12.0, 262.0
	var seen, unseen []float64
	for i := range trials {
		if value, known := sharpe(&trials[i]); known && trials[i].Unseen != nil && trials[i].Unseen.Sharpe != nil &&
			!trials[i].Unseen.StoppedEarly() {
			seen, unseen = append(seen, value), append(unseen, *trials[i].Unseen.Sharpe)
		}
	}
	if len(seen) < 3 {
		return "", ""
	}
	low, high := min(slices.Min(seen), slices.Min(unseen), 0), max(slices.Max(seen), slices.Max(unseen), 0.01)
	d := drawing{height: 300}
	x := func(v float64) float64 { return left + float64((v-low)/(high-low)*(right-left)) }
	y := func(v float64) float64 { return bottom - float64((v-low)/(high-low)*(bottom-top)) }
	d.line("axis", x(0), top, x(0), bottom)
	d.line("axis", left, y(0), right, y(0))
	d.line("link", x(low), y(low), x(high), y(high))
	for i := 0; i < len(seen); i += (len(seen) + maxDots - 1) / maxDots {
		class := "up"
		if unseen[i] < 0 {
			class = "down"
		}
		d.dot(class, x(seen[i]), y(unseen[i]), fmt.Sprintf("Sharpe %.2f before the split, %.2f after it", seen[i], unseen[i]))
	}
	d.text("name", "start", left, bottom+20, fixed(low, 2))
	d.text("name", "middle", (left+right)/2, bottom+20, "Sharpe ratio before the split")
	d.text("name", "end", right, bottom+20, fixed(high, 2))
	d.text("name", "start", 0, top+6, "after it")
	rank := correlation(places(seen), places(unseen))
	text := "the ranking did not persist: trials that were good before the split were no better than the others after it"
	switch {
	case rank > 0.5:
		text = "the ranking persisted: trials that were good before the split were mostly good after it"
	case rank > 0.2:
		text = "the ranking persisted in part"
	}
	return d.done(fmt.Sprintf("%d trials: the Sharpe ratio before the split and after it, rank correlation %.2f", len(seen), rank)),
		fmt.Sprintf("Rank correlation %.2f over %d trials: %s.", rank, len(seen), text)
}

// places returns the ranks of values. Equal values share a rank.
func places(values []float64) []float64 {
	order := slices.Sorted(slices.Values(values))
	out := make([]float64, len(values))
	for i, v := range values {
		first, _ := slices.BinarySearch(order, v)
		last := first
		for last+1 < len(order) && order[last+1] == v {
			last++
		}
		out[i] = float64(float64(first+last) / 2)
	}
	return out
}

// correlation returns Pearson's coefficient, or 0 where one side does not vary.
func correlation(a, b []float64) float64 {
	n, sumA, sumB := float64(len(a)), 0.0, 0.0
	for i := range a {
		sumA, sumB = sumA+a[i], sumB+b[i]
	}
	ab, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		x, y := a[i]-sumA/n, b[i]-sumB/n
		ab, aa, bb = ab+float64(x*y), aa+float64(x*x), bb+float64(y*y)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// around returns the trials nearest to the best one. If only its exact settings are good, the result is luck.
func around(trials []backtest.Trial, axes []axis, link TrialLink) (rows []trialRow, note string) {
	best := &trials[0]
	own, known := sharpe(best)
	if !known || len(axes) == 0 {
		return nil, ""
	}
	type near struct {
		trial    *backtest.Trial
		distance float64
		changed  string
		place    int
	}
	var all []near
	for i := 1; i < len(trials); i++ {
		n := near{trial: &trials[i], place: i}
		var words []string
		for k := range axes {
			a := &axes[k]
			step := float64(slices.Index(a.values, trials[i].Params[a.name]) - slices.Index(a.values, best.Params[a.name]))
			if len(a.values) > maxSteps {
				step = float64(step * (maxSteps / float64(len(a.values))))
			}
			if n.distance += float64(step * step); step != 0 {
				words = append(words, a.name+" "+trials[i].Params[a.name])
			}
		}
		n.changed = strings.Join(words, ", ")
		all = append(all, n)
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	sum, counted, earn := 0.0, 0, 0
	for _, n := range all[:min(neighbors, len(all))] {
		row := rowOfTrial(n.trial, nil, n.place, link)
		row.Changed = n.changed
		if value, known := sharpe(n.trial); known {
			sum, counted = sum+value, counted+1
		}
		if n.trial.Seen.Profit != nil && *n.trial.Seen.Profit > 0 {
			earn++
		}
		rows = append(rows, row)
	}
	if counted == 0 {
		return rows, ""
	}
	return rows, fmt.Sprintf("Of the %d nearest settings %d earn; their mean Sharpe ratio is %.2f compared with %.2f of the best.", len(rows), earn,
		sum/float64(counted), own)
}
