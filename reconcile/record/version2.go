package record

import (
	"encoding/json"
	"fmt"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/strategy"
)

// record2 is a record in the format of schema 2 and earlier: one structure for all kinds. It is
// frozen, because users keep journals with such records (testdata).
type record2 struct {
	Kind     string             `json:"kind"`
	AtMS     int64              `json:"at_ms"`
	Strategy string             `json:"strategy"`
	Symbol   exchange.SymbolKey `json:"symbol"`

	ClientOrderID string             `json:"client_order_id"`
	OrderID       int64              `json:"order_id"`
	Order         *exchange.NewOrder `json:"order"`
	Purpose       placement.Purpose  `json:"purpose"`
	Key           string             `json:"key"`
	DeadlineMS    int64              `json:"deadline_ms"`
	Before        exchange.Quantity  `json:"before"`
	Reserved      exchange.Amount    `json:"reserved"`
	State         placement.State    `json:"state"`
	Filled        exchange.Quantity  `json:"filled"`
	Price         exchange.Amount    `json:"price"`
	Evidence      string             `json:"evidence"`
	Reason        string             `json:"why"`
	Code          int                `json:"code"`
	Duplicate     bool               `json:"surplus"`

	Epoch    int64                     `json:"epoch"`
	Account  string                    `json:"account"`
	Target   strategy.Target           `json:"target"`
	Resolved exchange.Quantity         `json:"resolved"`
	Latch    int                       `json:"latch"`
	Plan     *strategy.Plan            `json:"plan"`
	Memory   []strategy.MemoryVariable `json:"memory"`
	Hash     string                    `json:"config"`
	Equity   exchange.Amount           `json:"equity"`
	Peak     exchange.Amount           `json:"peak"`
	DayMS    int64                     `json:"day_ms"`
	Markets  string                    `json:"markets"`
	Spot     exchange.Amount           `json:"spot"`
	Level    HaltLevel                 `json:"level"`
	UntilMS  int64                     `json:"until_ms"`
	Rule     string                    `json:"rule"`
	Limit    string                    `json:"limit"`
	By       string                    `json:"by"`
	Result   exchange.Amount           `json:"result"`
	Trip     exchange.Amount           `json:"trip"`
	Wallet   exchange.Amount           `json:"wallet"`
	Losses   int                       `json:"losses"`

	Posting *posting2 `json:"entry"`
	Audit   *Audit    `json:"audit"`
}

type posting2 struct {
	Reading reading2      `json:"reading"`
	Lines   []ledger.Line `json:"lines"`
}

type reading2 struct {
	ledger.Reading
	Instruments []ledger.Instrument `json:"terms"`
	Unstable    bool                `json:"hasty"`
}

func (p *posting2) posting() Posting {
	reading := p.Reading.Reading
	reading.Instruments, reading.Unstable = p.Reading.Instruments, p.Reading.Unstable
	return Posting{ledger.Posting{Reading: reading, Lines: p.Lines}}
}

// decode2 reads a record of version 2 or older.
func (r *Record) decode2(text []byte) error {
	var old record2
	if err := json.Unmarshal(text, &old); err != nil {
		return err
	}
	body, err := old.body()
	*r = Record{old.AtMS, old.Strategy, old.Symbol, old.ClientOrderID, body}
	return err
}

// body returns the payload that corresponds to an old record.
func (r *record2) body() (Body, error) {
	if body := r.orderBody(); body != nil {
		return body, nil
	}
	if body := r.strategyBody(); body != nil {
		return body, nil
	}
	switch r.Kind {
	case "boot":
		return Boot{Epoch: r.Epoch, Account: r.Account}, nil
	case "quarantined":
		return Quarantined{Reason: r.Reason}, nil
	case "adopted":
		return Adopted{Quantity: r.Filled, Evidence: r.Evidence}, nil
	case "ignored":
		return Ignored{r.Filled, r.OrderID, r.Evidence}, nil
	case "day":
		return Day{r.DayMS, r.Equity, r.Peak, r.Markets, r.Spot}, nil
	case "halt":
		return Halt{r.Level, r.Reason}, nil
	case "baseline":
		return Baseline{Quantity: r.Filled}, nil
	case "fees":
		return Fees{Quantity: r.Filled, Evidence: r.Evidence}, nil
	case "breaker":
		return Breaker{r.UntilMS, r.Reason}, nil
	case "breach":
		return Breach{r.Rule, r.Reason, r.UntilMS}, nil
	case "limit":
		return Limit{r.Rule, r.Limit, r.By, r.Reason}, nil
	case "entry":
		if r.Posting != nil {
			return r.Posting.posting(), nil
		}
		return Posting{}, nil
	case "audit":
		if r.Audit != nil {
			return *r.Audit, nil
		}
		return Audit{}, nil
	}
	return nil, fmt.Errorf("unknown journal record %q", r.Kind)
}

// orderBody returns the payload of a record about an order, or nil for another record.
func (r *record2) orderBody() Body {
	switch r.Kind {
	case "sending":
		b := Sending{Purpose: r.Purpose, Key: r.Key, DeadlineMS: r.DeadlineMS, Before: r.Before, Reserved: r.Reserved}
		if r.Order != nil {
			b.Order = *r.Order
		}
		return b
	case "acknowledged":
		return Acknowledged{r.OrderID}
	case "refused":
		return Refused{r.Code, r.Reason}
	case "unknown":
		return Uncertain{r.Reason}
	case "fill":
		return Fill{OrderID: r.OrderID, Filled: r.Filled, Price: r.Price}
	case "ended":
		return Ended{OrderID: r.OrderID, State: r.State, Filled: r.Filled, Price: r.Price, Evidence: r.Evidence}
	case "withdrawn":
		return Withdrawn{r.OrderID, r.Reason}
	case "found":
		b := Found{OrderID: r.OrderID, Purpose: r.Purpose, Key: r.Key, Filled: r.Filled, Duplicate: r.Duplicate, Evidence: r.Evidence}
		if r.Order != nil {
			b.Order = *r.Order
		}
		return b
	}
	return nil
}

// strategyBody returns the payload of a record about a strategy or the configuration, or nil for
// another record.
func (r *record2) strategyBody() Body {
	switch r.Kind {
	case "plan":
		return Plan{r.Plan}
	case "memory":
		return Memory{Entries: r.Memory}
	case "latch":
		return Latch{Side: r.Latch}
	case "resolved":
		return Priced{r.Target, r.Resolved}
	case "config":
		if r.Strategy != "" {
			return Assigned{OnRemove: r.Reason}
		}
		return Config{r.Hash}
	case "result":
		if r.Strategy == "" {
			return Accounted{Wallet: r.Wallet, Losses: r.Losses}
		}
		return Result{r.Equity, r.Result, r.Trip, r.Filled, r.Losses}
	}
	return nil
}
