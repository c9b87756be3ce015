package tape

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"botd/exchange"
)

// WriteFunding writes rates in the format of LoadFunding.
func WriteFunding(w io.Writer, rows []FundingRow) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, fundingHeader)
	for _, row := range rows {
		fmt.Fprintf(out, "%s,%d,%s\n", row.Symbol, row.TimeMS, row.Rate)
	}
	return out.Flush()
}

// WriteFundingFile writes rates to a file, which is never partial.
func WriteFundingFile(path string, rows []FundingRow) error {
	return replaceFile(path, func(w io.Writer) error { return WriteFunding(w, rows) })
}

// FundingOf returns a symbol's rows. Files write the symbol with or without the hyphen, or not at
// all.
func FundingOf(rows []FundingRow, symbol string) []FundingRow {
	var own []FundingRow
	plain := strings.ReplaceAll(symbol, "-", "")
	for _, row := range rows {
		if row.Symbol == symbol || row.Symbol == plain || row.Symbol == "" {
			row.Symbol = symbol
			own = append(own, row)
		}
	}
	return own
}

// SaveFunding adds a symbol's rates to the stored ones. If both have a payment with different
// rates, the new rate replaces the old one if replace is set; otherwise nothing is written.
func (s Store) SaveFunding(symbol string, rows []FundingRow, replace bool) (Saved, error) {
	path := s.FundingPath(symbol)
	saved := Saved{Path: path}
	old, err := LoadFunding(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return saved, err
	}
	merged := slices.Clone(old)
	for _, row := range rows {
		row.Symbol = symbol
		i, found := slices.BinarySearchFunc(merged, row, func(a, b FundingRow) int { return cmp.Compare(a.TimeMS, b.TimeMS) })
		switch {
		case !found:
			merged = slices.Insert(merged, i, row)
			saved.Added++
		case merged[i].Rate == row.Rate:
			saved.Same++
		default:
			if saved.Replaced++; !replace {
				return saved, &DataError{Path: path, What: fmt.Sprintf("the rate of %d is stored as %s and is %s now", row.TimeMS, merged[i].Rate, row.Rate),
					Hint: "is the symbol right? --replace overwrites the stored ones"}
			}
			merged[i] = row
		}
	}
	if saved.Total = len(merged); saved.Added+saved.Replaced == 0 {
		return saved, nil
	}
	return saved, WriteFundingFile(path, merged)
}

// ListFunding returns the symbols with stored rates.
func (s Store) ListFunding() ([]string, error) {
	directory := filepath.Join(s.Directory, exchange.Futures.String())
	symbols, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var found []string
	for _, symbol := range symbols {
		if _, err := os.Stat(s.FundingPath(symbol.Name())); err == nil {
			found = append(found, symbol.Name())
		}
	}
	return found, err
}

// GenerateFunding generates synthetic rates, one every so many hours: they vary around 0.01 % and
// leave it for days, like those of a crowded market. The same seed gives the same rates.
func GenerateFunding(seed uint64, symbol string, everyHours int, fromMS int64, count int) []FundingRow {
	const usual, limit = 10_000, 750_000 // 0.01 % and 0.75 %, in units of a Rate
	m := &market{random: seed ^ 0x9e3779b97f4a7c15}
	every := int64(everyHours) * hourMS
	at := (fromMS + every - 1) / every * every
	rows := make([]FundingRow, count)
	away := int64(0)
	for i := range rows {
		away += -away/8 + int64(m.next()%20_001) - 10_000
		rate := max(-limit, min(limit, usual+away))
		rows[i] = FundingRow{Symbol: symbol, TimeMS: at, Rate: exchange.Rate(rate)}
		at += every
	}
	return rows
}

// FundingGap is a run of missing payments.
type FundingGap struct {
	AfterMS, BeforeMS int64
}

// FundingGaps returns the gaps between payments, and how many hours apart most of them are.
func FundingGaps(rows []FundingRow) (everyHours int, gaps []FundingGap) {
	counts := map[int64]int{}
	usual := int64(0)
	for i := 1; i < len(rows); i++ {
		gap := rows[i].TimeMS - rows[i-1].TimeMS
		counts[gap]++
		if counts[gap] > counts[usual] {
			usual = gap
		}
	}
	for i := 1; i < len(rows); i++ {
		if gap := rows[i].TimeMS - rows[i-1].TimeMS; gap > usual {
			gaps = append(gaps, FundingGap{rows[i-1].TimeMS, rows[i].TimeMS})
		}
	}
	return int(usual / hourMS), gaps
}
