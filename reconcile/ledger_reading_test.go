package reconcile

import (
	"reflect"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile/ledger"
)

// The snapshot shows the complete wallet or nothing, positions by id, and instruments that the ledger does not know.
func TestSnapshotOfFuturesWallet(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	whole := func() *Snapshot {
		return &Snapshot{EndedMS: 5, Account: &exchange.MarginAccount{WalletBalance: exchange.AmountOf(1_000), UnrealizedPNL: exchange.AmountOf(7)},
			Positions: exchange.FetchedOf([]exchange.Position{
				{ID: 9, Symbol: "NEW-USDT", Side: exchange.Long, Quantity: 5, Remaining: 5, EntryPrice: exchange.AmountOf(2), CreatedMS: 1_000},
				{ID: 8, Symbol: "BTC-USDT", Side: exchange.Short, Quantity: 300, Remaining: 0},
				{ID: 7, Symbol: "BTC-USDT", Side: exchange.Short, Quantity: 300, Remaining: 200, EntryPrice: exchange.AmountOf(50_000),
					RealizedPNL: exchange.AmountOf(3), CreatedMS: 2_000, UpdatedMS: 3_000},
			})}
	}
	want := ledger.Reading{AtMS: 5, Market: exchange.Futures, Wallet: []ledger.Asset{{Name: "USDT", Amount: exchange.AmountOf(1_000)}},
		Open: []ledger.Position{
			{ID: 7, Symbol: "BTC-USDT", Short: true, Opened: exchange.MustAmount("0.3"), Remaining: exchange.MustAmount("0.2"),
				EntryPrice: exchange.AmountOf(50_000),
				Realized:   exchange.AmountOf(3), FromMS: 2_000},
			{ID: 9, Symbol: "NEW-USDT", EntryPrice: exchange.AmountOf(2), FromMS: 1_000},
		}, Instruments: []ledger.Instrument{{Symbol: bitcoin, Base: "BTC", Quote: "USDT", Unit: exchange.MustAmount("0.001"),
			Grid: exchange.MustAmount("0.00000000001"), Step: exchange.MustAmount("0.001")}}}
	if have, all := d.tracker.Readings().Futures(whole()); !all || !reflect.DeepEqual(have, want) {
		t.Errorf("want\n%+v, have\n%+v, %t", want, have, all)
	}
	for name, lacks := range map[string]func(*Snapshot){
		"the account":   func(s *Snapshot) { s.Account = nil },
		"the positions": func(s *Snapshot) { s.Positions = exchange.Fetched[exchange.Position]{} },
		"one position":  func(s *Snapshot) { s.UnreadPositions = []exchange.SymbolKey{bitcoin} },
	} {
		s := whole()
		lacks(s)
		if have, all := d.tracker.Readings().Futures(s); all || !reflect.DeepEqual(have, ledger.Reading{}) {
			t.Errorf("without %s: want nothing, have %+v, %t", name, have, all)
		}
	}
	ended := d.tracker.Readings().Position(&exchange.Position{ID: 3, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 100,
		Status:     exchange.PositionLiquidated,
		ClosePrice: exchange.AmountOf(40_000), CreatedMS: 1, UpdatedMS: 9})
	if wants := (ledger.Position{ID: 3, Symbol: "BTC-USDT", Opened: exchange.MustAmount("0.1"), Close: exchange.AmountOf(40_000), Liquidated: true, FromMS: 1,
		UntilMS: 9}); ended != wants {
		t.Errorf("a liquidated one: want %+v, have %+v", wants, ended)
	}
}

// The snapshot shows the assets of the tracker's symbols, each once, including frozen amounts.
func TestSnapshotOfSpotWallet(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	wallet := exchange.FetchedOf([]exchange.Balance{{Asset: "USDT", Free: exchange.AmountOf(70), Frozen: exchange.AmountOf(30)},
		{Asset: "DOGE", Free: exchange.AmountOf(5)}, {Asset: "ETH", Free: exchange.AmountOf(2)}})
	if have, all := d.tracker.Readings().Spot(&Snapshot{EndedMS: 5, Balances: wallet}); all || len(have.Wallet) != 0 {
		t.Errorf("no symbol on spot: want nothing, have %+v, %t", have, all)
	}
	for _, base := range []string{"SOL", "ETH", "BTC"} {
		rules, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: base + "-USDT", Base: base, Quote: "USDT",
			PriceTick: decimal.RequireFromString("0.01"), QuantityTick: decimal.RequireFromString("0.01"), MinNotional: decimal.NewFromInt(5),
			MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
		if err != nil {
			t.Fatal(err)
		}
		if symbol := d.tracker.Track(exchange.SymbolKey{Market: exchange.Spot, Name: rules.Name}); base != "BTC" { // whose rules were not read
			symbol.rules = rules
		}
	}
	want := []ledger.Asset{{Name: "ETH", Amount: exchange.AmountOf(2)}, {Name: "SOL"}, {Name: "USDT", Amount: exchange.AmountOf(100)}}
	have, all := d.tracker.Readings().Spot(&Snapshot{EndedMS: 5, Balances: wallet})
	if !all || have.AtMS != 5 || have.Market != exchange.Spot || !slices.Equal(have.Wallet, want) || len(have.Instruments) != 2 {
		t.Errorf("want %+v and two instruments, have %+v, %t", want, have, all)
	}
	for name, s := range map[string]*Snapshot{"the wallet": {EndedMS: 5}, "one asset": {EndedMS: 5, Balances: wallet, UnreadAssets: true}} {
		if have, all := d.tracker.Readings().Spot(s); all || len(have.Wallet) != 0 {
			t.Errorf("without %s: want nothing, have %+v, %t", name, have, all)
		}
	}
	trade := &exchange.UserTrade{ID: 4, OrderID: 5, Symbol: "ETH-USDT", Price: 2_000e8, Quantity: 150, Fee: exchange.MustAmount("0.001"), FeeAsset: "ETH"}
	read, known := d.tracker.Readings().Trade(trade)
	if wants := (ledger.Trade{ID: 4, OrderID: 5, Price: exchange.AmountOf(2_000), Quantity: exchange.MustAmount("1.5"), Fee: exchange.MustAmount("0.001"),
		FeeAsset: "ETH"}); !known || read != wants {
		t.Errorf("want %+v, have %+v, %t", wants, read, known)
	}
	for _, name := range []string{"BTC-USDT", "NEW-USDT"} {
		trade.Symbol = name
		if read, known := d.tracker.Readings().Trade(trade); known {
			t.Errorf("%s, whose rules are not known: want nothing read, have %+v", name, read)
		}
	}
}

// Unreadable rows are found by market, list and id.
func TestUnreadableRowsAreFound(t *testing.T) {
	t.Parallel()
	s := &Snapshot{UnreadOrders: []UnreadOrder{
		{Market: exchange.Futures, Open: true, Row: exchange.UnreadableRow{ID: 7}},
		{Market: exchange.Futures, Row: exchange.UnreadableRow{ID: 8}},
		{Market: exchange.Spot, Open: true, Row: exchange.UnreadableRow{ID: 9}},
	}, UnreadPositions: []exchange.SymbolKey{{Market: exchange.Futures, Name: "ETH-USDT"}}}
	for id, want := range map[int64]bool{7: true, 8: false, 9: false, 0: false} {
		if have := s.Shows(exchange.Futures, id); have != want {
			t.Errorf("order %d on futures: want it shown %t, have %t", id, want, have)
		}
	}
	if have := s.unreadIDs(exchange.Futures); !slices.Equal(have, []int64{7}) {
		t.Errorf("on futures: want 7, have %v", have)
	}
	if have := s.unreadIDs(exchange.Spot); !slices.Equal(have, []int64{9}) {
		t.Errorf("on spot: want 9, have %v", have)
	}
	for key, want := range map[exchange.SymbolKey]bool{bitcoin: false, {Market: exchange.Futures, Name: "ETH-USDT"}: true,
		{Market: exchange.Spot, Name: "ETH-USDT"}: false} {
		if have := s.lacksPosition(key); have != want {
			t.Errorf("%s: want its position missing %t, have %t", key, want, have)
		}
	}
	s.UnreadPositions = []exchange.SymbolKey{{Market: exchange.Futures}} // of an unknown symbol
	if !s.lacksPosition(bitcoin) || s.lacksPosition(exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}) {
		t.Error("a row without a name: want every position on futures missing, and none on spot")
	}
}
