package endtoend

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/internal/oracle"
)

// venueOrder is an order as the simulated exchange's control interface shows it.
type venueOrder struct {
	ClientOrderID string `json:"client_order_id"`
	Market        string `json:"market"`
	Symbol        string `json:"symbol"`
	Type          string `json:"type"`
	Side          string `json:"side"`
	Quantity      string `json:"quantity"`
	Filled        string `json:"filled"`
	Status        string `json:"status"`
}

// UnmarshalJSON reads an order of either market: on spot quantities are numbers, and the id has another name.
func (o *venueOrder) UnmarshalJSON(text []byte) error {
	type order venueOrder
	var either struct {
		*order
		Quantity json.RawMessage `json:"quantity"`
		Filled   json.RawMessage `json:"filled"`
		SpotID   string          `json:"clientOrderId"`
	}
	either.order = (*order)(o)
	err := json.Unmarshal(text, &either)
	o.Quantity, o.Filled = strings.Trim(string(either.Quantity), `"`), strings.Trim(string(either.Filled), `"`)
	if either.SpotID != "" {
		o.ClientOrderID = either.SpotID
	}
	return err
}

// venueOrders returns the exchange's own list of all orders.
func venueOrders(t *testing.T, address string) []venueOrder {
	t.Helper()
	response, err := http.Get("http://" + address + "/control/v1/orders")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	judgeLog(t, text)
	var answer struct{ Orders []venueOrder }
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return answer.Orders
}

// judgeLog has the second model judge the exchange's orders and fills, of every account.
func judgeLog(t *testing.T, log []byte) {
	t.Helper()
	var accounts struct{ Orders []struct{ Account string } }
	if err := json.Unmarshal(log, &accounts); err != nil {
		t.Fatalf("%s: %v", log, err)
	}
	judged := map[string]bool{}
	for _, order := range accounts.Orders {
		if judged[order.Account] {
			continue
		}
		judged[order.Account] = true
		o, err := oracle.Read(log, order.Account, func(id string) bool { return strings.HasPrefix(id, "b") }, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range o.Violations() {
			t.Errorf("the oracle: %s", v)
		}
	}
}

// held returns the sum of all fills.
func held(t *testing.T, orders []venueOrder) (sum exchange.Amount) {
	t.Helper()
	for _, o := range orders {
		filled, err := exchange.ParseAmount(o.Filled)
		if err != nil {
			t.Fatal(err)
		}
		if o.Side == "SELL" {
			filled = filled.Neg()
		}
		sum = sum.Add(filled)
	}
	return sum
}

func buys(orders []venueOrder) (n int) {
	for _, o := range orders {
		if o.Side == "BUY" {
			n++
		}
	}
	return n
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late, again := time.After(60*time.Second), time.NewTicker(50*time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("60 s without %s", what)
		}
	}
}
