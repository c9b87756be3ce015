package exchange

// OrderStatus is the state of an order on the exchange (interface, States and
// transitions).
type OrderStatus uint8

// The order statuses of both markets.
const (
	StatusCreated     OrderStatus = iota + 1 // accepted, not yet in the order book
	StatusNew                                // futures: conditional, not yet triggered; spot: in the order book
	StatusOpen                               // in the order book, perhaps partly filled
	StatusFilled                             // final
	StatusCanceled                           // final, perhaps partly filled
	StatusRejected                           // final
	StatusPreCanceled                        // a cancel was accepted; fills may still follow
)

var statusNames = names[OrderStatus]{"status", []string{"", "CREATED", "NEW", "OPEN", "FILLED", "CANCELED", "REJECTED", "PRE_CANCELED"}}

// String returns the status as the interface writes it.
func (s OrderStatus) String() string { return statusNames.text(s) }

// MarshalText writes the name.
func (s OrderStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name.
func (s *OrderStatus) UnmarshalText(text []byte) (err error) {
	*s, err = ParseOrderStatus(string(text))
	return err
}

// ParseOrderStatus reads a status as the interface writes it.
func ParseOrderStatus(text string) (OrderStatus, error) { return statusNames.parse(text) }

// Final reports whether no more fills can follow.
func (s OrderStatus) Final() bool {
	return s == StatusFilled || s == StatusCanceled || s == StatusRejected
}

// NewOrder is the content of a placement on either market (interface, POST /fhapi/v1/order and POST
// /hapi/v1/spot/order).
type NewOrder struct {
	Market        Market
	Symbol        string
	Side          Side
	Type          OrderType
	Quantity      Quantity    // base currency; zero with ClosePosition, and for a spot MARKET order
	QuoteAmount   Amount      // spot MARKET only: USDT to spend or to receive
	Price         Price       // Limit kinds
	StopPrice     Price       // conditional kinds
	WorkingType   WorkingType // conditional kinds on futures
	ReduceOnly    bool        // futures
	ClosePosition bool        // futures, StopMarket and TakeProfitMarket
	PostOnly      bool        // futures, Limit
	ClientOrderID string
}

// Reduces reports whether the order can only reduce a futures position.
func (o *NewOrder) Reduces() bool { return o.ReduceOnly || o.ClosePosition }

// Key returns the order's symbol key.
func (o *NewOrder) Key() SymbolKey { return SymbolKey{o.Market, o.Symbol} }

// Order is an order as the exchange reports it (interface, Futures order and Spot order).
type Order struct {
	ID              int64
	ClientOrderID   string // empty when none was sent
	Market          Market
	Symbol          string
	Side            Side
	Type            OrderType // final: futures may reclassify stop and take-profit (rule 11)
	Price           Price
	StopPrice       Price
	Quantity        Quantity // zero for a ClosePosition order
	QuoteAmount     Amount   // spot MARKET only: the USDT amount the order was sent with
	Filled          Quantity
	AveragePrice    Amount // spot only
	Status          OrderStatus
	WorkingType     WorkingType
	ClosePosition   bool
	ClosePositionID int64 // the position a reduceOnly or closePosition order relates to
	PostOnly        bool
	CreatedMS       int64 // futures give whole seconds
}

// Key returns the order's symbol key.
func (o *Order) Key() SymbolKey { return SymbolKey{o.Market, o.Symbol} }

// Reduces reports whether the order can only reduce a futures position. The interface marks such
// orders with the position they relate to.
func (o *Order) Reduces() bool { return o.ClosePosition || o.ClosePositionID != 0 }

// Remaining returns the unfilled quantity.
func (o *Order) Remaining() Quantity { return o.Quantity - o.Filled }

// UserTrade is one fill of the account's own spot orders (interface, Spot user trade).
type UserTrade struct {
	ID       int64
	Symbol   string
	OrderID  int64
	Price    Price
	Quantity Quantity
	Fee      Amount
	FeeAsset string
	Maker    bool // role: maker or taker
	TimeMS   int64
}
