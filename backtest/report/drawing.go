package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"botd/backtest"
)

// drawing is a small SVG chart. Its horizontal unit is a percentage of the width, its vertical unit a pixel, so text
// keeps its size on a phone.
type drawing struct {
	height int
	body   strings.Builder
}

func (d *drawing) rect(class string, x, y, width, height float64, title string) {
	fmt.Fprintf(&d.body, `<rect class="%s" x="%.3f%%" y="%.1f" width="%.3f%%" height="%.1f" rx="1.5"><title>%s</title></rect>`,
		class, x, y, max(width, 0.15), max(height, 0.75), html.EscapeString(title))
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&d.body, `<line class="%s" x1="%.3f%%" y1="%.1f" x2="%.3f%%" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (d *drawing) text(class, anchor string, x, y float64, text string) {
	fmt.Fprintf(&d.body, `<text class="%s" text-anchor="%s" x="%.3f%%" y="%.1f">%s</text>`, class, anchor, x, y, html.EscapeString(text))
}

func (d *drawing) dot(class string, x, y float64, title string) {
	fmt.Fprintf(&d.body, `<circle class="%s" cx="%.3f%%" cy="%.1f" r="3"><title>%s</title></circle>`, class, x, y, html.EscapeString(title))
}

// done closes the drawing. The label describes it to screen readers.
func (d *drawing) done(label string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="drawing" role="img" aria-label="%s" width="100%%" height="%d">%s</svg>`, html.EscapeString(label),
		d.height, d.body.String()))
}

// bar draws a value relative to the largest one. It grows from the middle to the left or right.
func bar(value, most float64) template.HTML {
	d := drawing{height: 12}
	width := 50 * math.Abs(value) / most
	d.line("axis", 50, 0, 50, 12)
	switch {
	case value > 0:
		d.rect("up", 50, 2, width, 8, "")
	case value < 0:
		d.rect("down", 50-width, 2, width, 8, "")
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" aria-hidden="true" width="100%%" height="12">%s</svg>`, d.body.String()))
}

// step is one step from the gross profit to the net profit.
type step struct {
	Name  string
	Value float64
	Text  string
	total bool
}

// waterfall draws the steps from left to right.
func waterfall(steps []step) template.HTML {
	const top, bottom = 22.0, 168.0
	d := drawing{height: 200}
	low, high, sum := 0.0, 0.0, 0.0
	for _, s := range steps {
		if s.total {
			sum = s.Value
		} else {
			sum += s.Value
		}
		low, high = min(low, sum), max(high, sum)
	}
	if high == low {
		return ""
	}
	y := func(value float64) float64 { return bottom - float64((value-low)/(high-low)*(bottom-top)) }
	width, words := 100/float64(len(steps)), []string{}
	d.line("axis", 0, y(0), 100, y(0))
	sum = 0
	for i, s := range steps {
		from, to := sum, sum+s.Value
		if s.total {
			from, to = 0, s.Value
		}
		class := "down"
		switch {
		case s.total:
			class = "total"
		case s.Value >= 0:
			class = "up"
		}
		x := float64(float64(i)*width) + float64(width*0.16)
		d.rect(class, x, min(y(from), y(to)), float64(width*0.68), math.Abs(y(from)-y(to)), s.Name+" "+s.Text)
		d.text("value", "middle", x+float64(width*0.34), min(y(from), y(to))-6, s.Text)
		d.text("name", "middle", x+float64(width*0.34), 190, s.Name)
		if i+1 < len(steps) {
			d.line("link", x+float64(width*0.68), y(to), x+float64(width*1.0), y(to))
		}
		sum = to
		words = append(words, s.Name+" "+s.Text)
	}
	return d.done("From gross to net: " + strings.Join(words, ", "))
}

// histogram draws the distribution of returns, and highlights the worst twentieth.
func histogram(returns []float64, bound *float64) template.HTML {
	const bins, bottom = 41, 150.0
	if len(returns) < 2 {
		return ""
	}
	most := 0.0
	for _, r := range returns {
		most = max(most, math.Abs(r))
	}
	if most == 0 {
		return ""
	}
	var counts [bins]int
	highest := 0
	for _, r := range returns {
		at := min(bins-1, int((r/most+1)/2*bins))
		counts[at]++
		highest = max(highest, counts[at])
	}
	d := drawing{height: 178}
	d.line("axis", 0, bottom, 100, bottom)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		low, high := float64((float64(2*i)/bins-1)*most), float64((float64(2*i+2)/bins-1)*most)
		class, height := "up", float64(float64(n)/float64(highest)*(bottom-16))
		if (low+high)/2 < 0 {
			class = "down"
		}
		d.rect(class, float64(i)*100/bins+0.2, bottom-height, 100.0/bins-0.4, height,
			fmt.Sprintf("%d days between %.2f and %.2f %%", n, 100*low, 100*high))
	}
	label := fmt.Sprintf("How %d daily returns lie between %.2f and %.2f %%", len(returns), -100*most, 100*most)
	if bound != nil && *bound > 0 && *bound/100 <= most {
		x := float64((1 - *bound/100/most) * 50)
		d.line("mark", x, 4, x, bottom)
		d.text("note", "start", x+1, 12, fmt.Sprintf("1 day in 20 loses %.2f %% or more", *bound))
		label += fmt.Sprintf("; one in twenty loses %.2f %% or more", *bound)
	}
	for _, tick := range []float64{-1, -0.5, 0, 0.5, 1} {
		anchor := map[float64]string{-1: "start", 1: "end"}[tick]
		if anchor == "" {
			anchor = "middle"
		}
		d.text("name", anchor, 50+float64(50*tick), bottom+18, fixed(float64(100*most*tick), 1)+" %")
	}
	return d.done(label)
}

// maxDots bounds the round trips of a scatter plot. Beyond it, every second one is omitted.
const maxDots = 500

// excursions draws each round trip's adverse excursion and its result.
func excursions(trips []backtest.TripRow) template.HTML {
	const left, right, top, bottom = 8.0, 99.0, 10.0, 210.0
	if len(trips) < 3 {
		return ""
	}
	every := (len(trips) + maxDots - 1) / maxDots
	widest, highest := 0.0, 0.0
	outcome := func(t *backtest.TripRow) float64 {
		entry, quantity := float(t.Entry), float(t.Quantity)
		if entry*quantity == 0 {
			return 0
		}
		return 100 * float(t.PNL) / (entry * quantity)
	}
	for i := 0; i < len(trips); i += every {
		widest, highest = max(widest, trips[i].Adverse), max(highest, math.Abs(outcome(&trips[i])))
	}
	if widest == 0 || highest == 0 {
		return ""
	}
	d := drawing{height: 244}
	middle := (top + bottom) / 2
	d.line("axis", left, middle, right, middle)
	d.line("axis", left, top, left, bottom)
	for i := 0; i < len(trips); i += every {
		t := &trips[i]
		value := outcome(t)
		class := "up"
		if value < 0 {
			class = "down"
		}
		d.dot(class, left+float64(t.Adverse/widest*(right-left)), middle-float64(value/highest*(bottom-top)/2),
			fmt.Sprintf("adverse excursion %.2f %%, result %+.2f %%", t.Adverse, value))
	}
	d.text("name", "start", 0, top+8, fmt.Sprintf("+%.1f %%", highest))
	d.text("name", "start", 0, middle+4, "0")
	d.text("name", "start", 0, bottom, fmt.Sprintf("−%.1f %%", highest))
	d.text("name", "start", left, bottom+22, "0")
	d.text("name", "middle", (left+right)/2, bottom+22, "adverse excursion")
	d.text("name", "end", right, bottom+22, fmt.Sprintf("%.1f %%", widest))
	return d.done(fmt.Sprintf("%d round trips by adverse excursion (up to %.2f %%) and result", len(trips), widest))
}

// shuffled draws the maximum drawdown for other orders of the round trips.
func shuffled(s *backtest.Shuffles) template.HTML {
	if s == nil || s.Worst == 0 {
		return ""
	}
	most := float64(max(s.Worst, s.Happened) * 1.15)
	x := func(value float64) float64 { return 100 * value / most }
	d := drawing{height: 84}
	d.line("axis", 0, 44, 100, 44)
	d.rect("range", x(s.Fifth), 36, x(s.Worst)-x(s.Fifth), 16, "90 % of the sequences")
	d.rect("inner", x(s.Quarter), 32, x(s.Third)-x(s.Quarter), 24, "half of the sequences")
	d.line("mark", x(s.Median), 28, x(s.Median), 60)
	d.dot("point", x(s.Happened), 44, fmt.Sprintf("actual: %.2f %%", s.Happened))
	d.text("note", "middle", x(s.Median), 20, fmt.Sprintf("median %.1f %%", s.Median))
	d.text("name", "middle", x(s.Happened), 78, fmt.Sprintf("actual %.1f %%", s.Happened))
	return d.done(fmt.Sprintf("Maximum drawdown in %d random sequences of the round trips: median %.2f %%, 5 %% beyond %.2f %%, actual %.2f %%",
		s.Count, s.Median, s.Worst, s.Happened))
}

// funnelBar draws a stage's share of the derived orders.
func funnelBar(n, of int, class string) template.HTML {
	if n == 0 || of == 0 {
		return ""
	}
	d := drawing{height: 14}
	d.rect(class, 0, 2, 100*float64(n)/float64(of), 10, "")
	return template.HTML(fmt.Sprintf(`<svg class="bar" aria-hidden="true" width="100%%" height="14">%s</svg>`, d.body.String()))
}
