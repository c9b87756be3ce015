package api

import (
	"fmt"
	"strings"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/runtime/engine"
)

// TransferRequest is money that came into a wallet from outside, or went out.
type TransferRequest struct {
	Market   string `json:"market"`             // futures | spot
	Asset    string `json:"asset"`              // USDT, or the base asset of a spot strategy
	Amount   string `json:"amount"`             // negative for a withdrawal
	Note     string `json:"note,omitempty"`     // a note that the journal stores
	Strategy string `json:"strategy,omitempty"` // on futures, the strategy whose result included it, if several trade
	DryRun   bool   `json:"dry_run,omitempty"`
}

const (
	wantTransfer = `want {"market": "futures"|"spot", "asset": "USDT", "amount": "-100"}, note, strategy, dry_run to see what it would change`
	maxNote      = 500
)

func (s *Server) transfer(r *request, body *TransferRequest) (Change, error) {
	r.dryRun = r.dryRun || body.DryRun
	event := &engine.EventTransfer{Strategy: body.Strategy, Transfer: ledger.Transfer{Asset: body.Asset, Note: strings.TrimSpace(body.Note)}}
	amount, wrong := exchange.ParseAmount(body.Amount)
	if event.Transfer.Market.UnmarshalText([]byte(body.Market)) != nil || wrong != nil || body.Asset == "" || len(body.Note) > maxNote {
		return Change{}, badBody(wantTransfer)
	}
	event.Transfer.Amount = amount
	var lines []string
	var refused error
	if err := s.controls.query(r, func() { lines, refused = s.config.Engine.PreviewTransfer(event) }); err != nil {
		return Change{}, err
	}
	if refused != nil {
		return Change{}, notPossible(refused.Error())
	}
	detail := fmt.Sprintf("%s %s", amount, body.Asset)
	if event.Transfer.Note != "" {
		detail += ": " + event.Transfer.Note
	}
	return s.controls.do(r, r.audited("ledger "+body.Market, detail, event), lines...)
}
