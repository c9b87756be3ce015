package exchange

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

// TestNamesOfTheInterface lists every value of every enumeration, as the interface and configurations write
// it.
func TestNamesOfTheInterface(t *testing.T) {
	t.Parallel()
	type value interface {
		fmt.Stringer
		encoding.TextMarshaler
	}
	check := func(kind string, want string, value func(n uint8) value, parse func(text string) (any, error)) {
		t.Helper()
		words := strings.Fields(want)
		for i, word := range words {
			v := value(uint8(i + 1))
			text, err := v.MarshalText()
			if v.String() != word || string(text) != word || err != nil {
				t.Errorf("%s %d: want %s, have %s and %s", kind, i+1, word, v, text)
			}
			if parse == nil {
				continue
			}
			if have, err := parse(word); err != nil || have != any(v) {
				t.Errorf("%s %s: want it read back, have %v, %v", kind, word, have, err)
			}
		}
		if have := value(uint8(len(words) + 1)).String(); have != fmt.Sprintf("%s(%d)", kind, len(words)+1) {
			t.Errorf("%s: want no more than %d, have %s", kind, len(words), have)
		}
		if parse == nil {
			return
		}
		for _, wrong := range []string{strings.ToLower(words[0]) + "x", "?"} {
			if have, err := parse(wrong); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("unknown %s %q (known: [%s", kind, wrong, words[0])) {
				t.Errorf("%s %q: want it refused with the known ones, have %v, %v", kind, wrong, have, err)
			}
		}
	}
	check("market", "futures spot", func(n uint8) value { return Market(n) }, func(s string) (any,
		error) {
		var v Market
		err := v.UnmarshalText([]byte(s))
		return v, err
	})
	check("side", "BUY SELL", func(n uint8) value { return Side(n) }, func(s string) (any, error) {
		var v Side
		err := v.UnmarshalText([]byte(s))
		return v,
			err
	})
	check("type", "LIMIT MARKET STOP_LIMIT STOP_MARKET TAKE_PROFIT_LIMIT TAKE_PROFIT_MARKET", func(n uint8) value { return OrderType(n) },
		func(s string) (any, error) { var v OrderType; err := v.UnmarshalText([]byte(s)); return v, err })
	check("workingType", "CONTRACT_PRICE MARK_PRICE", func(n uint8) value { return WorkingType(n) },
		func(s string) (any, error) { var v WorkingType; err := v.UnmarshalText([]byte(s)); return v, err })
	check("status", "CREATED NEW OPEN FILLED CANCELED REJECTED PRE_CANCELED", func(n uint8) value { return OrderStatus(n) },
		func(s string) (any, error) { var v OrderStatus; err := v.UnmarshalText([]byte(s)); return v, err })
	check("side", "LONG SHORT", func(n uint8) value { return PositionSide(n) },
		func(s string) (any, error) { var v PositionSide; err := v.UnmarshalText([]byte(s)); return v, err })
	check("position status", "OPEN CLOSED LIQUIDATED", func(n uint8) value { return PositionStatus(n) }, func(s string) (any,
		error) {
		return ParsePositionStatus(s)
	})
	check("operation", "futures_health futures_ping futures_time futures_symbols futures_tickers futures_ticker futures_depth futures_trades futures_candles "+
		"futures_funding_rate futures_margin_levels futures_symbol_margin_levels futures_place futures_order futures_open_orders futures_cancel "+
		"futures_cancel_all "+
		"futures_leverages futures_set_leverage futures_account futures_open_positions futures_positions_history spot_pairs spot_tickers spot_ticker "+
		"spot_depth "+
		"spot_trades spot_candles spot_place spot_cancel spot_cancel_all spot_open_orders spot_order_history spot_user_trades spot_wallet",
		func(n uint8) value { return Operation(n) }, nil)
	if w, err := ParseWorkingType(""); w != NoWorkingType || err != nil {
		t.Errorf("want no working type of nothing, have %v, %v", w, err)
	}
	var weekly Interval
	if err := weekly.UnmarshalText([]byte("1w")); err != nil || weekly != Week1 || weekly.String() != "1w" || Interval(7).String() != "7ms" {
		t.Errorf("want a week, have %s, %v", weekly, err)
	}
	if _, err := ParseInterval("2h"); err == nil || err.Error() != `unknown interval "2h" (known: 1m, 5m, 15m, 30m, 1h, 4h, 1d, 1w)` {
		t.Errorf("want the known ones, have %v", err)
	}
}

// TestWhatAnOperationDoes lists the operations that are signed, that place, and that change, as the interface
// does.
func TestWhatAnOperationDoes(t *testing.T) {
	t.Parallel()
	public := " futures_health futures_ping futures_time futures_symbols futures_tickers futures_ticker futures_depth futures_trades futures_candles " +
		"futures_funding_rate futures_margin_levels futures_symbol_margin_levels spot_pairs spot_tickers spot_ticker spot_depth spot_trades spot_candles "
	changes := " futures_place futures_cancel futures_cancel_all futures_set_leverage spot_place spot_cancel spot_cancel_all "
	all := Operations()
	for _, o := range all {
		name := o.String()
		spot := strings.HasPrefix(name, "spot_")
		if o.Signed() == strings.Contains(public, " "+name+" ") || o.Changes() != strings.Contains(changes, " "+name+" ") ||
			o.Places() != strings.HasSuffix(name, "_place") || (o.Market() == Spot) != spot || (o.Market() == Futures) == spot {
			t.Errorf("%s: have signed %t, changes %t, places %t, market %s", name, o.Signed(), o.Changes(), o.Places(), o.Market())
		}
	}
	if len(all) != 35 {
		t.Errorf("want 35 operations, have %d", len(all))
	}
}

func TestWhatAnOrderIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind                      OrderType
		conditional, priced, stop bool
	}{{Limit, false, true, false}, {MarketOrder, false, false, false}, {StopLimit, true, true, true}, {StopMarket, true, false, true},
		{TakeProfitLimit, true, true, false}, {TakeProfitMarket, true, false, false}} {
		if c.kind.Conditional() != c.conditional || c.kind.Priced() != c.priced || c.kind.StopLoss() != c.stop {
			t.Errorf("%s: want %+v", c.kind, c)
		}
	}
	for status := StatusCreated; status <= StatusPreCanceled; status++ {
		want := status == StatusFilled || status == StatusCanceled || status == StatusRejected
		if status.Final() != want {
			t.Errorf("%s: want final %t", status, want)
		}
	}
	key := SymbolKey{Spot, "X"}
	for _, c := range []struct {
		sent    NewOrder
		fetched Order
		want    bool
	}{{NewOrder{}, Order{}, false}, {NewOrder{ReduceOnly: true}, Order{ClosePositionID: 3}, true}, {NewOrder{ClosePosition: true}, Order{ClosePosition: true},
		true}} {
		c.sent.Market, c.sent.Symbol, c.fetched.Market, c.fetched.Symbol, c.fetched.Quantity, c.fetched.Filled = Spot, "X", Spot, "X", 10, 3
		if c.sent.Reduces() != c.want || c.fetched.Reduces() != c.want || c.sent.Key() != key || c.fetched.Key() != key || c.fetched.Remaining() != 7 {
			t.Errorf("%+v and %+v: want them to reduce %t", c.sent, c.fetched, c.want)
		}
	}
	if Buy.Sign() != 1 || Sell.Sign() != -1 || Buy.Opposite() != Sell || Sell.Opposite() != Buy || SideOf(3) != Buy || SideOf(-3) != Sell {
		t.Error("want a purchase to add and a sale to subtract")
	}
	if !panics(func() { Side(0).Sign() }) || !panics(func() { SideOf(0) }) {
		t.Error("want no side of nothing")
	}
	long, short := Position{Side: Long, Remaining: 5}, Position{Side: Short, Remaining: 5}
	if long.Signed() != 5 || short.Signed() != -5 {
		t.Errorf("want 5 and -5, have %d and %d", long.Signed(), short.Signed())
	}
	account := MarginAccount{WalletBalance: AmountOf(10), UnrealizedPNL: AmountOf(-3)}
	if account.Equity() != AmountOf(7) {
		t.Errorf("want an equity of 7, have %s", account.Equity())
	}
	btc := &Symbol{Market: Spot, Name: "X"}
	if have, found := FindSymbol([]*Symbol{{Market: Futures, Name: "X"}, {Market: Spot, Name: "Y"}, btc}, Spot, "X"); have != btc || !found {
		t.Errorf("want the spot symbol, have %v", have)
	}
	if _, found := FindSymbol([]*Symbol{btc}, Futures, "X"); found {
		t.Error("want none of futures")
	}
}

// TestWhatAFailureIs covers the refusals of keys and symbols, and each error's text and cause.
func TestWhatAFailureIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, code          int
		unauthorized, unknown bool
	}{{400, -1022, true, false}, {400, -2008, true, false}, {400, -2015, true, false}, {401, 0, true, false}, {403, 0, true, false}, {402, 0, false, false},
		{401, -1021, false, false}, {403, -1021, false, false}, {400, -1021, false, false}, {400, 118, false, true}, {400, 1118, false, true}, {400, 119,
			false, false}} {
		r := &Refusal{Status: c.status, Code: c.code}
		if r.Unauthorized() != c.unauthorized || r.UnknownSymbol() != c.unknown {
			t.Errorf("%d, %d: want %+v, have %t, %t", c.status, c.code, c, r.Unauthorized(), r.UnknownSymbol())
		}
	}
	cause := errors.New("cause")
	for _, c := range []struct {
		err        error
		kind, text string
		wraps      bool
	}{
		{&Refusal{FuturesPlace, 400, -2019, "margin"}, "refusal", "futures_place refused: margin (HTTP 400, code -2019)", false},
		{&Uncertain{"timeout", cause}, "uncertain", "outcome uncertain: timeout", true},
		{&Unavailable{Operation: SpotWallet, Reason: "timeout", Err: cause}, "unavailable", "spot_wallet unavailable: timeout", true},
		{&Malformed{SpotWallet, "no list", cause}, "malformed", "spot_wallet answer malformed: no list", true},
		{&UnreadableRow{Reason: "no id", Raw: "{}"}, "other", "a row cannot be read: no id: {}", false},
	} {
		wrapped := fmt.Errorf("round: %w", c.err)
		if ErrorKind(wrapped) != c.kind || c.err.Error() != c.text || errors.Is(c.err, cause) != c.wraps {
			t.Errorf("want %s, %s, have %s, %s", c.kind, c.text, ErrorKind(wrapped), c.err)
		}
	}
	if ErrorKind(nil) != "" {
		t.Errorf("want no kind of no error, have %s", ErrorKind(nil))
	}
	closed := make(chan struct{})
	close(closed)
	for name, c := range map[string]struct {
		limit SendLimit
		want  bool
	}{"no bound": {SendLimit{}, false}, "open": {SendLimit{Recalled: make(chan struct{})}, false}, "recalled": {SendLimit{Recalled: closed}, true},
		"withdrawn": {SendLimit{Withdrawn: func() bool { return true }}, true}, "not withdrawn": {SendLimit{Withdrawn: func() bool { return false }}, false}} {
		if have := c.limit.IsRecalled(); have != c.want {
			t.Errorf("%s: want %t, have %t", name, c.want, have)
		}
	}
	if (Fetched[int]{}).Done() || !FetchedOf([]int(nil)).Done() {
		t.Error("want an empty list to be fetched, and no list not")
	}
}

func TestWhichCandlesMakeLongerOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to Interval
		want     bool
	}{{Minute1, Minute5, true}, {Minute5, Hour1, true}, {Hour4, Day1, true}, {Minute5, Minute5, false}, {Hour1, Minute5, false}, {0, Hour1, false},
		{-1, Hour1, false}, {Minute5, Minute5 + 1, false}} {
		if err := c.from.CheckBuilds(c.to); (err == nil) != c.want {
			t.Errorf("%s of %s: want %t, have %v", c.to, c.from, c.want, err)
		}
	}
	day := int64(Day1)
	for _, c := range []struct {
		interval Interval
		at, want int64
	}{{Hour1, 0, 0}, {Hour1, 3_599_999, 0}, {Hour1, 3_600_000, 3_600_000}, {Hour1, -1, -3_600_000}, {Week1, 4 * day, 4 * day}, {Week1, 4*day - 1, -3 * day},
		{Week1, 11*day - 1, 4 * day}} {
		if have := c.interval.OpenOf(c.at); have != c.want {
			t.Errorf("%s at %d: want %d, have %d", c.interval, c.at, c.want, have)
		}
	}
	all := Intervals()
	if len(all) != 8 || all[0] != Minute1 || all[7] != Week1 {
		t.Errorf("want eight from a minute to a week, have %v", all)
	}
}

func TestWhichCandleIsPlausible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		open, high, low, close Price
		volume                 float64
		want                   string
	}{
		{5, 7, 4, 6, 0, ""}, {5, 5, 5, 5, 1, ""}, {4, 7, 4, 7, 1, ""}, {7, 7, 4, 4, 1, ""},
		{5, 7, 0, 6, 1, "low 0 is not above zero"}, {5, 7, -1, 6, 1, "low -1 is not above zero"}, {5, 3, 4, 5, 1, "high is below low"},
		{3, 7, 4, 6, 1, "open is outside low..high"}, {8, 7, 4, 6, 1, "open is outside low..high"}, {5, 7, 4, 3, 1, "close is outside low..high"},
		{5, 7, 4, 8, 1, "close is outside low..high"}, {5, 7, 4, 6, -1, "volume -1 is not a number from zero up"},
		{5, 7, 4, 6, math.NaN(), "volume NaN is not a number from zero up"},
	} {
		err := Candle{Open: c.open, High: c.high, Low: c.low, Close: c.close, Volume: c.volume}.Plausible()
		if have := fmt.Sprint(err); err == nil && c.want != "" || err != nil && have != c.want {
			t.Errorf("%+v: want %q, have %v", c, c.want, err)
		}
	}
}

// TestCandlesAreJoinedAndCut covers three candles with every column.
func TestCandlesAreJoinedAndCut(t *testing.T) {
	t.Parallel()
	all := &Candles{Interval: Minute1}
	one := Candle{Open: 5, High: 7, Low: 4, Close: 6, Volume: 1, QuoteVolume: 6, Trades: 2, TakerBase: 0.5, TakerQuote: 3}
	for i := range int64(3) {
		c := one
		c.OpenMS, c.Close = i*60_000, Price(5+i)
		all.Append(c)
	}
	part := all.Slice(1, 3)
	want := one
	want.OpenMS, want.Close = 60_000, 6
	if part.Len() != 2 || part.At(0) != want || part.CloseMS(0) != 120_000 || part.Interval != Minute1 {
		t.Errorf("want two from the second on, have %+v", part)
	}
	first := &Candles{Interval: Minute1}
	first.Append(one)
	if first.At(0) != one {
		t.Errorf("a first candle: have %+v", first.At(0))
	}
	plain := &Candles{Interval: Minute1, OpenMS: []int64{0, 60_000}, Open: []Price{5, 5}, High: []Price{5, 5}, Low: []Price{5, 5}, Close: []Price{5, 6},
		Volume: []float64{1, 2}}
	if have := plain.Slice(1, 2); have.Len() != 1 || have.At(0) != (Candle{OpenMS: 60_000, Open: 5, High: 5, Low: 5, Close: 6,
		Volume: 2}) || have.Trades != nil {
		t.Errorf("without further columns: have %+v", have)
	}
	joined := one
	joined.Join(&Candle{High: 9, Low: 3, Close: 8, Volume: 2, QuoteVolume: 4, Trades: 3, TakerBase: 0.25, TakerQuote: 1})
	if joined != (Candle{Open: 5, High: 9, Low: 3, Close: 8, Volume: 3, QuoteVolume: 10, Trades: 5, TakerBase: 0.75, TakerQuote: 4}) {
		t.Errorf("joined: have %+v", joined)
	}
	merged := &Candles{Interval: Minute5}
	for i := range 3 {
		merged.Merge(all.At(i))
	}
	merged.Merge(Candle{OpenMS: 301_000, Open: 1, High: 1, Low: 1, Close: 1})
	if merged.Len() != 2 || merged.At(0) != (Candle{Open: 5, High: 7, Low: 4, Close: 7, Volume: 3, QuoteVolume: 18, Trades: 6, TakerBase: 1.5,
		TakerQuote: 9}) ||
		merged.At(1).OpenMS != 300_000 {
		t.Errorf("merged: have %+v", merged)
	}
}

// TestTradesMakeCandles covers two trades of a minute, one by a seller, and one two minutes later.
func TestTradesMakeCandles(t *testing.T) {
	t.Parallel()
	s, err := NewSymbol(SymbolSpec{Market: Spot, Name: "X-USDT", PriceTick: decimal.New(1, 0), QuantityTick: decimal.New(1, -1), MaxNotional: decimal.New(1,
		0)})
	if err != nil {
		t.Fatal(err)
	}
	trades := &Trades{TimeMS: []int64{60_000, 119_999, 180_000}, Price: []Price{10e8, 8e8, 9e8}, Quantity: []Quantity{1, 2, 30}, Sold: []bool{false, true,
		false}}
	have := trades.Candles(s, Minute1)
	want := &Candles{Interval: Minute1}
	want.Append(Candle{OpenMS: 60_000, Open: 10e8, High: 10e8, Low: 8e8, Close: 8e8, Volume: 0.3, QuoteVolume: 2.6, Trades: 2, TakerBase: 0.1, TakerQuote: 1})
	want.Append(Candle{OpenMS: 180_000, Open: 9e8, High: 9e8, Low: 9e8, Close: 9e8, Volume: 3, QuoteVolume: 27, Trades: 1, TakerBase: 3, TakerQuote: 27})
	if trades.Len() != 3 || !reflect.DeepEqual(have, want) {
		t.Errorf("want\n%+v, have\n%+v", want, have)
	}
}
