package wording

import (
	"fmt"
	"time"

	"botd/exchange"
	"botd/internal/printable"
	"botd/runtime/engine"
)

// market formulates the readings of the exchange, and the state of the journal.
func market(n *engine.Note) Wording {
	switch fact := n.Fact.(type) {
	case engine.NoteRound:
		return debug("reconcile.round", "round     %d intents", fact.Acted).
			with("dur_ms", fact.DurationMS).with("acted", fact.Acted).with("complete", fact.Complete)
	case engine.NoteCandle:
		s := n.Symbol
		return info("market.candle", "candle    %-9s %s  close %s  volume %.6g", s.Name,
			time.UnixMilli(fact.Candle.OpenMS).UTC().Format("15:04"), s.PriceDecimal(fact.Candle.Close), fact.Candle.Volume)
	case engine.NoteGap:
		return warn("market.gap", "candles   %d of %s are missing", fact.Missing, symbol(n)).with("missing", fact.Missing).
			notice("gap", "").count(fact.Missing)
	case engine.NoteStalled:
		return either(fact.Ended,
			warn("market.fresh", "fresh     %s continue", fact.Text),
			bad("market.stale", "STALE     %s: prices are that old, stops stay", fact.Text).notice("frozen", fact.Text))
	case engine.NoteFetchFailed:
		return warn("exchange.unavailable", "exchange  could not read %s", fact.What).
			with("err_kind", exchange.ErrorKind(fact.Err)).with("err", fact.Err).
			notice("fetch_failed", withError(fact.What, fact.Err)).count(fact.Count)
	case engine.NoteStale:
		return warn("exchange.stale", "stale     %s; the larger figure is used", fact.Text).with("count", fact.Count).
			notice("stale", fact.Text).count(fact.Count).on("reconcile")
	case engine.NoteBlind:
		return either(fact.Ended,
			warn("exchange.back", "exchange  %s can be read again: openings continue", fact.Of),
			bad("exchange.blind", "BLIND     %s cannot be read: nothing opens there, stops stay", fact.Of).with("err", fact.Reason).
				notice("blind", fact.Of+": "+fact.Reason))
	case engine.NoteJournal:
		return either(fact.Ended, journalBack(&fact), journalFails(&fact).notice("journal", withError(fact.Reason, fact.Err)).count(fact.Records))
	case engine.NoteUnexplained:
		return bad("ledger.unexplained", "LEDGER    %s", fact.Text).with("asset", fact.Asset).with("amount", fact.Amount.String())
	case engine.NoteTransfer:
		return warn("ledger.transfer", "transfer  %s", fact.Text).with("asset", fact.Asset).with("amount", fact.Amount.String()).
			notice("transfer", fact.Text).on("risk")
	}
	return Wording{}
}

func withError(text string, err error) string {
	if err == nil {
		return text
	}
	return text + ": " + printable.Error(err)
}

// journalFails words that the journal cannot be written, or that its disk is nearly full.
func journalFails(fact *engine.NoteJournal) Wording {
	switch {
	case fact.Err != nil:
		return bad("journal.failed", "JOURNAL   cannot be written, %d records are waiting: %s; stops stay on the exchange", fact.Records, fact.Reason).
			with("records", fact.Records).with("err", fact.Err)
	case fact.Lost:
		return bad("journal.lost", "JOURNAL   %s: nothing opens, exits and the kill switch continue; stop botd, restore, start", fact.Reason)
	}
	return bad("journal.low", "DISK      %s: nothing opens, exits continue", fact.Reason)
}

// journalBack words that the journal can be written again. The rest of the disk may still be
// reserved for exits.
func journalBack(fact *engine.NoteJournal) Wording {
	text, then := "journal   has free space again", ": openings continue"
	if fact.Records > 0 || fact.Reason != "" {
		text = fmt.Sprintf("journal   can be written again, %d records were waiting", fact.Records)
	}
	if fact.Reason != "" {
		then = "; still nothing opens: " + fact.Reason
	}
	return warn("journal.back", "%s%s", text, then).with("records", fact.Records)
}
