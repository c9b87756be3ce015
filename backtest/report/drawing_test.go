package report

import (
	"html"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
)

var (
	drawnShape  = regexp.MustCompile(`<(rect|line|circle|text) ([^>]*?)/?>([^<]*)(?:<title>([^<]*)</title>)?`)
	drawnValue  = regexp.MustCompile(`([a-z0-9-]+)="([^"]*)"`)
	drawnLabel  = regexp.MustCompile(`aria-label="([^"]*)"`)
	positionsOf = map[string][]string{"rect": {"x", "y", "width", "height"}, "line": {"x1", "y1", "x2", "y2"}, "circle": {"cx", "cy"}, "text": {"x", "y"}}
)

// shapes lists what is drawn, one per line: kind, class, place, and text; across in percent, down in pixels.
func shapes(drawn template.HTML) (all []string) {
	for _, found := range drawnShape.FindAllStringSubmatch(string(drawn), -1) {
		values := map[string]string{}
		for _, value := range drawnValue.FindAllStringSubmatch(found[2], -1) {
			values[value[1]] = value[2]
		}
		words := []string{found[1], values["class"]}
		if anchor := values["text-anchor"]; anchor != "" {
			words = append(words, anchor)
		}
		for _, name := range positionsOf[found[1]] {
			words = append(words, strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(values[name], "%"), ".0"), ".000"))
		}
		if text := html.UnescapeString(found[3] + found[4]); text != "" {
			words = append(words, text)
		}
		all = append(all, strings.Join(words, " "))
	}
	if label := drawnLabel.FindStringSubmatch(string(drawn)); label != nil {
		all = append(all, "label "+html.UnescapeString(label[1]))
	}
	return all
}

func wantShapes(t *testing.T, what string, drawn template.HTML, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, shapes(drawn)); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}

func TestABarGrowsFromTheMiddle(t *testing.T) {
	t.Parallel()
	axis := "line axis 50 0 50 12"
	wantShapes(t, "a half of the most", bar(5, 10), axis, "rect up 50 2 25 8")
	wantShapes(t, "the largest loss", bar(-10, 10), axis, "rect down 0 2 50 8")
	wantShapes(t, "so little that it would not be seen", bar(0.001, 10), axis, "rect up 50 2 0.150 8")
	wantShapes(t, "nothing", bar(0, 0), axis)
	wantShapes(t, "a quarter of the derived ones", funnelBar(5, 20, "down"), "rect down 0 2 25 10")
	wantShapes(t, "none of them", funnelBar(0, 20, "down"))
	wantShapes(t, "none of none", funnelBar(0, 0, "down"))
}

// The drawing is between 100 at the height of 22 and -10 at 168: 1.3273 pixels a unit.
func TestTheWayFromGrossToNet(t *testing.T) {
	t.Parallel()
	wantShapes(t, "a gain that costs used up",
		waterfall([]step{{"gross", 100, "+100.00", true}, {Name: "fees", Value: -30, Text: "−30.00"}, {Name: "funding", Value: 5, Text: "+5.00"},
			{Name: "net", Value: -10, Text: "−10.00", total: true}}),
		"line axis 0 154.7 100 154.7",
		"rect total 4 22 17 132.7 gross +100.00", "text value middle 12.500 16 +100.00", "text name middle 12.500 190 gross", "line link 21 22 29 22",
		"rect down 29 22 17 39.8 fees −30.00", "text value middle 37.500 16 −30.00", "text name middle 37.500 190 fees", "line link 46 61.8 54 61.8",
		"rect up 54 55.2 17 6.6 funding +5.00", "text value middle 62.500 49.2 +5.00", "text name middle 62.500 190 funding", "line link 71 55.2 79 55.2",
		"rect total 79 154.7 17 13.3 net −10.00", "text value middle 87.500 148.7 −10.00", "text name middle 87.500 190 net",
		"label From gross to net: gross +100.00, fees −30.00, funding +5.00, net −10.00")
	wantShapes(t, "without a whole at its beginning", waterfall([]step{{Name: "gain", Value: 50, Text: "+50.00"}, {Name: "fees", Value: -50, Text: "−50.00"}}),
		"line axis 0 168 100 168",
		"rect up 8 22 34 146 gain +50.00", "text value middle 25 16 +50.00", "text name middle 25 190 gain", "line link 42 22 58 22",
		"rect down 58 22 34 146 fees −50.00", "text value middle 75 16 −50.00", "text name middle 75 190 fees",
		"label From gross to net: gain +50.00, fees −50.00")
	wantShapes(t, "nothing was made and nothing paid", waterfall([]step{{Name: "gross", total: true}, {Name: "fees"}}))
}

// There are 41 bins between -8.2 and 8.2 %, 0.4 % each; the highest is 134 pixels.
func TestReturnHistogram(t *testing.T) {
	t.Parallel()
	bound, beyond, none := 4.1, 8.3, 0.0
	returns := []float64{-0.082, 0, 0.001, 0.082}
	bins := []string{"line axis 0 150 100 150",
		"rect down 0.200 83 2.039 67 1 days between -8.20 and -7.80 %",
		"rect up 48.980 16 2.039 134 2 days between -0.20 and 0.20 %",
		"rect up 97.761 83 2.039 67 1 days between 7.80 and 8.20 %"}
	ticks := []string{"text name start 0 168 −8.2 %", "text name middle 25 168 −4.1 %", "text name middle 50 168 0.0 %", "text name middle 75 168 4.1 %",
		"text name end 100 168 8.2 %"}
	const label = "label How 4 daily returns lie between -8.20 and 8.20 %"
	wantShapes(t, "with the worst twentieth", histogram(returns, &bound), slices.Concat(bins,
		[]string{"line mark 25 4 25 150", "text note start 26 12 1 day in 20 loses 4.10 % or more"}, ticks,
		[]string{label + "; one in twenty loses 4.10 % or more"})...)
	for _, without := range []*float64{nil, &beyond, &none} {
		wantShapes(t, "without it", histogram(returns, without), slices.Concat(bins, ticks, []string{label})...)
	}
	wantShapes(t, "a single day", histogram(returns[:1], &bound))
	wantShapes(t, "days on which nothing moved", histogram([]float64{0, 0}, nil))
}

// tripsFor returns round trips of 2 at 100 that moved that far against their entry, in percent, and ended with that
// many USDT.
func tripsFor(against, profit []string) (all []backtest.TripRow) {
	for i := range against {
		all = append(all, backtest.TripRow{Entry: "100", Quantity: "2", Adverse: float(against[i]), PNL: profit[i]})
	}
	return all
}

func TestAdverseExcursionChart(t *testing.T) {
	t.Parallel()
	trips := tripsFor([]string{"1", "2", "4", "0"}, []string{"10", "-20", "0", "10"})
	trips[3].Entry = "0"
	wantShapes(t, "four round trips", excursions(trips),
		"line axis 8 110 99 110", "line axis 8 10 8 210",
		"circle up 30.750 60 adverse excursion 1.00 %, result +5.00 %", "circle down 53.500 210 adverse excursion 2.00 %, result -10.00 %",
		"circle up 99 110 adverse excursion 4.00 %, result +0.00 %", "circle up 8 110 adverse excursion 0.00 %, result +0.00 %",
		"text name start 0 18 +10.0 %", "text name start 0 114 0", "text name start 0 210 −10.0 %", "text name start 8 232 0",
		"text name middle 53.500 232 adverse excursion", "text name end 99 232 4.0 %",
		"label 4 round trips by adverse excursion (up to 4.00 %) and result")
	wantShapes(t, "two", excursions(trips[:2]))
	wantShapes(t, "nothing went against them", excursions(tripsFor([]string{"0", "0", "0"}, []string{"1", "2", "3"})))
	wantShapes(t, "nothing came of them", excursions(tripsFor([]string{"1", "2", "3"}, []string{"0", "0", "0"})))
	for count, dots := range map[int]int{3: 3, maxDots: maxDots, maxDots + 1: maxDots/2 + 1} { // beyond 500 every second one
		all := slices.Repeat(tripsFor([]string{"1"}, []string{"10"}), count)
		if have := strings.Count(string(excursions(all)), "<circle"); have != dots {
			t.Errorf("%d round trips: want %d dots, have %d", count, dots, have)
		}
	}
}

// The scale ends at 1.15 times the deepest: 23 %.
func TestDrawdownsOfOtherOrders(t *testing.T) {
	t.Parallel()
	s := &backtest.Shuffles{Count: 1_000, Fifth: 2.3, Quarter: 4.6, Median: 6.9, Third: 9.2, Worst: 20, Happened: 11.5}
	drawn := func(worst, happened string) []string {
		return []string{"line axis 0 44 100 44", "rect range 10 36 " + worst + " 16 90 % of the sequences",
			"rect inner 20 32 20 24 half of the sequences", "line mark 30 28 30 60", "circle point " + happened + " 44 actual: "}
	}
	have := shapes(shuffled(s))
	want := drawn("76.957", "50")
	want[4] += "11.50 %"
	want = append(want, "text note middle 30 20 median 6.9 %", "text name middle 50 78 actual 11.5 %",
		"label Maximum drawdown in 1000 random sequences of the round trips: median 6.90 %, 5 % beyond 20.00 %, actual 11.50 %")
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	s.Worst, s.Happened = 11.5, 20 // deeper than in all other orders
	if have, want := shapes(shuffled(s)), drawn("40", "86.957"); have[1] != want[1] || have[4] != want[4]+"20.00 %" {
		t.Errorf("want %v, have %v", want, have)
	}
	if drawn := shuffled(nil); drawn != "" {
		t.Errorf("too few round trips: have %s", drawn)
	}
	if drawn := shuffled(&backtest.Shuffles{}); drawn != "" {
		t.Errorf("no order ever fell: have %s", drawn)
	}
}
