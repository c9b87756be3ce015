package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"botd/exchange"
)

// table has the symbols of the golden files.
type table map[exchange.SymbolKey]*exchange.Symbol

func (t table) Symbol(key exchange.SymbolKey) (*exchange.Symbol, bool) {
	symbol, found := t[key]
	return symbol, found
}

func testTable(t testing.TB) table {
	t.Helper()
	symbols := table{}
	for _, s := range []struct {
		market                        exchange.Market
		name, priceTick, quantityTick string
	}{
		{exchange.Futures, "BTC-USDT", "0.1", "0.001"}, {exchange.Futures, "PEPE-USDT", "1e-08", "100"},
		{exchange.Spot, "BTC-USDT", "0.1", "0.00001"}, {exchange.Spot, "PEPE-USDT", "1e-08", "1"},
	} {
		base, quote, _ := strings.Cut(s.name, "-")
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{
			Market: s.market, Name: s.name, Base: base, Quote: quote, PriceTick: decimal.RequireFromString(s.priceTick),
			QuantityTick: decimal.RequireFromString(s.quantityTick), MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000),
		})
		if err != nil {
			t.Fatal(err)
		}
		symbols[symbol.Key()] = symbol
	}
	return symbols
}

// price converts a decimal to a symbol's units.
func (t table) price(market exchange.Market, name, text string) exchange.Price {
	p, err := t[exchange.SymbolKey{Market: market, Name: name}].Price(decimal.RequireFromString(text))
	if err != nil {
		panic(err)
	}
	return p
}

func (t table) quantity(market exchange.Market, name, text string) exchange.Quantity {
	q, err := t[exchange.SymbolKey{Market: market, Name: name}].Quantity(decimal.RequireFromString(text))
	if err != nil {
		panic(err)
	}
	return q
}

func golden(t testing.TB, operation exchange.Operation) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", operation.String()+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// goldenRequest is the request that an operation's golden file answers.
func goldenRequest(operation exchange.Operation) *exchange.Request {
	request := &exchange.Request{Operation: operation, Symbol: "BTC-USDT", Interval: exchange.Minute1, OrderID: 42}
	switch operation {
	case exchange.FuturesPlace:
		request.Order = exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopLimit,
			ClientOrderID: "bmain-sfv8g0-1"}
	case exchange.SpotPlace:
		request.Order = exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, ClientOrderID: "bmain-sfv8g0-2"}
	case exchange.SpotCancel:
		request.OrderID = 502
	}
	return request
}

func decode(t testing.TB, request *exchange.Request, status int, body string) (exchange.Answer, error) {
	t.Helper()
	return DecodeAnswer(request, HTTPResponse{Status: status, Body: []byte(body)}, testTable(t))
}

// sameJSON compares documents with numbers as text: 1e-08 is not 0.00000001.
func sameJSON(t *testing.T, want, have []byte) {
	t.Helper()
	read := func(body []byte) (value any) {
		decoder := json.NewDecoder(strings.NewReader(string(body)))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		return value
	}
	if difference := cmp.Diff(read(want), read(have)); difference != "" {
		t.Errorf("want the golden file, have (-want +have):\n%s", difference)
	}
}

func TestAnswersRoundTripUnchanged(t *testing.T) {
	t.Parallel()
	symbols := testTable(t)
	for _, operation := range exchange.Operations() {
		t.Run(operation.String(), func(t *testing.T) {
			t.Parallel()
			body, request := golden(t, operation), goldenRequest(operation)
			wantStatus := 200
			if operation == exchange.FuturesPlace {
				wantStatus = 201
			}
			answer, err := DecodeAnswer(request, HTTPResponse{Status: wantStatus, Body: body}, symbols)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Operation != operation {
				t.Errorf("want operation %s, have %s", operation, answer.Operation)
			}
			status, have, err := EncodeAnswer(&answer, request, symbols)
			if err != nil || status != wantStatus {
				t.Fatalf("want status %d, have %d, %v", wantStatus, status, err)
			}
			sameJSON(t, body, have)
		})
	}
}

func TestGoldenFuturesAnswersAreDecoded(t *testing.T) {
	t.Parallel()
	symbols := testTable(t)
	amount := exchange.MustAmount
	price := func(text string) exchange.Price { return symbols.price(exchange.Futures, "BTC-USDT", text) }
	quantity := func(text string) exchange.Quantity {
		return symbols.quantity(exchange.Futures, "BTC-USDT", text)
	}
	for operation, c := range map[exchange.Operation]struct {
		want any
		have func(exchange.Answer) any
	}{
		exchange.FuturesTime: {int64(1_767_225_600_123), func(a exchange.Answer) any { return a.ServerTimeMS }},
		exchange.FuturesPlace: {exchange.Order{
			ID: 9_007_199_254_740_993, ClientOrderID: "bmain-sfv8g0-1", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
			Type:  exchange.StopLimit,
			Price: price("48000.5"), StopPrice: price("48500"), Quantity: quantity("0.25"), Status: exchange.StatusNew, WorkingType: exchange.MarkPrice,
			ClosePositionID: 77, CreatedMS: 1_767_225_600_000,
		}, func(a exchange.Answer) any { return a.Order }},
		exchange.FuturesOrder: {exchange.Order{
			ID: 42, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: price("49000"),
			Quantity: quantity("1.5"), Filled: quantity("0.7"), Status: exchange.StatusOpen, PostOnly: true, CreatedMS: 1_767_225_599_000,
		}, func(a exchange.Answer) any { return a.Order }},
		exchange.FuturesOpenPositions: {exchange.Position{
			ID: 77, Symbol: "BTC-USDT", Side: exchange.Long, EntryPrice: amount("49500.333333333333333333"), Quantity: quantity("1.5"),
			Remaining: quantity("0.25"),
			Leverage:  10, UnrealizedPNL: amount("125.0001"), RealizedPNL: amount("-4"), Status: exchange.PositionOpen, LastUpdatePrice: amount("50000.05"),
			ClosePrice: amount("49400"), CreatedMS: 1_767_225_000_000, UpdatedMS: 1_767_225_599_000,
		}, func(a exchange.Answer) any { return a.Positions.Items()[0] }},
		exchange.FuturesAccount: {exchange.MarginAccount{
			Status: "NORMAL", MaintenanceMargin: amount("12.5"), WalletBalance: amount("10000.123456789012345678"), MarginUsed: amount("150"),
			OrderMargin: amount("50"), PositionMargin: amount("100"), UnrealizedPNL: amount("-3.25"),
			AvailableBalance: amount("9846.873456789012345678"), IsDemo: true,
		}, func(a exchange.Answer) any { return a.Account }},
		exchange.FuturesCandles: {exchange.Candle{
			OpenMS: 1_767_225_480_000, Open: price("49990"), High: price("50010.5"), Low: price("49980.1"), Close: price("50000"),
			Volume: 12.345, QuoteVolume: 617250.75, Trades: 321, TakerBase: 6.1, TakerQuote: 305000.25,
		}, func(a exchange.Answer) any { return a.Candles.At(0) }},
		exchange.FuturesFundingRate: {exchange.FundingRate{
			Symbol: "BTC-USDT", Rate: -12_359, TimeMS: 1_767_196_800_000, NextMS: 1_767_225_600_000,
		}, func(a exchange.Answer) any { return a.Funding }},
		exchange.FuturesMarginLevels: {exchange.SymbolBracket{Symbol: "BTC-USDT", Bracket: exchange.Bracket{
			Min: amount("250000"), Max: amount("1000000"), MarginRatio: 2_500_000, MarginAmount: amount("3750"), MaxLeverage: 20,
		}}, func(a exchange.Answer) any { return a.Levels.Items()[1] }},
		exchange.FuturesDepth: {exchange.Depth{ID: 7001,
			Bids: []exchange.Level{{Price: price("49999.9"), Quantity: quantity("1.5")}, {Price: price("49999.8"), Quantity: quantity("0.001")}},
			Asks: []exchange.Level{{Price: price("50000"), Quantity: quantity("2")}, {Price: price("50000.1"), Quantity: quantity("0.25")}},
		}, func(a exchange.Answer) any { return a.Depth }},
	} {
		answer, err := DecodeAnswer(goldenRequest(operation), HTTPResponse{Status: 200, Body: golden(t, operation)}, symbols)
		if err != nil {
			t.Fatal(err)
		}
		if difference := cmp.Diff(c.want, c.have(answer), cmp.Comparer(func(a, b exchange.Amount) bool { return a == b })); difference != "" {
			t.Errorf("%s (-want +have):\n%s", operation, difference)
		}
	}
}

func TestGoldenSpotAnswersAreDecoded(t *testing.T) {
	t.Parallel()
	symbols := testTable(t)
	amount := exchange.MustAmount
	price := func(text string) exchange.Price { return symbols.price(exchange.Spot, "BTC-USDT", text) }
	quantity := func(text string) exchange.Quantity { return symbols.quantity(exchange.Spot, "BTC-USDT", text) }
	for operation, c := range map[exchange.Operation]struct {
		want any
		have func(exchange.Answer) any
	}{
		exchange.SpotOrderHistory: {exchange.Order{ // a MARKET order's quantity is USDT
			ID: 504, ClientOrderID: "market", Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder,
			QuoteAmount: amount("100.5"),
			Filled:      quantity("0.00201"), AveragePrice: amount("50000"), Status: exchange.StatusFilled, CreatedMS: 1_767_225_600_126,
		}, func(a exchange.Answer) any { return a.Orders.Items()[0] }},
		exchange.SpotCancel: {exchange.Order{
			ID: 502, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopLimit, Price: price("48000"), StopPrice: price("48100"),
			Quantity: quantity("0.5"), Filled: quantity("0.00001"), AveragePrice: amount("48000.000000000000000001"), Status: exchange.StatusCanceled,
			CreatedMS: 1_767_225_600_124,
		}, func(a exchange.Answer) any { return a.Order }},
		exchange.SpotUserTrades: {exchange.UserTrade{
			ID: 32, Symbol: "BTC-USDT", OrderID: 505, Price: price("50000.1"), Quantity: quantity("0.00001"), Fee: amount("0.000500001"), FeeAsset: "USDT",
			Maker: true, TimeMS: 1_767_225_600_128,
		}, func(a exchange.Answer) any { return a.Fills.Items()[1] }},
		exchange.SpotWallet: {exchange.Balance{Asset: "USDT", Free: amount("9899.5"), Frozen: amount("49.0005")},
			func(a exchange.Answer) any { return a.Balances.Items()[1] }},
		exchange.SpotTicker: {exchange.Ticker{
			Symbol: "BTC-USDT", Last: price("50000.1"), Open: price("50120.6"), High: price("50500"), Low: price("49800.2"), Volume: 1234.56789,
			QuoteVolume: 61728350.5,
			Change:      price("-120.5"), ChangePercent: -0.24, WeightedAverage: amount("50012.345678901234567891"), CloseMS: 1_767_225_600_123,
		}, func(a exchange.Answer) any { return a.Tickers.Items()[0] }},
		exchange.SpotTrades: {exchange.Trade{
			ID: 21, Price: price("50000"), Quantity: quantity("0.00002"), QuoteAmount: amount("1"), TimeMS: 1_767_225_599_001, BuyerIsMaker: true,
		}, func(a exchange.Answer) any { return a.Trades.Items()[0] }},
	} {
		answer, err := DecodeAnswer(goldenRequest(operation), HTTPResponse{Status: 200, Body: golden(t, operation)}, symbols)
		if err != nil {
			t.Fatal(err)
		}
		if difference := cmp.Diff(c.want, c.have(answer), cmp.Comparer(func(a, b exchange.Amount) bool { return a == b })); difference != "" {
			t.Errorf("%s (-want +have):\n%s", operation, difference)
		}
	}
}
