package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile/record"
)

// evidence returns the evidence that a successful trial leaves.
func evidence() (*accountState, []placement, []record.Record) {
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	return &accountState{
			Orders: []orderState{{ClientOrderID: "bchaos-1-1", Market: "futures", Symbol: "BTC-USDT", Type: "MARKET", Status: "FILLED"},
				{ClientOrderID: "bchaos-1-2", Market: "futures", Symbol: "BTC-USDT", Type: "STOP_MARKET", Status: "NEW"}},
			Fills: []fillState{{"futures", "BTC-USDT", "BUY", decimal.RequireFromString("0.5")}},
		}, []placement{{clientID: "bchaos-1-1", status: 201}, {clientID: "bchaos-1-2", reduces: true, status: 201}}, []record.Record{
			{Body: record.Boot{Epoch: 1}},
			{ClientOrderID: "bchaos-1-1", Symbol: key, Body: record.Sending{}},
			{ClientOrderID: "bchaos-1-1", Symbol: key, Body: record.Acknowledged{}},
			{ClientOrderID: "bchaos-1-2", Symbol: key, Body: record.Sending{}},
			{Body: record.Boot{Epoch: 2}},
		}
}

func TestAJudgeFindsEachWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*accountState, *[]placement, *[]record.Record)
		want   string // part of the only problem; empty for none
	}{
		{"all is well", func(*accountState, *[]placement, *[]record.Record) {}, ""},
		{"too much", func(v *accountState, _ *[]placement, _ *[]record.Record) { v.Fills = append(v.Fills, v.Fills[0]) }, "want exactly 0.5"},
		{"too little", func(v *accountState, _ *[]placement, _ *[]record.Record) { v.Fills = nil }, "want exactly 0.5"},
		{"the other side", func(v *accountState, _ *[]placement, _ *[]record.Record) { v.Fills[0].Side = "SELL" }, "want exactly 0.5"},
		{"no stop", func(v *accountState, _ *[]placement, _ *[]record.Record) { v.Orders[1].Status = "CANCELED" }, "want one stop"},
		{"sent twice", func(_ *accountState, p *[]placement, _ *[]record.Record) { *p = append(*p, (*p)[0]) }, "left the daemon twice"},
		{"accepted twice", func(v *accountState, _ *[]placement, _ *[]record.Record) { v.Orders = append(v.Orders, v.Orders[0]) }, "on the exchange twice"},
		{"sent without a record", func(_ *accountState, p *[]placement, _ *[]record.Record) {
			*p = append(*p, placement{clientID: "bchaos-1-9", status: 201})
		}, "without a durable record"},
		{"accepted without a record", func(v *accountState, _ *[]placement, _ *[]record.Record) {
			v.Orders = append(v.Orders, orderState{SpotID: "bchaos-1-9"})
		}, "not in the journal"},
		{"refused", func(_ *accountState, p *[]placement, _ *[]record.Record) { (*p)[0].status = 400 }, "refused by the exchange"},
		{"refused for a timestamp in time", func(_ *accountState, p *[]placement, _ *[]record.Record) { (*p)[0].status = 401 }, "refused by the exchange"},
		{"refused for a timestamp that a pause made late", func(_ *accountState, p *[]placement, _ *[]record.Record) {
			(*p)[0].status,
				(*p)[0].late = 401, true
		}, ""},
		{"a stop sent again and refused", func(_ *accountState, p *[]placement, _ *[]record.Record) { (*p)[1].status = 400 }, ""},
		{"an epoch used twice", func(_ *accountState, _ *[]placement, r *[]record.Record) { (*r)[4].Body = record.Boot{Epoch: 1} }, "epoch 1 after 1"},
		{"journalled twice", func(_ *accountState, _ *[]placement, r *[]record.Record) { *r = append(*r, (*r)[1]) }, "in the journal twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			venue, sent, records := evidence()
			c.change(venue, &sent, &records)
			run := trial{Trial: Trial{Targets: []Target{{Market: "futures", Symbol: "BTC-USDT", Side: "buy", Quantity: decimal.RequireFromString("0.5"),
				Stop: true}}}, report: &Report{}}
			run.judgeHoldings(venue)
			run.judgeSending(venue, sent, nil, records)
			switch problems := run.report.Problems; {
			case c.want == "" && len(problems) > 0:
				t.Errorf("want no problem, have %q", problems)
			case c.want != "" && (len(problems) != 1 || !strings.Contains(problems[0], c.want)):
				t.Errorf("want one problem with %q, have %q", c.want, problems)
			}
			if c.want == "" && run.report.Uncertain != 1 {
				t.Errorf("uncertain: want the stop that was never answered, have %d", run.report.Uncertain)
			}
		})
	}
}

func TestDaemonStateIsReadFromStatus(t *testing.T) {
	t.Parallel()
	targets := []Target{{Name: "short", Market: "futures", Side: "sell", Quantity: decimal.RequireFromString("3")},
		{Name: "spot", Market: "spot", Side: "buy", Quantity: decimal.RequireFromString("30")}}
	const settled = `{"name":"short","position":"-3","settled":true}`
	const spot = `{"name":"spot","position":"29.99","settled":true}`
	of := func(unsettled int, degraded string, strategies ...string) string {
		return fmt.Sprintf(`{"unsettled":%d,"degraded":[%s],"strategies":[%s]}`, unsettled, degraded, strings.Join(strategies, ","))
	}
	for text, want := range map[string]bool{
		of(0, "", settled, spot): true,
		of(0, "", `{"name":"short","position":"-2.9","settled":true}`, spot): false,
		of(0, "", `{"name":"short","position":"-3","settled":false}`, spot):  false,
		of(0, "", settled):                         false,
		of(1, "", settled, spot):                   false,
		of(0, `{"state":"halted"}`, settled, spot): false,
		`{"title":"log in"}`:                       false,
	} {
		var s status
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if have := s.knows(targets); have != want {
			t.Errorf("%s: want %t, have %t", text, want, have)
		}
	}
}

// TestTheWitnessHidesNoFault truncates an answer, and closes the connection without one.
func TestTheWitnessHidesNoFault(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "cut"):
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusCreated)
			w.Write([]byte("half"))
			http.NewResponseController(w).Flush()
		case strings.Contains(string(body), "gone"):
		default:
			w.WriteHeader(http.StatusCreated)
			return
		}
		panic(http.ErrAbortHandler)
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	const ahead = -time.Hour // the exchange's clock has another time
	w, err := newRecordingProxy(listener.Addr().String(), ahead)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body string
		age  time.Duration // age of the signature
		fate func(*http.Response, error) bool
	}{
		{`{"client_order_id":"whole"}`, 0, func(r *http.Response, err error) bool { return err == nil && r.StatusCode == http.StatusCreated }},
		{`{"clientOrderId":"gone","x":1}`, time.Second, func(_ *http.Response, err error) bool { return err != nil }},
		{`{"client_order_id":"cut","reduceOnly":true}`, pausedFor, func(r *http.Response, err error) bool {
			if err != nil {
				return false
			}
			_, err = io.ReadAll(r.Body)
			return err != nil
		}},
		{`{}`, 0, func(r *http.Response, err error) bool { return err == nil }},
	} {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+w.address()+"/fhapi/v1/order", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("x-timestamp", strconv.FormatInt(time.Now().Add(ahead-c.age).UnixMilli(), 10))
		response, err := http.DefaultClient.Do(request)
		if !c.fate(response, err) {
			t.Errorf("%s: have %v, %v", c.body, response, err)
		}
		if err == nil {
			response.Body.Close()
		}
	}
	sent, unread := w.seen()
	if len(sent) != 4 || sent[0].status != 201 || sent[1].clientID != "gone" || sent[1].status != 0 || sent[1].late || !sent[2].reduces ||
		!sent[2].late || len(unread) != 1 {
		t.Errorf("have %+v, unread %q", sent, unread)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
}
