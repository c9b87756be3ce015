package journal

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// base is the position after which the records in the journal's file begin; earlier ones are sealed in
// segments. Its zero value means that none is sealed.
type base struct {
	Through int64   `json:"through"` // the last sealed record
	Hash    string  `json:"hash"`    // of that record
	Rows    carried `json:"rows"`    // rows that the sealed records leave in the derived tables
}

// sealedBase is the stored form of a base.
type sealedBase struct {
	Base json.RawMessage `json:"base"`
	Code string          `json:"code,omitempty"` // of the journal's key
}

// baseMark is the key of its row in the meta table.
const baseMark = "sealed"

// coder returns the function that computes the codes of bases, or nil without a key.
func (k *Key) coder() func([]byte) string { return k.Coder("journal base") }

func (b *base) text(key *Key) (string, error) {
	text, err := json.Marshal(b)
	if err != nil {
		return "", err
	}
	stored := sealedBase{Base: text}
	if code := key.coder(); code != nil {
		stored.Code = code(text)
	}
	text, err = json.Marshal(stored)
	return string(text), err
}

// readBase reads where the records in the file begin.
func readBase(ctx context.Context, q querier) (*base, error) {
	b, _, err := readSealedBase(ctx, q)
	return b, err
}

func readSealedBase(ctx context.Context, q querier) (*base, *sealedBase, error) {
	var text string
	err := q.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = ?", baseMark).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return &base{}, nil, nil
	}
	var stored sealedBase
	var b base
	if err == nil {
		err = json.Unmarshal([]byte(text), &stored)
	}
	if err == nil {
		err = json.Unmarshal(stored.Base, &b)
	}
	if err == nil && (b.Through < 1 || b.Hash == "") {
		err = fmt.Errorf("record %d", b.Through)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read which records are sealed: %w", err)
	}
	return &b, &stored, nil
}

// carried are the rows of the derived tables that carry over from one segment to the next: balances, and
// placements that have not ended. An ended placement leaves the tables together with its segment.
type carried struct {
	Placements []placementRow   `json:"placements"`
	Balances   []carriedBalance `json:"balances"`
}

// carriedBalance is the serialized form of a balance.
type carriedBalance struct {
	Account  string `json:"account"`
	Strategy string `json:"strategy"`
	Market   string `json:"market"`
	Symbol   string `json:"symbol"`
	Asset    string `json:"asset"`
	Amount   string `json:"amount"`
	Derived  bool   `json:"derived"`
	Sequence int64  `json:"sequence"`
}

func (c *carriedBalance) balance() balance {
	return balance{balanceKey{c.Account, c.Strategy, c.Market, c.Symbol, c.Asset}, c.Amount, c.Derived, c.Sequence}
}

// seal removes ended placements from the tables. It returns the carried rows in a fixed order, and
// the ids of the removed ones.
func (m *memoryTables) seal() (c carried, ended []string) {
	for id, p := range m.placements {
		if p.EndedMS != 0 {
			ended = append(ended, id)
			delete(m.placements, id)
		} else {
			c.Placements = append(c.Placements, p)
		}
	}
	for _, b := range m.balances {
		c.Balances = append(c.Balances, carriedBalance{b.account, b.strategy, b.market, b.symbol, b.asset, b.amount, b.derived, b.sequence})
	}
	slices.Sort(ended)
	slices.SortFunc(c.Placements, func(a, b placementRow) int { return cmp.Compare(a.ClientOrderID, b.ClientOrderID) })
	slices.SortFunc(c.Balances, func(a, b carriedBalance) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Strategy, b.Strategy), cmp.Compare(a.Market, b.Market),
			cmp.Compare(a.Symbol, b.Symbol), cmp.Compare(a.Asset, b.Asset))
	})
	return c, ended
}

// put inserts carried rows into tables.
func (c *carried) put(t tables) error {
	for i := range c.Placements {
		if err := t.putPlacement(c.Placements[i]); err != nil {
			return err
		}
	}
	for i := range c.Balances {
		if err := t.putBalance(c.Balances[i].balance()); err != nil {
			return err
		}
	}
	return nil
}

// equal compares two sets of carried rows.
func (c *carried) equal(other *carried) bool {
	return slices.Equal(c.Placements, other.Placements) && slices.Equal(c.Balances, other.Balances)
}
