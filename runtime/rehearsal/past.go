package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/gateway"
	"botd/runtime/view"
	"botd/strategy"
)

// Bounds of the past that is shown.
const (
	pastBefore  = 5 // intervals before the moment whose records are shown
	pastAfter   = 1 // and after it
	pastRecords = 200
	pastPages   = 20 // of candles
)

// happened is one record of the journal near the moment.
type happened struct {
	AtMS int64  `json:"at_ms"`
	Kind string `json:"kind"`
	What string `json:"what"`
}

// Past is the output of botd explain --at.
type Past struct {
	Schema int `json:"schema"`
	view.TickPreview
	Happened []happened `json:"happened"`
}

// At returns a moment by the journal, with the strategy's decision on the candles up to then.
func At(ctx context.Context, config *configs.Config, c *configs.StrategyConfig, symbol *exchange.Symbol, v *gateway.Public, atMS int64) (*Past,
	error) {
	p, err := pastOf(ctx, config, c, symbol, atMS)
	if err != nil {
		return nil, err
	}
	if err := p.decideAgain(ctx, c, symbol, v, atMS); err != nil {
		return nil, err
	}
	return &Past{1, view.TickPreviewOf(&p.preview), p.happened}, nil
}

// OpenPublic connects to the public data of the venue; for a demo that does not run, to a copy.
func OpenPublic(ctx context.Context, config *configs.Config) (*gateway.Public, error) {
	if config.Mode == configs.Demo {
		if _, err := os.Stat(filepath.Join(config.DataDir, string(configs.Demo), gateway.AddressFile)); errors.Is(err, fs.ErrNotExist) {
			v, err := gateway.DemoCopy(config, filepath.Join(config.DataDir, string(configs.Demo)))
			if err != nil {
				return nil, err
			}
			return &gateway.Public{Do: v.Trading.Do, NowMS: v.Clock.ServerNowMS, Symbols: v.Known, Where: v.Where}, nil
		}
	}
	v, _, err := gateway.OpenPublic(ctx, config)
	return v, err
}

// remembered is the journal's view of a moment.
type remembered struct {
	preview  engine.TickPreview
	memory   strategy.Memory
	happened []happened
}

// pastOf replays the journal up to the moment.
func pastOf(ctx context.Context, config *configs.Config, c *configs.StrategyConfig, symbol *exchange.Symbol, atMS int64) (*remembered, error) {
	p := &remembered{happened: []happened{},
		preview: engine.TickPreview{Strategy: c.Name, Kind: c.Kind, Symbol: symbol, Interval: c.Interval, NowMS: atMS}}
	path := filepath.Join(config.DataDir, string(config.Mode), journal.FileName)
	store, err := journal.Read(ctx, path)
	if _, absent := os.Stat(path); errors.Is(absent, fs.ErrNotExist) {
		return nil, failure.New(failure.NoInput, "botd run makes one", "no journal at %s", path)
	}
	if err != nil {
		return nil, journal.Failure(err)
	}
	defer store.Close()
	tracker := reconcile.NewTracker(engineconfig.Bounds(config))
	began := int64(0)
	from, to := atMS-pastBefore*int64(c.Interval), atMS+pastAfter*int64(c.Interval)
	if err := store.Replay(ctx, func(r *record.Record) error {
		if began == 0 {
			began = r.AtMS
		}
		if r.AtMS <= atMS {
			tracker.Apply(r)
		}
		mine := r.Strategy == c.Name || r.Symbol == symbol.Key() || r.Strategy == "" && r.Symbol == exchange.SymbolKey{} && r.ClientOrderID == ""
		if mine && r.AtMS >= from && r.AtMS <= to && r.Kind() != record.KindPosting && len(p.happened) < pastRecords {
			p.happened = append(p.happened, happened{r.AtMS, r.Kind().String(), recordText(r, symbol)})
		}
		return nil
	}); err != nil {
		return nil, failure.New(failure.Data, "botd journal verify reports more", "replay the journal: %w", err)
	}
	if began == 0 || atMS < began {
		return nil, failure.New(failure.Negative, "name a later time", "the journal knows nothing of %s: it begins at %s", second(atMS),
			second(began))
	}
	state, symbolState := tracker.Strategy(c.Name), tracker.Track(symbol.Key())
	p.memory = state.Memory()
	p.preview.InForce, p.preview.Plan, p.preview.Latch, p.preview.Position = *state.Plan().Clone(), *state.Plan().Clone(), state.Latch(), symbolState.Known()
	p.preview.Equity = tracker.Watch("").Day().Equity
	p.preview.Blocks = blocksThen(tracker, c.Name, symbolState, state, atMS)
	return p, nil
}

// second writes a time to the second.
func second(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateTime) }

// recordText returns a record in words, with the symbol's prices and quantities.
func recordText(r *record.Record, symbol *exchange.Symbol) string {
	switch body := r.Body.(type) {
	case record.Sending:
		return orderText(r.ClientOrderID, body.Purpose, &body.Order, symbol)
	case record.Found:
		return orderText(r.ClientOrderID, body.Purpose, &body.Order, symbol)
	case record.Fill:
		return r.ClientOrderID + pastFillText(body.Filled, body.Price, symbol)
	case record.Ended:
		text := r.ClientOrderID + " " + body.State.String() + pastFillText(body.Filled, body.Price, symbol)
		if body.Evidence != "" {
			text += " (" + body.Evidence + ")"
		}
		return text
	case record.Plan:
		desired := view.TickPreviewOf(&engine.TickPreview{Symbol: symbol, Plan: *body.Plan}).Plan
		return view.PlanText(&desired) + view.Because(desired.Reason)
	case record.Priced:
		return "the target is " + symbol.QuantityDecimal(body.Quantity).String()
	}
	return r.Summary()
}

func orderText(clientOrderID string, purpose placement.Purpose, o *exchange.NewOrder, symbol *exchange.Symbol) string {
	text := fmt.Sprintf("%s %s: %s %s %s", clientOrderID, purpose, o.Side, o.Type, symbol.QuantityDecimal(o.Quantity))
	if o.Price != 0 {
		text += " at " + symbol.PriceDecimal(o.Price).String()
	}
	if o.StopPrice != 0 {
		text += " stop " + symbol.PriceDecimal(o.StopPrice).String()
	}
	return text
}

func pastFillText(filled exchange.Quantity, price exchange.Amount, symbol *exchange.Symbol) (text string) {
	if filled != 0 {
		text += ", filled " + symbol.QuantityDecimal(filled).String()
	}
	if !price.IsZero() {
		text += " at " + price.String()
	}
	return text
}

// blocksThen returns the strategy's blocks at the moment, by the journal.
func blocksThen(tracker *reconcile.Tracker, name string, symbol *reconcile.SymbolState, state *account.Strategy, atMS int64) (all []engine.Block) {
	add := func(remedy, format string, values ...any) {
		all = append(all, engine.Block{What: fmt.Sprintf(format, values...), Remedy: remedy})
	}
	for _, h := range tracker.Halts() {
		if h.Scope.Covers(name, symbol.Key()) {
			add("botd rearm", "halted %s at level %s: %s", h.Scope, h.Level, h.Reason)
		}
	}
	if tracker.Breaking(atMS) {
		add("ended by itself "+second(tracker.Breaker().UntilMS), "the breaker was tripped: %s", tracker.Breaker().Reason)
	}
	if symbol.Quarantine() != "" {
		add("botd resolve "+symbol.Key().Name, "quarantined: %s", symbol.Quarantine())
	}
	for _, scope := range []string{"", name} {
		for b := range tracker.Watch(scope).Breaches() {
			if !b.Expired(atMS) {
				add("docs/risk.md", "the limit %s was crossed: %s", b.Rule, b.Reason)
			}
		}
	}
	if state.Latch() != 0 {
		ended := "was ended"
		if held := symbol.Known(); held != 0 && (held > 0) == (state.Latch() > 0) {
			ended = "was being ended"
		}
		add("released when the strategy's target is flat or the other side", "latched: a position of this side %s by something other than its plan", ended)
	}
	for p := range tracker.Live() {
		if p.Symbol() == symbol.Key() && p.State().OutcomeUncertain() {
			add("its outcome was fetched, never guessed", "placement %s was %s", p.ClientOrderID(), p.State())
		}
	}
	return all
}

// decideAgain passes the candles up to the moment to the strategy, as a start at that moment would, and
// requests its decision.
func (p *remembered) decideAgain(ctx context.Context, c *configs.StrategyConfig, symbol *exchange.Symbol, v *gateway.Public, atMS int64) error {
	made, err := engineconfig.Strategy(c, symbol)
	if err != nil {
		return err
	}
	o := &p.preview
	o.Warmup = made.Strategy.Warmup()
	candles, err := candlesUntil(ctx, v, symbol, c.Interval, atMS, o.Warmup+1)
	if err != nil {
		return err
	}
	others, err := othersUntil(ctx, v, made.Strategy, c.Interval, atMS, o.Warmup+1)
	if err != nil {
		return err
	}
	view := strategy.View{NowMS: atMS, Others: others, Symbol: symbol, Interval: c.Interval, Size: made.Size, Leverage: made.Leverage,
		Memory: p.memory, Equity: o.Equity, Position: strategy.Position{Quantity: o.Position}}
	for i := range candles.Len() {
		view.NowMS, view.Last = candles.CloseMS(i), candles.Close[i]
		view.SetHistory(candles, i+1)
		made.Strategy.Candle(&view)
		o.Seen++
		o.Candle, o.CandleMS, o.Last, o.LastMS = view.Candle(), view.NowMS, view.Last, view.NowMS
	}
	view.NowMS, o.NextMS = atMS, atMS
	if conditional, ok := made.Strategy.(strategy.Conditional); ok && o.Seen > 0 {
		o.Conditions = conditional.Conditions(&view)
	}
	if o.Seen < o.Warmup {
		o.Blocks = append(
			o.Blocks,
			engine.Block{What: fmt.Sprintf("the venue reports %d of the %d candles of its warm-up", o.Seen, o.Warmup),
				Remedy: "a moment nearer to now"},
		)
		return nil
	}
	var plan strategy.Plan
	made.Strategy.Decide(&view, &plan)
	o.Changes = !o.Plan.Covers(&plan)
	o.Plan.Merge(&plan)
	return nil
}

// othersUntil reads the candles of the other symbols that a strategy reads.
func othersUntil(ctx context.Context, v *gateway.Public, s strategy.Strategy, interval exchange.Interval, atMS int64, least int) (
	all []strategy.Other, err error) {
	for _, key := range strategy.OthersOf(s) {
		symbol, err := v.Find(key.Market.String(), key.Name)
		if err != nil {
			return nil, err
		}
		candles, err := candlesUntil(ctx, v, symbol, interval, atMS, least)
		if err != nil {
			return nil, err
		}
		all = append(all, strategy.Other{Symbol: symbol, Candles: candles})
	}
	return all, nil
}

// candlesUntil returns the closed candles before a moment, at least the given number if the venue
// has them.
func candlesUntil(ctx context.Context, v *gateway.Public, symbol *exchange.Symbol, interval exchange.Interval, atMS int64,
	least int) (*exchange.Candles, error) {
	all := &exchange.Candles{Interval: interval}
	from := interval.OpenOf(atMS) - int64(least)*int64(interval)
	for range pastPages {
		request := exchange.Request{Operation: exchange.FuturesCandles.On(symbol.Market), Symbol: symbol.Name, Interval: interval,
			StartMS: max(0, from), EndMS: atMS, Limit: exchange.CandlesPage(symbol.Market)}
		answer, err := v.Ask(ctx, request)
		if err != nil {
			return nil, err
		}
		before := all.Len()
		for i := range answer.Candles.Len() {
			candle := answer.Candles.At(i)
			if candle.OpenMS >= from && candle.OpenMS+int64(interval) <= atMS {
				all.Append(candle)
				from = candle.OpenMS + int64(interval)
			}
		}
		if all.Len() == before || from+int64(interval) > atMS {
			break
		}
	}
	return all, nil
}
