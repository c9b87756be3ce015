package journal

import (
	"fmt"
	"strconv"

	"botd/exchange"
	"botd/reconcile"
)

// tables are the derived tables, as an implementation keeps them: what the
// records say, ready to read. They change in the transaction of their record.
type tables interface {
	placement(clientOrderID string) (placement, bool, error)
	putPlacement(placement) error
	balance(balanceKey) (balance, bool, error)
	putBalance(balance) error
}

// placement is a row of the table of placements.
type placement struct {
	ClientOrderID string
	Sequence      int64 // of its sending record
	Strategy      string
	Market        string
	Symbol        string
	Purpose       string
	State         string
	OrderID       int64
	Filled        int64 // in units of the symbol's quantity scale
	SentMS        int64
	EndedMS       int64 // 0 while it is not final
}

func (p placement) row() Row {
	return Row{"placement", p.ClientOrderID, fmt.Sprintf("sequence=%d strategy=%s market=%s symbol=%s purpose=%s state=%s order_id=%d filled=%d sent_ms=%d ended_ms=%d",
		p.Sequence, p.Strategy, p.Market, p.Symbol, p.Purpose, p.State, p.OrderID, p.Filled, p.SentMS, p.EndedMS)}
}

// balanceKey names an account of the ledger.
type balanceKey struct{ account, strategy, market, symbol, asset string }

// balance is a row of the table of balances.
type balance struct {
	balanceKey
	amount   string // exact
	derived  bool
	sequence int64 // of the last entry
}

func (b balance) row() Row {
	return Row{"balance", fmt.Sprintf("%s strategy=%s market=%s symbol=%s asset=%s", b.account, b.strategy, b.market, b.symbol, b.asset),
		fmt.Sprintf("amount=%s derived=%t sequence=%d", b.amount, b.derived, b.sequence)}
}

// Row is one row of a derived table, its values as text.
type Row struct{ Table, Key, Values string }

// derive changes the derived tables by one record. Every implementation of a
// journal and its verification go through here.
func derive(t tables, sequence int64, r *reconcile.Record) error {
	switch r.Kind {
	case reconcile.RecordSending, reconcile.RecordAcknowledged, reconcile.RecordUnknown, reconcile.RecordFill, reconcile.RecordRefused, reconcile.RecordEnded:
		return derivePlacement(t, sequence, r)
	case reconcile.RecordEntry:
		return deriveBalances(t, sequence, r)
	}
	return nil
}

func deriveBalances(t tables, sequence int64, r *reconcile.Record) error {
	if r.Entry == nil {
		return nil
	}
	for _, line := range r.Entry.Lines {
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

func derivePlacement(t tables, sequence int64, r *reconcile.Record) error {
	p, known, err := t.placement(r.ClientOrderID)
	if err != nil {
		return err
	}
	if r.Kind == reconcile.RecordSending {
		if known {
			return fmt.Errorf("client order id %s is journalled already, by record %d", r.ClientOrderID, p.Sequence)
		}
		return t.putPlacement(placement{ClientOrderID: r.ClientOrderID, Sequence: sequence, Strategy: r.Strategy, Market: r.Symbol.Market.String(), Symbol: r.Symbol.Name,
			Purpose: r.Purpose.String(), State: reconcile.Sending.String(), SentMS: r.AtMS})
	}
	if !known {
		return nil
	}
	p.OrderID, p.Filled = max(p.OrderID, r.OrderID), max(p.Filled, int64(r.Filled))
	if p.EndedMS == 0 {
		p.advance(r)
	}
	return t.putPlacement(p)
}

// advance takes a record of a placement that is not final yet.
func (p *placement) advance(r *reconcile.Record) {
	switch r.Kind {
	case reconcile.RecordAcknowledged:
		p.State = reconcile.Acknowledged.String()
	case reconcile.RecordUnknown:
		p.State = reconcile.Uncertain.String()
	case reconcile.RecordFill:
		p.State = reconcile.Working.String()
	case reconcile.RecordRefused:
		p.State, p.EndedMS = reconcile.Refused.String(), r.AtMS
	case reconcile.RecordEnded:
		p.State, p.EndedMS = r.State.String(), r.AtMS
	}
}

// memoryTables are derived tables in memory: those of the in-memory journal, and
// what verification compares with.
type memoryTables struct {
	placements map[string]placement
	balances   map[balanceKey]balance
}

func newMemoryTables() *memoryTables {
	return &memoryTables{map[string]placement{}, map[balanceKey]balance{}}
}

func (m *memoryTables) placement(id string) (placement, bool, error) {
	p, known := m.placements[id]
	return p, known, nil
}

func (m *memoryTables) putPlacement(p placement) error {
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

// rows gives every row, in no order.
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
