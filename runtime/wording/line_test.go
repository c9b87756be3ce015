package wording

import (
	"errors"
	"fmt"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/runtime/engine"
	strategies "botd/strategy"
)

// at is 2023-11-14 22:13:20 UTC.
const at = 1_700_000_000_000

// sentence is a note and what a person reads of it.
type sentence struct {
	name string
	fact engine.Fact
	line string
	of   string // level, then kind, topic, count and cause of the notice: "error unprotected/risk: why"
}

// check compares lines, levels and notices of a strategy's notes about a symbol.
func check(t *testing.T, owner string, s *exchange.Symbol, all []sentence) {
	t.Helper()
	for _, c := range all {
		w := Of(&engine.Note{AtMS: at, Strategy: owner, Symbol: s, Fact: c.fact})
		if w.Line != c.line {
			t.Errorf("%s: want the line\n%s, have\n%s", c.name, c.line, w.Line)
		}
		of := string(w.Level)
		if w.Kind != "" {
			of += " " + w.Kind
			if w.Topic != "" {
				of += "/" + w.Topic
			}
			if w.Count != 0 {
				of += fmt.Sprint(" x", w.Count)
			}
			of += ": " + w.Cause
		}
		if w.Ended {
			of += " (over)"
		}
		if of != c.of {
			t.Errorf("%s: want %q, have %q", c.name, c.of, of)
		}
	}
}

// TestWhatAPersonReadsOfAState covers each declared state, at its start and at its end.
func TestWhatAPersonReadsOfAState(t *testing.T) {
	t.Parallel()
	check(t, "", bitcoin, []sentence{
		{"blind", engine.NoteBlind{Of: "the account", Reason: "timeout"},
			"BLIND     the account cannot be read: nothing opens there, stops stay", "error blind: the account: timeout"},
		{"not blind", engine.NoteBlind{Of: "the account", Ended: true},
			"exchange  the account can be read again: openings continue", "warn blind: the account:  (over)"},
		{"frozen", engine.NoteStalled{Text: "BTC-USDT 1m, 8m"}, "STALE     BTC-USDT 1m, 8m: prices are that old, stops stay",
			"error frozen: BTC-USDT 1m, 8m"},
		{"not frozen", engine.NoteStalled{Text: "BTC-USDT 1m", Ended: true}, "fresh     BTC-USDT 1m continue", "warn frozen: BTC-USDT 1m (over)"},
		{"quarantined", engine.NoteQuarantine{Reason: "5 steps more"}, "BLOCKED   BTC-USDT is quarantined: 5 steps more",
			"error quarantine/reconcile: 5 steps more"},
		{"resolved", engine.NoteQuarantine{Ended: true}, "resolved  BTC-USDT trades again", "info quarantine/reconcile:  (over)"},
		{"unprotected", engine.NoteUnprotected{Reason: "-4012 too many"},
			"UNPROTECTED BTC-USDT: -4012 too many; nothing opens there", "error unprotected/risk: -4012 too many"},
		{"protected", engine.NoteUnprotected{Ended: true}, "protected BTC-USDT has its stop again, or has ended", "warn unprotected/risk:  (over)"},
		{"contradicted", engine.NoteContradicted{Reason: "fills say 0.010"},
			"CONTRADICTED BTC-USDT: fills say 0.010; nothing opens, protection stays", "error contradicted/reconcile: fills say 0.010"},
		{"confirmed", engine.NoteContradicted{Ended: true}, "confirmed BTC-USDT: exchange and fills agree again", "info contradicted/reconcile:  (over)"},
		{"foreign", engine.NoteForeign{Reason: "order 9"},
			"FOREIGN   BTC-USDT: order 9; no openings while it exists (foreign: halt)", "warn foreign/reconcile: order 9"},
		{"no longer foreign", engine.NoteForeign{Ended: true}, "clear     BTC-USDT has no foreign orders that open", "info foreign/reconcile:  (over)"},
		{"halted", engine.NoteHalt{Reason: "by a person"}, "HALTED    by a person", "error halt/risk: by a person"},
		{"armed", engine.NoteHalt{Reason: "all is well", Ended: true}, "ARMED     trading continues: all is well", "warn halt/risk: all is well (over)"},
		{"breaker", engine.NoteBreaker{Reason: "5 refusals", PauseMS: 300_000},
			"BREAKER   5 refusals: nothing opens for 300 s; exits and stops continue", "error breaker/risk: 5 refusals"},
		{"breaker's end", engine.NoteBreaker{Ended: true}, "breaker   has ended: openings continue", "warn breaker/risk:  (over)"},
		{"limit set", engine.NoteLimitSet{Rule: "max_orders", Text: "max_orders is 3 until botd rearm"},
			"limit     max_orders is 3 until botd rearm", "warn limit_set/risk: max_orders is 3 until botd rearm"},
		{"as configured", engine.NoteLimitSet{Rule: "max_orders", Text: "max_orders is as configured", Ended: true},
			"limit     max_orders is as configured", "warn limit_set/risk: max_orders is as configured (over)"},
		{"liquidated", engine.NoteLiquidated{Text: "BTC-USDT: 0.010 long"}, "LIQUIDATED BTC-USDT: 0.010 long; no strategy trades it",
			"error liquidation/risk: BTC-USDT: 0.010 long"},
		{"a limit of the account, until a person ends it", engine.NoteLimit{Rule: "max_drawdown", Reason: "12 % of 10 %"},
			"LIMIT     max_drawdown of account: 12 % of 10 %; no entries until botd rearm, exits and stops continue", "error limit/risk: 12 % of 10 %"},
		{"a limit for an hour and a millisecond", engine.NoteLimit{Rule: "daily_loss", Reason: "5 % of 4 %", ForMS: 3_600_001},
			"LIMIT     daily_loss of account: 5 % of 4 %; no entries until 2023-11-14 23:13:20 UTC, exits and stops continue", "error limit/risk: 5 % of 4 %"},
		{"a limit for a millisecond", engine.NoteLimit{Rule: "daily_loss", Reason: "5 % of 4 %", ForMS: 1},
			"LIMIT     daily_loss of account: 5 % of 4 %; no entries until 2023-11-14 22:13:20 UTC, exits and stops continue", "error limit/risk: 5 % of 4 %"},
		{"a limit's end", engine.NoteLimit{Rule: "daily_loss", Reason: "a new day", Ended: true},
			"limit     daily_loss of account no longer blocks entries: a new day", "warn limit/risk: a new day (over)"},
	})
	check(t, "trend", nil, []sentence{
		{"a strategy's limit", engine.NoteLimit{Rule: "max_losses", Reason: "4 of 3"},
			"LIMIT     max_losses of trend: 4 of 3; no entries until botd rearm --strategy trend, exits and stops continue", "error limit/risk: 4 of 3"},
		{"liquidated with it", engine.NoteLiquidated{Text: "BTC-USDT: 0.010 long"}, "LIQUIDATED BTC-USDT: 0.010 long; its strategy is halted",
			"error liquidation/risk: BTC-USDT: 0.010 long"},
		{"its end", engine.NoteLimit{Rule: "max_losses", Reason: "rearmed", Ended: true}, "limit     max_losses of trend no longer blocks entries: rearmed",
			"warn limit/risk: rearmed (over)"},
		{"a symbol without rules", engine.NoteQuarantine{Reason: "an order"},
			"BLOCKED   a symbol whose rules are not known yet is quarantined: an order", "error quarantine/reconcile: an order"},
		{"a quantity without rules", engine.NoteAdopted{Quantity: -12, Evidence: "two snapshots"},
			"adopted   -12 steps a symbol whose rules are not known yet: two snapshots", "warn adopted/reconcile: two snapshots"},
		{"a position without rules", engine.NotePosition{Quantity: 12, EntryPrice: enginetest.Amount(t, "50050")},
			"position  trend a symbol whose rules are not known yet long 12 steps", "info"},
		{"missed ticks", engine.NoteMissed{Count: 3, Reason: "busy"}, "missed    trend: 3 ticks, skipped: busy", "warn missed x3: busy"},
	})
}

func TestWhatAPersonReadsOfTheExchangeAndTheJournal(t *testing.T) {
	t.Parallel()
	full, unavailable := errors.New("no space left on device"), &exchange.Unavailable{Operation: exchange.FuturesPing, Reason: "timeout"}
	check(t, "", bitcoin, []sentence{
		{"a round", engine.NoteRound{Acted: 2}, "round     2 intents", "debug"},
		{"a candle", engine.NoteCandle{Candle: exchange.Candle{OpenMS: at + 3_600_000, Close: enginetest.Price(t, bitcoin, "50000.5"), Volume: 1.25}},
			"candle    BTC-USDT  23:13  close 50000.5  volume 1.25", "info"},
		{"a gap", engine.NoteGap{Missing: 4}, "candles   4 of BTC-USDT are missing", "warn gap x4: "},
		{"a failed read", engine.NoteFetchFailed{What: "futures_ping", Err: unavailable, Count: 2}, "exchange  could not read futures_ping",
			"warn fetch_failed x2: futures_ping: futures_ping unavailable: timeout"},
		{"a failed read without an error", engine.NoteFetchFailed{What: "futures_ping", Count: 1}, "exchange  could not read futures_ping",
			"warn fetch_failed x1: futures_ping"},
		{"an old answer", engine.NoteStale{Count: 2, Text: "fills of order 7"}, "stale     fills of order 7; the larger figure is used",
			"warn stale/reconcile x2: fills of order 7"},
		{"the journal fails", engine.NoteJournal{Err: full, Reason: full.Error(), Records: 3},
			"JOURNAL   cannot be written, 3 records are waiting: no space left on device; stops stay on the exchange",
			"error journal x3: no space left on device: no space left on device"},
		{"the journal is lost", engine.NoteJournal{Reason: "its file was removed", Lost: true},
			"JOURNAL   its file was removed: nothing opens, exits and the kill switch continue; stop botd, restore, start",
			"error journal: its file was removed"},
		{"the disk is nearly full", engine.NoteJournal{Reason: "31 MB free"}, "DISK      31 MB free: nothing opens, exits continue",
			"error journal: 31 MB free"},
		{"the disk has room", engine.NoteJournal{Ended: true}, "journal   has free space again: openings continue", "warn journal:  (over)"},
		{"one record waited", engine.NoteJournal{Ended: true, Records: 1},
			"journal   can be written again, 1 records were waiting: openings continue", "warn journal x1:  (over)"},
		{"it is written, the disk is nearly full", engine.NoteJournal{Ended: true, Reason: "31 MB free"},
			"journal   can be written again, 0 records were waiting; still nothing opens: 31 MB free", "warn journal: 31 MB free (over)"},
		{"a wallet that nothing explains", engine.NoteUnexplained{Asset: "USDT", Text: "12 USDT less"}, "LEDGER    12 USDT less", "error"},
		{"a transfer", engine.NoteTransfer{Asset: "USDT", Text: "500 USDT came in"}, "transfer  500 USDT came in", "warn transfer/risk: 500 USDT came in"},
		{"candles that are late for nobody", engine.NoteMissed{Count: 1, Reason: "late"}, "missed    BTC-USDT: 1 ticks, skipped: late", "warn missed x1: late"},
	})
}

func TestWhatAPersonReadsOfAnOrder(t *testing.T) {
	t.Parallel()
	buy := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}
	limit, stop, spend := buy, buy, buy
	limit.Type, limit.Price, limit.ReduceOnly, limit.Side = exchange.Limit, enginetest.Price(t, bitcoin, "51000.5"), true, exchange.Sell
	stop.Type, stop.StopPrice, stop.Quantity, stop.ClosePosition = exchange.StopMarket, enginetest.Price(t, bitcoin, "48000"), 0, true
	spend.Quantity, spend.QuoteAmount = 0, enginetest.Amount(t, "250.5")
	entry := engine.NoteOrder{Purpose: placement.Entry, ClientOrderID: "bmain-1", OrderID: 7, Order: buy}
	derived := func(purpose placement.Purpose, order exchange.NewOrder) engine.NoteIntent {
		return engine.NoteIntent{Intent: &reconcile.Intent{Purpose: purpose, Order: order, OrderID: 7, Leverage: 5}}
	}
	mean := enginetest.Amount(t, "50050.26")
	check(t, "trend", bitcoin, []sentence{
		{"a market entry", derived(placement.Entry, buy), "intent    trend entry: BUY MARKET 0.01 BTC-USDT", "info"},
		{"an exit at a price", derived(placement.ExitOrder, limit), "intent    trend exit_order: SELL LIMIT 0.01 BTC-USDT at 51000.5 reduceOnly", "info"},
		{"a stop", derived(placement.StopLoss, stop), "intent    trend stop_loss: BUY STOP_MARKET of the whole position BTC-USDT stop 48000", "info"},
		{"a purchase for money", derived(placement.Entry, spend), "intent    trend entry: BUY MARKET for 250.5 USDT BTC-USDT", "info"},
		{"a cancel", derived(placement.Cancel, buy), "intent    trend cancel order 7", "info"},
		{"a leverage", derived(placement.Leverage, buy), "intent    trend set leverage 5 on BTC-USDT", "info"},
		{"approved", engine.NoteApproved{Intent: &reconcile.Intent{Purpose: placement.Exit}}, "risk      approved trend exit", "info"},
		{"refused by a rule", engine.NoteRejection{Intent: &reconcile.Intent{Purpose: placement.Entry}, Rejection: &risk.Rejection{Rule: "max_orders"}},
			"risk      REFUSED trend entry by max_orders", "warn"},
		{"placed", engine.NotePlaced{NoteOrder: entry}, "placed    trend entry: BUY MARKET 0.01 BTC-USDT as bmain-1", "info"},
		{"acknowledged", engine.NoteAcknowledged{NoteOrder: entry}, "ack       bmain-1 is order 7", "info"},
		{"refused by the exchange", engine.NoteRefused{NoteOrder: entry, Reason: "-2019 margin"}, "refused   bmain-1 by the exchange: -2019 margin", "warn"},
		{"uncertain", engine.NoteUncertain{NoteOrder: entry, Reason: "timeout"},
			"UNCERTAIN bmain-1: timeout; it is not sent again, its outcome is fetched", "warn"},
		{"a fill", engine.NoteFill{NoteOrder: entry, Quantity: 4, Price: mean}, "fill      trend BUY 0.004 BTC-USDT at 50050.3", "info"},
		{"a fill without a price", engine.NoteFill{NoteOrder: entry, Quantity: 4}, "fill      trend BUY 0.004 BTC-USDT", "info"},
		{"filled", engine.NoteSettled{NoteOrder: entry, State: placement.Filled, Filled: 10}, "settled   bmain-1 filled", "info"},
		{"canceled after a step", engine.NoteSettled{NoteOrder: entry, State: placement.Canceled, Filled: 1},
			"settled   bmain-1 canceled, after 0.001 was filled", "info"},
		{"canceled without a fill", engine.NoteSettled{NoteOrder: entry, State: placement.Canceled}, "settled   bmain-1 canceled", "info"},
		{"found", engine.NoteFound{NoteOrder: entry, Evidence: "its id is botd's"}, "FOUND     order 7: its id is botd's",
			"error found/reconcile: its id is botd's"},
		{"entries that the exchange refuses", engine.NoteIntentRefused{Purpose: placement.Entry, Reason: "entry: -2019"}, "REFUSED   trend: entry: -2019",
			"warn refused/risk: entry: -2019"},
		{"exits that the exchange refuses", engine.NoteIntentRefused{Purpose: placement.Exit, Reason: "exit: -2022"}, "REFUSED   trend: exit: -2022",
			"error refused/risk: exit: -2022"},
		{"no longer refused", engine.NoteIntentRefused{Purpose: placement.Exit, Reason: "exit", Ended: true},
			"accepted  trend: the exit is no longer refused, or no longer derived", "warn refused/risk: exit (over)"},
	})
	check(t, "trend", nil, []sentence{
		{"a stop whose symbol has no rules", derived(placement.StopLoss, stop), "intent    trend stop_loss: BUY STOP_MARKET of the whole position BTC-USDT",
			"info"},
		{"an order whose symbol has no rules", derived(placement.ExitOrder, limit), "intent    trend exit_order: SELL LIMIT 10 steps BTC-USDT reduceOnly",
			"info"},
		{"canceled, without rules", engine.NoteSettled{NoteOrder: entry, State: placement.Canceled, Filled: 1}, "settled   bmain-1 canceled", "info"},
	})
}

func TestWhatAPersonReadsOfAStrategy(t *testing.T) {
	t.Parallel()
	decided := func(plan strategies.Plan) engine.NoteDecision {
		return engine.NoteDecision{Plan: &plan, Reason: "crossed"}
	}
	entry := enginetest.Amount(t, "50050.26")
	check(t, "trend", bitcoin, []sentence{
		{"asked", engine.NoteTick{Reason: "a candle closed"}, "tick      trend: a candle closed", "debug"},
		{"two orders", decided(strategies.Plan{OrdersSet: true, Orders: make([]strategies.DesiredOrder, 2)}),
			"decision  trend targets 2 orders in the book: crossed", "info"},
		{"flat", decided(strategies.Plan{Target: strategies.Flat()}), "decision  trend targets no position: crossed", "info"},
		{"a share", decided(strategies.Plan{Target: strategies.Target{Share: 25_000_000}}), "decision  trend targets 25 % of equity in BTC-USDT: crossed",
			"info"},
		{"the smallest share", decided(strategies.Plan{Target: strategies.Target{Share: 1}}),
			"decision  trend targets 0.000001 % of equity in BTC-USDT: crossed", "info"},
		{"money", decided(strategies.Plan{Target: strategies.Target{Quote: enginetest.Amount(t, "250")}}),
			"decision  trend targets 250 USDT of BTC-USDT: crossed", "info"},
		{"short", decided(strategies.Plan{Target: strategies.Target{Quantity: -5}}), "decision  trend targets -0.005 BTC-USDT: crossed", "info"},
		{"long", decided(strategies.Plan{Target: strategies.Target{Quantity: 5}}), "decision  trend targets 0.005 BTC-USDT: crossed", "info"},
		{"failed", engine.NoteStrategyFailed{Reason: "division by zero"}, "FAILED    trend is stopped, its protection stays: division by zero",
			"error strategy_failed: division by zero"},
		{"hung", engine.NoteHung{Reason: "30 s"}, "HUNG      trend does not answer, nothing opens for it, its protection stays: 30 s",
			"error strategy_hung: 30 s"},
		{"answers", engine.NoteHung{Ended: true}, "answers   trend answers again", "warn strategy_hung:  (over)"},
		{"its notice", engine.NoteNotice{Text: "a squeeze"}, "notice    trend: a squeeze", "info strategy_notice: a squeeze"},
		{"after one withheld", engine.NoteNotice{Text: "a squeeze", Before: 1},
			"notice    trend: a squeeze (1 before it were withheld: too many in an hour)", "info strategy_notice: a squeeze"},
		{"withheld", engine.NoteNotice{Text: "a squeeze", Withheld: true}, "notice    trend, withheld: a squeeze", "debug"},
		{"reloaded", engine.NoteReload{Text: "kept"}, "reloaded  trend: kept", "info strategy_reloaded: kept"},
		{"latched", engine.NoteLatch{Side: -1, Reason: "its stop filled"}, "latch     trend latched: no entry until its target has been zero or changed side",
			"info latch x-1: its stop filled"},
		{"released", engine.NoteLatch{Reason: "its target is zero", Ended: true}, "latch     trend latch released", "info latch: its target is zero (over)"},
		{"a signal", engine.NoteSignal{Text: "buy"}, "signal    trend: buy", "info"},
		{"a refused signal", engine.NoteSignal{Text: "buy", Err: errors.New("too\x1b old")}, `signal    trend: refused: too\u001b old`, "warn"},
		{"long position", engine.NotePosition{Quantity: 1, EntryPrice: entry}, "position  trend BTC-USDT long 0.001 at 50050.3", "info"},
		{"short position", engine.NotePosition{Quantity: -1, EntryPrice: entry}, "position  trend BTC-USDT short 0.001 at 50050.3", "info"},
		{"no position", engine.NotePosition{EntryPrice: entry}, "position  trend BTC-USDT flat", "info"},
		{"adopted", engine.NoteAdopted{Quantity: 12, Evidence: "two snapshots"}, "adopted   0.012 BTC-USDT: two snapshots",
			"warn adopted/reconcile: two snapshots"},
		{"ignored", engine.NoteIgnored{Quantity: 12, Evidence: "bought by hand"}, "ignored   0.012 BTC-USDT is left to others: bought by hand",
			"warn ignored/reconcile: bought by hand"},
	})
}

// TestFieldsOfALogLine covers the values that a program reads in addition to the line.
func TestFieldsOfALogLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fact engine.Fact
		want string
	}{
		{engine.NoteFetchFailed{What: "x", Err: &exchange.Unavailable{Operation: exchange.FuturesPing, Reason: "timeout"}},
			"[{err_kind unavailable} {err futures_ping unavailable: timeout}]"},
		{engine.NoteRejection{Intent: &reconcile.Intent{}, Rejection: &risk.Rejection{Rule: "max_orders", Value: "4", Limit: "3", Hint: "raise it"}},
			"[{rule max_orders} {value 4} {limit 3} {hint raise it}]"},
		{engine.NoteSettled{Evidence: "GET", DurationMS: 120}, "[{dur_ms 120} {evidence GET}]"},
		{engine.NoteTransfer{Asset: "USDT", Amount: enginetest.Amount(t, "-12.5")}, "[{asset USDT} {amount -12.5}]"},
		{engine.NoteLimit{Rule: "daily_loss", Reason: "5 % of 4 %"}, "[{rule daily_loss} {cause 5 % of 4 %}]"},
		{engine.NoteUnprotected{ForMS: 1_500, Ended: true}, "[{dur_ms 1500}]"},
	} {
		w := Of(&engine.Note{Symbol: bitcoin, Fact: c.fact})
		if have := fmt.Sprint(w.Fields); have != c.want {
			t.Errorf("%T: want %s, have %s", c.fact, c.want, have)
		}
	}
}
