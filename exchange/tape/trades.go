package tape

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// tradeColumns are the names of the columns of trades in files.
var tradeColumns = struct{ id, price, quantity, time, maker, side []string }{
	[]string{"id", "trade_id", "agg_trade_id"}, []string{"price"}, []string{"qty", "quantity", "size", "amount"},
	[]string{"time_ms", "time", "timestamp", "transact_time"}, []string{"is_buyer_maker"}, []string{"side"},
}

const expectedTrades = "expected a header with id, price, qty, time_ms, and side (buy, sell) or is_buyer_maker"

// AreTrades reports whether a file's header describes trades.
func AreTrades(path string) bool {
	file, err := openRows(path)
	if err != nil {
		return false
	}
	defer file.close()
	_, found := tradeLayout(file.header)
	return found
}

// tradeLayout finds the columns, in the order id, price, quantity, time, maker, side; -1 for none.
func tradeLayout(header []string) (at [6]int, found bool) {
	c := &tradeColumns
	for i, names := range [...][]string{c.id, c.price, c.quantity, c.time, c.maker, c.side} {
		at[i] = slices.IndexFunc(header, func(name string) bool { return slices.Contains(names, strings.ToLower(strings.TrimSpace(name))) })
	}
	return at, at[0] >= 0 && at[1] >= 0 && at[2] >= 0 && at[3] >= 0 && (at[4] >= 0 || at[5] >= 0)
}

// binanceTrades returns the names of the columns of Binance's files of spot trades and aggregated
// trades, which have no header: https://github.com/binance/binance-public-data. It returns none for
// other rows.
func binanceTrades(first []string) []string {
	for _, word := range first[max(0, len(first)-2):] {
		if !strings.EqualFold(word, "true") && !strings.EqualFold(word, "false") {
			return nil
		}
	}
	switch len(first) {
	case 7:
		return []string{"id", "price", "qty", "quote_qty", "time", "is_buyer_maker", "is_best_match"}
	case 8:
		return []string{"agg_trade_id", "price", "quantity", "first_trade_id", "last_trade_id", "transact_time", "is_buyer_maker", "is_best_match"}
	}
	return nil
}

// ofMicroseconds returns a trade's time in milliseconds: Binance's files of spot trades have microseconds from 2025 on.
func ofMicroseconds(text string) string {
	if us, err := strconv.ParseInt(text, 10, 64); err == nil && us >= 1000*earliestMS && us < 1000*latestMS {
		return strconv.FormatInt(us/1000, 10)
	}
	return text
}

// LoadTrades reads recorded trades, CSV or Parquet, in order of id and time. Prices are in the
// symbol's units; quantities are rounded down to them.
func LoadTrades(path string, symbol *exchange.Symbol) (*exchange.Trades, error) {
	trades, beforeID, beforeMS := &exchange.Trades{}, int64(math.MinInt64), int64(math.MinInt64)
	err := rowsOf(path, func(line int, header, fields []string) error {
		at, found := tradeLayout(header)
		if !found {
			return &DataError{Path: path, Line: 1, What: "the columns are " + strings.Join(header, ","), Hint: expectedTrades}
		}
		wrong := func(column int, what string) error {
			return &DataError{Path: path, Line: line, Column: header[at[column]], What: fmt.Sprintf("%q %s", fields[at[column]], what)}
		}
		id, err := strconv.ParseInt(fields[at[0]], 10, 64)
		if err != nil || id <= beforeID {
			return wrong(0, "is not a number above the previous id")
		}
		timeMS, err := timeOf(path, line, ofMicroseconds(fields[at[3]]), beforeMS, true)
		if err != nil {
			return err
		}
		price, err := decimal.NewFromString(fields[at[1]])
		if err != nil || price.Sign() <= 0 {
			return wrong(1, "is not a price")
		}
		units, err := symbol.Price(price)
		if err != nil {
			return wrong(1, "has more decimal places than the symbol")
		}
		quantity, err := strconv.ParseFloat(fields[at[2]], 64)
		if err != nil || !(quantity >= 0) || math.IsInf(quantity, 0) { // NaN is not a quantity
			return wrong(2, "is not a quantity")
		}
		sold, known := sellerTook(fields, at)
		if !known {
			column := 4
			if at[4] < 0 {
				column = 5
			}
			return wrong(column, "is neither buy nor sell")
		}
		beforeID, beforeMS = id, timeMS
		trades.TimeMS, trades.Price = append(trades.TimeMS, timeMS), append(trades.Price, units)
		trades.Quantity = append(trades.Quantity, exchange.Quantity(math.Round(quantity/symbol.QuantityFloat(1)*1e6)/1e6))
		trades.Sold = append(trades.Sold, sold)
		return nil
	})
	if err == nil && trades.Len() == 0 {
		err = &DataError{Path: path, What: "no trades", Hint: expectedTrades}
	}
	return trades, err
}

// sellerTook reports whether the seller was the taker: the buyer's order was in the order book.
func sellerTook(fields []string, at [6]int) (sold, known bool) {
	if at[4] >= 0 {
		switch strings.ToLower(fields[at[4]]) {
		case "true", "1":
			return true, true
		case "false", "0":
			return false, true
		}
		return false, false
	}
	switch strings.ToLower(fields[at[5]]) {
	case "sell", "s":
		return true, true
	case "buy", "b":
		return false, true
	}
	return false, false
}
