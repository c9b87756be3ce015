package foreign

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// sheet is the layout of a file, as found from its first rows.
type sheet struct {
	delimiter   byte
	begin       int // lines before the first row
	at          fieldsAt
	clock       int // field of the time of day, if separate from the date; -1 for none
	newestFirst bool
}

const (
	examinedLines = 200
	preamble      = 16 // lines at most, before the header and after it
)

// examine finds the layout of a text by its beginning.
func examine(head []byte, whole bool, columns string) (*sheet, error) {
	lines := strings.SplitN(string(head), "\n", examinedLines+1)
	if !whole || len(lines) > examinedLines {
		lines = lines[:len(lines)-1] // it may be truncated
	}
	s := &sheet{delimiter: delimiterOf(lines), clock: -1}
	rows := make([][]string, len(lines))
	for i, line := range lines {
		rows[i] = split(nil, line, s.delimiter)
	}
	if columns != "" {
		return s, s.given(columns, rows)
	}
	for i := range min(preamble, len(rows)) {
		if at, found := headed(rows[i]); found {
			s.at, s.begin = at, i+1
			return s, s.firstRow(rows)
		}
	}
	return s, s.withoutHeader(rows)
}

// delimiterOf returns the column delimiter: the character that splits the most lines into five or
// more fields.
func delimiterOf(lines []string) (best byte) {
	most := -1
	for _, sign := range []byte{',', ';', '\t'} {
		count := 0
		for _, line := range lines {
			if strings.Count(line, string(sign)) >= 4 {
				count++
			}
		}
		if count > most {
			best, most = sign, count
		}
	}
	return best
}

// split appends a line's fields, without the blanks and quotes around them.
func split(fields []string, line string, delimiter byte) []string {
	for {
		line = strings.TrimLeft(line, " ")
		if rest, quoted := strings.CutPrefix(line, `"`); quoted {
			text, after, _ := strings.Cut(rest, `"`)
			fields = append(fields, strings.TrimSpace(text))
			at := strings.IndexByte(after, delimiter)
			if at < 0 {
				return fields
			}
			line = after[at+1:]
			continue
		}
		text, after, more := strings.Cut(line, string(delimiter))
		fields = append(fields, strings.TrimSpace(text))
		if !more {
			return fields
		}
		line = after
	}
}

// given applies the columns as the user named them.
func (s *sheet) given(columns string, rows [][]string) error {
	at, found := headed(strings.Split(columns, ","))
	if !found || at[timeColumn] < 0 {
		return ErrUnknown
	}
	s.at = at
	return s.arrange(rows)
}

// firstRow finds the first row below the header, and the time column if its name is unknown: Yahoo
// names it "Price", and pandas leaves the name of an index empty.
func (s *sheet) firstRow(rows [][]string) error {
	if s.at[timeColumn] < 0 {
		named := map[int]bool{}
		for _, field := range s.at {
			named[field] = true
		}
		for _, row := range rows[s.begin:] {
			for field, text := range row {
				if _, ok := millisecondsOf(text); ok && !named[field] && s.at[timeColumn] < 0 {
					s.at[timeColumn] = field
				}
			}
		}
	}
	if s.at[timeColumn] < 0 {
		return ErrUnknown
	}
	s.findClock(rows[s.begin:], rows[s.begin-1])
	if volCcy := slices.IndexFunc(rows[s.begin-1], func(name string) bool { return word(name) == "volccy" }); volCcy >= 0 {
		s.chooseVolume(rows[s.begin:], volCcy)
	}
	return s.arrange(rows)
}

// findClock finds a column for the time of day in addition to the date's.
func (s *sheet) findClock(rows [][]string, header []string) {
	for field, name := range header {
		if (word(name) == "time" || word(name) == "date") && len(rows) > 0 && field < len(rows[0]) && len(header) == len(rows[0]) {
			if text := rows[0][field]; strings.Contains(text, ":") && !strings.ContainsAny(text, "-/.T ") {
				s.clock = field
			}
		}
	}
	if s.clock != s.at[timeColumn] || s.clock < 0 {
		return
	}
	for field, name := range header {
		if word(name) == "date" {
			s.at[timeColumn] = field
		}
	}
}

// chooseVolume selects OKX's base volume: vol is in contracts for derivatives and in the base asset
// for spot; volCcy is in the base asset for derivatives and in the quote asset, like volCcyQuote,
// for spot.
func (s *sheet) chooseVolume(rows [][]string, volCcy int) {
	for _, row := range rows {
		if quote := s.at[quoteColumn]; quote >= 0 && field(row, volCcy) != field(row, quote) {
			s.at[volumeColumn] = volCcy
			return
		}
	}
}

// withoutHeader selects the first layout with that number of fields that no row contradicts.
func (s *sheet) withoutHeader(rows [][]string) error {
	for s.begin < min(preamble, len(rows)) {
		if _, ok := millisecondsOf(rows[s.begin][0]); ok {
			break
		}
		s.begin++
	}
	if s.begin >= len(rows) {
		return ErrUnknown
	}
	for _, above := range rows[:s.begin] {
		if len(above) == len(rows[s.begin]) {
			return ErrUnknown // a header of data other than candles
		}
	}
	for _, at := range unheaded[len(rows[s.begin])] {
		s.at, s.clock = at, -1
		if at[openColumn] == 2 {
			s.clock = 1
		}
		if s.plausible(rows[s.begin:]) {
			if len(rows[s.begin]) == okxFields {
				s.chooseVolume(rows[s.begin:], 6)
			}
			return s.arrange(rows)
		}
	}
	return ErrUnknown
}

// plausible reports whether the prices of all rows can be candles and the trade counts are
// integers.
func (s *sheet) plausible(rows [][]string) bool {
	seen := false
	for _, row := range rows {
		if len(row) == 1 && row[0] == "" {
			continue
		}
		if _, ok := s.timeOf(row); !ok {
			return false
		}
		var prices [closeColumn + 1]float64
		for c := openColumn; c <= closeColumn; c++ {
			price, err := strconv.ParseFloat(s.number(row, c), 64)
			if err != nil {
				return false
			}
			prices[c] = price
		}
		low, high := prices[lowColumn], prices[highColumn]
		if low > math.Min(prices[openColumn], prices[closeColumn]) || high < math.Max(prices[openColumn], prices[closeColumn]) {
			return false
		}
		if s.at[tradesColumn] >= 0 {
			if _, err := strconv.ParseInt(s.number(row, tradesColumn), 10, 64); err != nil {
				return false
			}
		}
		seen = true
	}
	return seen
}

// arrange skips the lines before the first time and finds the order of the rows.
func (s *sheet) arrange(rows [][]string) error {
	last := min(len(rows), s.begin+preamble)
	for ; s.begin < last; s.begin++ {
		if _, ok := s.timeOf(rows[s.begin]); ok {
			break
		}
	}
	if s.begin == last {
		return ErrUnknown
	}
	first, _ := s.timeOf(rows[s.begin])
	for _, row := range rows[s.begin+1:] {
		if at, ok := s.timeOf(row); ok && at != first {
			s.newestFirst = at < first
			break
		}
	}
	return nil
}

func (s *sheet) header() string {
	columns := written[:volumeColumn+1]
	for c := quoteColumn; c < columnEnd; c++ {
		if s.at[c] >= 0 {
			columns = append(columns[:len(columns):len(columns)], written[c])
		}
	}
	return strings.Join(columns, ",") + "\n"
}

func field(row []string, at int) string {
	if at < 0 || at >= len(row) {
		return ""
	}
	return row[at]
}

// timeText returns the row's time as written.
func (s *sheet) timeText(row []string) string {
	if s.clock >= 0 {
		return field(row, s.at[timeColumn]) + " " + field(row, s.clock)
	}
	return field(row, s.at[timeColumn])
}

func (s *sheet) timeOf(row []string) (int64, bool) { return millisecondsOf(s.timeText(row)) }

// number returns a field without thousands separators, with a decimal point, and without float
// noise. A count saved as a float loses its ".0", and an absent number is empty.
func (s *sheet) number(row []string, c column) string {
	text := field(row, s.at[c])
	switch strings.ToLower(text) {
	case "null", "nan", "none", "-", "n/a":
		return ""
	}
	if strings.Contains(text, ",") {
		if s.delimiter == ',' || strings.Contains(text, ".") {
			text = strings.ReplaceAll(text, ",", "") // 42,283.58
		} else {
			text = strings.ReplaceAll(text, ",", ".") // 42283,58
		}
	}
	if len(text) > certainDigits {
		text = meant(text)
	}
	if c == tradesColumn {
		if whole, zeros, found := strings.Cut(text, "."); found && strings.Trim(zeros, "0") == "" {
			return whole
		}
	}
	return text
}

// certainDigits is the number of significant decimal digits that an eight-byte float preserves.
const certainDigits = 15

// meant returns the number that a noisy float represents, or the text unchanged. Yahoo's prices are
// four-byte floats, which others widen: 0.083129 becomes 0.08312900364398956; and sums of floats
// end like 3.3000000000000003.
func meant(text string) string {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || significant(text) <= certainDigits {
		return text
	}
	if narrow := float32(number); float64(narrow) == number {
		return strconv.FormatFloat(number, 'f', -1, 32)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(number, 'e', certainDigits-1, 64), 64)
	if short := strconv.FormatFloat(rounded, 'f', -1, 64); err == nil && significant(short) <= certainDigits-3 {
		return short // three or more consecutive zeros before the noise are no coincidence
	}
	return text
}

// significant counts a number's digits from its first to its last nonzero digit.
func significant(text string) int {
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	return len(strings.Trim(strings.NewReplacer(".", "", "-", "", "+", "").Replace(mantissa), "0"))
}
