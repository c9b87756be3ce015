package tape

import (
	"slices"

	"botd/exchange"
	"botd/internal/failure"
)

// FundingSummary is the report of verify and list about the rates of one symbol.
type FundingSummary struct {
	File     string        `json:"file"`
	Symbol   string        `json:"symbol"`
	Payments int           `json:"payments"`
	Every    int           `json:"every_hours"` // between most of them
	FromMS   int64         `json:"from_ms"`
	ToMS     int64         `json:"to_ms"`
	Lowest   exchange.Rate `json:"lowest"`
	Highest  exchange.Rate `json:"highest"`
	Holes    []SummaryHole `json:"holes"` // from and to: the payments on both sides; candles: those missing
}

// SummarizeFunding summarizes the rates of a file, symbol by symbol.
func SummarizeFunding(file string) ([]FundingSummary, error) {
	rows, err := LoadFunding(file)
	if err != nil {
		return nil, Failure(err)
	}
	of := map[string][]FundingRow{}
	var symbols []string
	for _, row := range rows {
		if _, known := of[row.Symbol]; !known {
			symbols = append(symbols, row.Symbol)
		}
		of[row.Symbol] = append(of[row.Symbol], row)
	}
	if len(rows) == 0 {
		return nil, failure.New(failure.Data, "", "%s holds no funding rates", file)
	}
	slices.Sort(symbols)
	var spans []FundingSummary
	for _, symbol := range symbols {
		own := of[symbol]
		span := FundingSummary{File: file, Symbol: symbol, Payments: len(own), FromMS: own[0].TimeMS, ToMS: own[len(own)-1].TimeMS,
			Lowest: own[0].Rate, Highest: own[0].Rate, Holes: []SummaryHole{}}
		for _, row := range own {
			span.Lowest, span.Highest = min(span.Lowest, row.Rate), max(span.Highest, row.Rate)
		}
		var gaps []FundingGap
		span.Every, gaps = FundingGaps(own)
		for _, gap := range gaps {
			missing := int((gap.BeforeMS-gap.AfterMS)/(int64(span.Every)*int64(exchange.Hour1))) - 1
			span.Holes = append(span.Holes, SummaryHole{gap.AfterMS, gap.BeforeMS, max(1, missing)})
		}
		spans = append(spans, span)
	}
	return spans, nil
}

// Summary is the report of list and verify about a series.
type Summary struct {
	File     string            `json:"file"`
	Market   string            `json:"market,omitempty"`
	Symbol   string            `json:"symbol,omitempty"`
	Interval exchange.Interval `json:"interval"`
	Candles  int               `json:"candles"`
	FromMS   int64             `json:"from_ms"`
	ToMS     int64             `json:"to_ms"` // the last candle's close
	Missing  int               `json:"missing"`
	Holes    []SummaryHole     `json:"holes"`
	Map      string            `json:"map"` // # all there, + some, - none
	Problems []string          `json:"problems"`
	Warnings []string          `json:"warnings"`
}

type SummaryHole struct {
	FromMS  int64 `json:"from_ms"` // open time of the first missing candle
	ToMS    int64 `json:"to_ms"`   // open time of the first candle after the hole
	Candles int   `json:"candles"`
}

func Summarize(file string, t *Tape) Summary {
	c := t.Candles
	seen := Summary{File: file, Interval: c.Interval, Candles: c.Len(), FromMS: c.OpenMS[0], ToMS: c.CloseMS(c.Len() - 1), Holes: []SummaryHole{},
		Map: Coverage(t, 40), Problems: t.Repaired, Warnings: slices.Concat(Jumps(t), Oddities(t), t.Warnings)}
	if seen.Problems == nil {
		seen.Problems = []string{}
	}
	if seen.Warnings == nil {
		seen.Warnings = []string{}
	}
	for _, h := range t.Holes {
		seen.Missing += h.Missing
		seen.Holes = append(seen.Holes, SummaryHole{h.AfterMS + int64(c.Interval), h.BeforeMS, h.Missing})
	}
	return seen
}
