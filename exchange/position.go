package exchange

// PositionSide is the side of a futures position.
type PositionSide uint8

// The position sides.
const (
	Long PositionSide = iota + 1
	Short
)

var positionSideNames = names[PositionSide]{"side", []string{"", "LONG", "SHORT"}}

// String returns LONG or SHORT.
func (s PositionSide) String() string { return positionSideNames.text(s) }

// MarshalText writes the name.
func (s PositionSide) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name.
func (s *PositionSide) UnmarshalText(text []byte) (err error) {
	*s, err = ParsePositionSide(string(text))
	return err
}

// ParsePositionSide reads LONG or SHORT.
func ParsePositionSide(text string) (PositionSide, error) { return positionSideNames.parse(text) }

// PositionStatus is the state of a futures position.
type PositionStatus uint8

// The interface documents OPEN; docs/exchange.md documents the other two, under closed positions.
const (
	PositionOpen PositionStatus = iota + 1
	PositionClosed
	PositionLiquidated
)

var positionStatusNames = names[PositionStatus]{"position status", []string{"", "OPEN", "CLOSED", "LIQUIDATED"}}

// String returns the status as the interface writes it.
func (s PositionStatus) String() string { return positionStatusNames.text(s) }

// MarshalText writes the name.
func (s PositionStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParsePositionStatus reads a status as the interface writes it.
func ParsePositionStatus(text string) (PositionStatus, error) {
	return positionStatusNames.parse(text)
}

// WholeSecond returns a time without its milliseconds: the exchange reports when a position began and ended in whole seconds.
func WholeSecond(ms int64) int64 { return ms - ms%1_000 }

// Position is a futures position (interface, Futures position). At most one is
// open per symbol.
type Position struct {
	ID              int64
	Symbol          string
	Side            PositionSide
	EntryPrice      Amount   // quantity-weighted mean
	Quantity        Quantity // total opened
	Remaining       Quantity // not closed yet
	Leverage        int
	UnrealizedPNL   Amount // USDT
	RealizedPNL     Amount // USDT, from the price difference only
	LiqPrice        Amount // zero if no price above zero liquidates
	Status          PositionStatus
	LastUpdatePrice Amount
	ClosePrice      Amount
	CreatedMS       int64 // whole seconds on the wire
	UpdatedMS       int64
}

// Signed returns the remaining quantity, negative for a short position.
func (p *Position) Signed() Quantity {
	if p.Side == Short {
		return -p.Remaining
	}
	return p.Remaining
}

// MarginAccount is the futures margin account (interface, Futures margin account).
// All amounts are USDT.
type MarginAccount struct {
	Status              string // accountStatus
	MaintenanceMargin   Amount // totalMaintMargin
	WalletBalance       Amount // totalWalletBalance
	MarginUsed          Amount // totalMarginUsed
	OrderMargin         Amount // orderMarginUsd
	PositionMargin      Amount // positionMarginUsd
	UnrealizedPNL       Amount // totalUnrealizedPnl
	AvailableBalance    Amount
	TotalBonus          Amount
	TestStatus, IsDemo  bool
	PositionsUndeclared int // elements of the positions array, whose shape the interface does not document
}

// Equity returns the wallet plus unrealized profit.
func (a *MarginAccount) Equity() Amount { return a.WalletBalance.Add(a.UnrealizedPNL) }

// Balance is one entry of the spot wallet (interface, Spot wallet entry).
type Balance struct {
	Asset  string
	Free   Amount // "balance"
	Frozen Amount // held by open orders
}

// LeverageSetting is the leverage set for a symbol.
type LeverageSetting struct {
	Symbol   string
	Leverage int
}

// Ticker holds the 24-hour statistics of a symbol (interface, Futures ticker and Spot ticker). Spot
// has no bid, ask or count.
type Ticker struct {
	Symbol          string
	Last, Bid, Ask  Price
	Open, High, Low Price
	Volume          float64 // base currency
	QuoteVolume     float64 // USDT
	Change          Price   // may be negative
	ChangePercent   float64
	WeightedAverage Amount // spot
	OpenMS, CloseMS int64  // spot: CloseMS is updateTime
	Count           int64
}

// Level is one price level of an order book.
type Level struct {
	Price    Price
	Quantity Quantity
}

// Depth is an order book (interface, Futures depth and Spot order book).
type Depth struct {
	ID   int64   // lastUpdateId, or id
	Bids []Level // highest first
	Asks []Level // lowest first
}

// Trade is one public trade (interface, Futures and Spot public trade).
type Trade struct {
	ID           int64
	Price        Price
	Quantity     Quantity
	QuoteAmount  Amount // spot
	TimeMS       int64
	BuyerIsMaker bool
}

// FundingRate is a symbol's funding (interface, Funding rate).
type FundingRate struct {
	Symbol string
	Rate   Rate  // of the next payment
	TimeMS int64 // the last payment
	NextMS int64 // the next payment
}
