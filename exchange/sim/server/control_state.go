package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
)

const (
	statePath = "/control/v1/state"
	maxState  = 256 << 20 // bytes of a snapshot that is posted
)

// errFixed is the error for an exchange that cannot be replaced.
var errFixed = errors.New("the exchange cannot be replaced: it was not started by botd exchange, or it stores its state in a file")

// stateRecord is a snapshot of the clock, accounts, orders, positions and prices.
type stateRecord struct {
	TimeMS     int64           `json:"time"`
	Exchange   json.RawMessage `json:"exchange"`
	Accounts   []accountRecord `json:"accounts,omitempty"` // accounts opened through the control interface
	Delisted   []symbolRecord  `json:"delisted,omitempty"`
	Placements int             `json:"placements,omitempty"` // counted by variants
}

type accountRecord struct {
	Key      string `json:"key"`
	Secret   string `json:"secret"`
	ReadOnly bool   `json:"read_only,omitempty"`
}

type symbolRecord struct {
	Market exchange.Market `json:"market"`
	Symbol string          `json:"symbol"`
}

// snapshot answers with the state.
func (s *Server) snapshot() reply {
	var record stateRecord
	var failed error
	err := s.locked(func() {
		record.TimeMS = s.exchange.NowMS()
		record.Exchange, failed = s.exchange.Snapshot()
		record.Placements = s.variants.placements
		for _, key := range slices.Sorted(maps.Keys(s.accounts)) {
			if account := s.accounts[key]; s.configured[key] == nil {
				record.Accounts = append(record.Accounts, accountRecord(*account))
			}
		}
		for key := range s.delisted {
			record.Delisted = append(record.Delisted, symbolRecord{key.Market, key.Name})
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return s.failed(err)
	}
	return success(record)
}

// restoreSnapshot replaces the state with a snapshot. A manual clock is set to the snapshot's time.
func (s *Server) restoreSnapshot(record *stateRecord) reply {
	if len(record.Exchange) == 0 {
		return badControl("exchange is missing: send what GET %s answered", statePath)
	}
	return s.replace(*record)
}

// reset returns the exchange to its initial state, without faults and requests.
func (s *Server) reset() reply {
	p := s.replace(stateRecord{})
	if p.status == 200 {
		s.faults.clear()
		s.requests.clear()
	}
	return p
}

// replace rebuilds the exchange from a snapshot or from scratch, with the initial accounts and
// those of the snapshot.
func (s *Server) replace(record stateRecord) reply {
	return s.change(func() error {
		if s.build == nil || s.state.path != "" {
			return errFixed
		}
		accounts, delisted := maps.Clone(s.configured), map[exchange.SymbolKey]bool{}
		for _, one := range record.Accounts {
			account := Account(one)
			if account.Key == "" || account.Secret == "" {
				return errors.New("accounts: a key or a secret is missing")
			}
			if accounts[account.Key] == nil {
				accounts[account.Key] = &account
			}
		}
		for _, one := range record.Delisted {
			key := exchange.SymbolKey{Market: one.Market, Name: one.Symbol}
			if s.symbols[key] == nil {
				return fmt.Errorf("delisted: symbol %q of market %q is unknown", one.Symbol, one.Market)
			}
			delisted[key] = true
		}
		x, err := s.build(record.Exchange)
		if err != nil {
			return err
		}
		if x.NowMS() <= 0 {
			return fmt.Errorf("exchange has no time: send what GET %s answered", statePath)
		}
		for key := range accounts {
			if err := s.open(x, key); err != nil {
				return err
			}
		}
		s.controlChanges += s.exchange.Version() // counters never go back
		s.exchange, s.delisted = x, delisted
		s.variants.forget(record.Placements)
		s.setAccounts(accounts)
		clear(s.hidden)
		if s.clock.manual {
			s.clock.move(x.NowMS())
		}
		x.Advance(s.clock.nowMS())
		return nil
	})
}

// setAccounts replaces the keys that may use the exchange.
func (s *Server) setAccounts(accounts map[string]*Account) {
	s.accountsMu.Lock()
	defer s.accountsMu.Unlock()
	s.accounts = accounts
}

// open opens an account that the exchange lacks.
func (s *Server) open(x *sim.Exchange, key string) error {
	if hasAccount(x, key) {
		return nil
	}
	return x.AddAccount(s.newAccount(key))
}

func hasAccount(x *sim.Exchange, key string) bool {
	_, err := x.Do(key, &exchange.Request{Operation: exchange.FuturesLeverages})
	var refusal *exchange.Refusal
	return !errors.As(err, &refusal) || refusal.Code != exchange.CodeUnknownKey
}

type depositRequest struct {
	Account string           `json:"account"`
	Market  exchange.Market  `json:"market"`
	Asset   string           `json:"asset"`
	Amount  *decimal.Decimal `json:"amount"`
}

// deposit moves money into a wallet, or out of it when the amount is negative.
func (s *Server) deposit(request *depositRequest) reply {
	if request.Asset == "" {
		request.Asset = "USDT"
	}
	if request.Amount == nil || request.Amount.IsZero() {
		return badControl("amount is missing")
	}
	amount, err := exchange.AmountRounded(*request.Amount)
	if err != nil {
		return badControl("amount: %v", err)
	}
	return s.change(func() error { return s.exchange.Transfer(request.Account, request.Market, request.Asset, amount) })
}

type accountRequest struct {
	Key      string                     `json:"key"`
	Secret   string                     `json:"secret"`
	ReadOnly bool                       `json:"read_only"`
	Futures  *decimal.Decimal           `json:"futures"` // USDT
	Spot     map[string]decimal.Decimal `json:"spot"`
}

// addAccount opens an account. Its default deposits are those of --account; an account in the state
// file keeps its balances.
func (s *Server) addAccount(request *accountRequest) reply {
	if request.Key == "" || request.Secret == "" {
		return badControl("key or secret is missing")
	}
	return s.change(func() error {
		if s.accounts[request.Key] != nil {
			return fmt.Errorf("account %.40q already exists", request.Key)
		}
		account := s.newAccount(request.Key)
		if err := fund(&account, request.Futures, request.Spot); err != nil {
			return err
		}
		if !hasAccount(s.exchange, request.Key) {
			if err := s.exchange.AddAccount(account); err != nil {
				return err
			}
		}
		accounts := maps.Clone(s.accounts)
		accounts[request.Key] = &Account{Key: request.Key, Secret: request.Secret, ReadOnly: request.ReadOnly}
		s.setAccounts(accounts)
		return nil
	})
}

// fund replaces an account's initial deposits with the given ones.
func fund(account *sim.AccountConfig, futures *decimal.Decimal, spot map[string]decimal.Decimal) (err error) {
	if futures != nil {
		if account.FuturesUSDT, err = exchange.AmountRounded(*futures); err != nil {
			return fmt.Errorf("futures: %w", err)
		}
	}
	if spot != nil {
		account.Spot = map[string]exchange.Amount{}
	}
	for asset, number := range spot {
		if account.Spot[asset], err = exchange.AmountRounded(number); err != nil {
			return fmt.Errorf("spot %s: %w", asset, err)
		}
	}
	return nil
}
