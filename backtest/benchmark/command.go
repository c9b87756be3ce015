package benchmark

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
)

const benchStrategy = `name: bench
strategy: sma_cross
market: futures
symbol: BTC-USDT
interval: 1m
leverage: 3
size: {quote: 5000}
params: {fast: 500, slow: 2000, mode: long_short}
`

// oftenStrategy has a fill every 20 candles.
const oftenStrategy = `name: often
strategy: sma_cross
market: futures
symbol: BTC-USDT
interval: 1m
leverage: 3
size: {quote: 100}
params: {fast: 10, slow: 50, mode: long_short}
`

// Plain is the backtest that a person would write in an hour: it reads lines, splits them, parses floats, and loops.
func Plain(path string) (fills int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // the header
	var (
		times                               []int64
		opens, highs, lows, closes, volumes []float64
	)
	columns := []*[]float64{&opens, &highs, &lows, &closes, &volumes}
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		at, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return 0, err
		}
		times = append(times, at)
		for i, column := range columns {
			value, err := strconv.ParseFloat(fields[i+1], 64)
			if err != nil {
				return 0, err
			}
			*column = append(*column, value)
		}
	}
	fills, _ = plainBacktest(opens, closes, 500, 2000)
	if len(times) != len(closes) {
		return 0, fmt.Errorf("%d times, %d prices", len(times), len(closes))
	}
	return fills, lines.Err()
}

// Read reads a file of candles as a backtest does, and returns their number.
func Read(path string) (candles int, err error) {
	defer backtest.CollectOften(0)()
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	recorded, err := tape.LoadCandles(path, symbol, 0, tape.Options{})
	if err != nil {
		return 0, err
	}
	return recorded.Candles.Len(), nil
}

const benchBegin, benchEnd = "<!-- botd bench: begin -->\n", "<!-- botd bench: end -->\n"
