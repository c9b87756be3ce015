package foreign

import (
	"slices"
	"strings"
	"unicode"
)

// column is the meaning of a column of a candle file.
type column int

// The columns, in the order of the output.
const (
	timeColumn column = iota
	openColumn
	highColumn
	lowColumn
	closeColumn
	volumeColumn
	quoteColumn
	tradesColumn
	takerBaseColumn
	takerQuoteColumn
	columnEnd
)

// written are package tape's names of the columns.
var written = [columnEnd]string{"open_time_ms", "open", "high", "low", "close", "volume", "quote_volume", "trades", "taker_buy_base", "taker_buy_quote"}

// names lists the names that sources use for each column, in lower case without blanks and signs,
// preferred names first, because a file may have both a number of seconds and a date.
var names = [columnEnd][]string{
	timeColumn: {"opentimems", "opentime", "starttime", "startat", "timestamp", "unix", "unixtimestamp", "unixtime", "ts", "t", "time", "datetime", "date",
		"candlebegintime", "opentimeutc", "gmttime"},
	openColumn:       {"open", "openprice", "o"},
	highColumn:       {"high", "highprice", "h"},
	lowColumn:        {"low", "lowprice", "l"},
	closeColumn:      {"close", "closeprice", "c", "last"},
	volumeColumn:     {"volume", "vol", "v", "basevolume", "volumebase"},
	quoteColumn:      {"quotevolume", "quoteassetvolume", "turnover", "volccyquote", "volquote", "volumequote"},
	tradesColumn:     {"trades", "count", "tradecount", "tradescount", "numberoftrades", "numtrades"},
	takerBaseColumn:  {"takerbuybase", "takerbuyvolume", "takerbuybasevolume", "takerbuybaseassetvolume"},
	takerQuoteColumn: {"takerbuyquote", "takerbuyquotevolume", "takerbuyquoteassetvolume"},
}

// quoteAssets are the assets after which CryptoDataDownload names the quote volume: "Volume USDT".
var quoteAssets = []string{"usd", "usdt", "usdc", "busd", "fdusd", "tusd", "dai", "eur", "gbp", "jpy", "krw"}

// word returns a name without signs and blanks, in lower case.
func word(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// headed maps the names of a header to fields. found is false if it lacks any of the four prices.
func headed(header []string) (at fieldsAt, found bool) {
	at = noFields
	words := make([]string, len(header))
	for i, name := range header {
		words[i] = word(name)
	}
	for c := timeColumn; c < columnEnd; c++ {
		for _, name := range names[c] {
			if i := slices.Index(words, name); i >= 0 {
				at[c] = i
				break
			}
		}
	}
	for i, name := range words {
		asset, volume := strings.CutPrefix(name, "volume")
		switch quoted := slices.Contains(quoteAssets, asset); {
		case !volume || asset == "":
		case quoted && at[quoteColumn] < 0:
			at[quoteColumn] = i
		case !quoted && at[volumeColumn] < 0 && asset != "quote":
			at[volumeColumn] = i
		}
	}
	return at, at[openColumn] >= 0 && at[highColumn] >= 0 && at[lowColumn] >= 0 && at[closeColumn] >= 0
}

// fieldsAt maps each field to its column, counted from 0; -1 for none.
type fieldsAt [columnEnd]int

var noFields = fieldsAt{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// okxFields is the number of fields of OKX's candles.
const okxFields = 9

// unheaded are the layouts without a header, by the number of fields, in the order in which they
// are tried: the first layout that no row contradicts is used.
var unheaded = map[int][]fieldsAt{
	5: {{0, 1, 2, 3, 4, -1, -1, -1, -1, -1}},
	6: {
		{0, 1, 2, 3, 4, 5, -1, -1, -1, -1}, // ccxt, freqtrade
		{0, 3, 2, 1, 4, 5, -1, -1, -1, -1}, // Coinbase: time, low, high, open, close, volume
	},
	7: {
		{0, 1, 2, 3, 4, 5, -1, 6, -1, -1},  // Kraken's OHLCVT files
		{0, 1, 2, 3, 4, 5, 6, -1, -1, -1},  // Bybit's API: the last one is the turnover
		{0, 2, 3, 4, 5, 6, -1, -1, -1, -1}, // MetaTrader: date and time of day apart
	},
	8:         {{0, 1, 2, 3, 4, 6, -1, 7, -1, -1}}, // Kraken's API: vwap before the volume
	okxFields: {{0, 1, 2, 3, 4, 5, 7, -1, -1, -1}}, // OKX's API: vol, volCcy, volCcyQuote, confirm
	12:        {{0, 1, 2, 3, 4, 5, 7, 8, 9, 10}},   // Binance's klines
}
