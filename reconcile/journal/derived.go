package journal

import (
	"fmt"
	"strconv"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// tables are the derived tables: what the records say of placements and balances, ready to read. In
// the file they change in the transaction of the record.
type tables interface {
	placement(clientOrderID string) (placementRow, bool, error)
	putPlacement(placementRow) error
	balance(balanceKey) (balance, bool, error)
	putBalance(balance) error
}

// placementRow is a row of the table of placements.
type placementRow struct {
	ClientOrderID string `json:"client_order_id"`
	Sequence      int64  `json:"sequence"` // of its sending record
	Strategy      string `json:"strategy"`
	Market        string `json:"market"`
	Symbol        string `json:"symbol"`
	Purpose       string `json:"purpose"`
	State         string `json:"state"`
	OrderID       int64  `json:"order_id"`
	Filled        int64  `json:"filled"` // in units of the symbol's quantity scale
	SentMS        int64  `json:"sent_ms"`
	EndedMS       int64  `json:"ended_ms"` // 0 if not final
}

func (p placementRow) row() Row {
	return Row{
		"placement",
		p.ClientOrderID,
		fmt.Sprintf("sequence=%d strategy=%s market=%s symbol=%s purpose=%s state=%s order_id=%d filled=%d sent_ms=%d ended_ms=%d",
			p.Sequence, p.Strategy, p.Market, p.Symbol, p.Purpose, p.State, p.OrderID, p.Filled, p.SentMS, p.EndedMS),
	}
}

// balanceKey names an account of the ledger.
type balanceKey struct{ account, strategy, market, symbol, asset string }

// balance is a row of the table of balances.
type balance struct {
	balanceKey
	amount   string // exact
	derived  bool
	sequence int64 // of the record that last changed it
}

func (b balance) row() Row {
	return Row{"balance", fmt.Sprintf("%s strategy=%s market=%s symbol=%s asset=%s", b.account, b.strategy, b.market, b.symbol, b.asset),
		fmt.Sprintf("amount=%s derived=%t sequence=%d", b.amount, b.derived, b.sequence)}
}

// Row is one row of a derived table, its values as text.
type Row struct{ Table, Key, Values string }

// derive changes the derived tables by one record. Appends and verification both use it, so the rows
// in the file and the recomputed ones follow the same rules.
func derive(t tables, sequence int64, r *record.Record) error {
	switch body := r.Body.(type) {
	case record.Sending:
		return derivePlacement(t, sequence, r, &body)
	case record.Acknowledged, record.Uncertain, record.Fill, record.Refused, record.Ended:
		return advancePlacement(t, r)
	case record.Posting:
		return deriveBalances(t, sequence, body.Lines)
	case record.Transfer:
		return deriveBalances(t, sequence, body.Lines())
	}
	return nil
}

func deriveBalances(t tables, sequence int64, lines []ledger.Line) error {
	for _, line := range lines {
		key := balanceKey{line.Account.String(), line.Strategy, line.Symbol.Market.String(), line.Symbol.Name, line.Asset}
		b, known, err := t.balance(key)
		if err != nil {
			return err
		}
		sum := line.Amount
		if known {
			before, err := exchange.ParseAmount(b.amount)
			if err != nil {
				return err
			}
			sum = before.Add(sum)
		}
		if err := t.putBalance(balance{key, sum.String(), b.derived || line.Derived, sequence}); err != nil {
			return err
		}
	}
	return nil
}

func derivePlacement(t tables, sequence int64, r *record.Record, body *record.Sending) error {
	p, known, err := t.placement(r.ClientOrderID)
	if err != nil {
		return err
	}
	if known {
		return fmt.Errorf("client order id %s is journalled already, by record %d", r.ClientOrderID, p.Sequence)
	}
	return t.putPlacement(
		placementRow{
			ClientOrderID: r.ClientOrderID,
			Sequence:      sequence,
			Strategy:      r.Strategy,
			Market:        r.Symbol.Market.String(),
			Symbol:        r.Symbol.Name,
			Purpose:       body.Purpose.String(),
			State:         placement.Sending.String(),
			SentMS:        r.AtMS,
		},
	)
}

func advancePlacement(t tables, r *record.Record) error {
	p, known, err := t.placement(r.ClientOrderID)
	if err != nil || !known {
		return err
	}
	p.advance(r)
	return t.putPlacement(p)
}

// advance applies a record to a placement. The state of a final placement stays; its filled quantity and
// order id can still grow.
func (p *placementRow) advance(r *record.Record) {
	state, ended := p.State, false
	switch body := r.Body.(type) {
	case record.Acknowledged:
		state, p.OrderID = placement.Acknowledged.String(), max(p.OrderID, body.OrderID)
	case record.Uncertain:
		state = placement.Uncertain.String()
	case record.Fill:
		state, p.OrderID, p.Filled = placement.Working.String(), max(p.OrderID, body.OrderID), max(p.Filled, int64(body.Filled))
	case record.Refused:
		state, ended = placement.Refused.String(), true
	case record.Ended:
		state, p.OrderID, p.Filled = body.State.String(), max(p.OrderID, body.OrderID), max(p.Filled, int64(body.Filled))
		ended = true
	}
	if p.EndedMS != 0 {
		return
	}
	if p.State = state; ended {
		p.EndedMS = r.AtMS
	}
}

// memoryTables are derived tables in memory, which verification compares with the file's.
type memoryTables struct {
	placements map[string]placementRow
	balances   map[balanceKey]balance
}

func newMemoryTables() *memoryTables {
	return &memoryTables{map[string]placementRow{}, map[balanceKey]balance{}}
}

func (m *memoryTables) placement(id string) (placementRow, bool, error) {
	p, known := m.placements[id]
	return p, known, nil
}

func (m *memoryTables) putPlacement(p placementRow) error {
	m.placements[p.ClientOrderID] = p
	return nil
}

func (m *memoryTables) balance(key balanceKey) (balance, bool, error) {
	b, known := m.balances[key]
	return b, known, nil
}

func (m *memoryTables) putBalance(b balance) error {
	m.balances[b.balanceKey] = b
	return nil
}

// rows returns every row, unordered.
func (m *memoryTables) rows() map[[2]string]string {
	all := map[[2]string]string{}
	for _, p := range m.placements {
		row := p.row()
		all[[2]string{row.Table, row.Key}] = row.Values
	}
	for _, b := range m.balances {
		row := b.row()
		all[[2]string{row.Table, row.Key}] = row.Values
	}
	return all
}

func sequenceText(sequence int64) string { return strconv.FormatInt(sequence, 10) }
