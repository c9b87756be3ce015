package wire

import (
	"strings"
	"testing"

	"botd/exchange"
)

func TestNamesMatchInTheirExactCaseAlone(t *testing.T) {
	t.Parallel()
	order := string(golden(t, exchange.FuturesOrder))
	want, err := decode(t, goldenRequest(exchange.FuturesOrder), 200, order)
	if err != nil {
		t.Fatal(err)
	}
	for _, extra := range []string{`"Status":"FILLED"`, `"STATUS" : "FILLED"`, `"\u0053tatus":"FILLED"`, `"Filled":"9","ID":77,"ſtatus":"FILLED"`} {
		for _, body := range []string{strings.Replace(order, "{", "{"+extra+",", 1), strings.TrimSuffix(strings.TrimSpace(order), "}") + "," + extra + "}"} {
			have, err := decode(t, goldenRequest(exchange.FuturesOrder), 200, body)
			if err != nil || have.Order != want.Order {
				t.Errorf("%s: want the order as without it, have %+v, %v", extra, have.Order, err)
			}
		}
	}
	renamed := strings.Replace(order, `"status"`, `"Status"`, 1)
	if have, err := decode(t, goldenRequest(exchange.FuturesOrder), 200, renamed); err == nil {
		t.Errorf("want an order without a status refused, have %+v", have.Order)
	}
}

func TestRowsOfListsMatchInTheirExactCaseToo(t *testing.T) {
	t.Parallel()
	for _, operation := range []exchange.Operation{exchange.FuturesOpenOrders,
		exchange.FuturesOpenPositions, exchange.SpotOpenOrders, exchange.SpotUserTrades} {
		body := string(golden(t, operation))
		want, err := decode(t, goldenRequest(operation), 200, body)
		if err != nil {
			t.Fatal(err)
		}
		have, err := decode(t, goldenRequest(operation), 200, strings.Replace(body, "{", `{"Symbol":"NO-SUCH","Status":"FILLED","Price":"1",`, 1))
		if err != nil || len(have.Unreadable) != len(want.Unreadable) {
			t.Errorf("%s: want the list as without the additional names, have %+v, %v", operation, have, err)
		}
	}
}

func TestAByteOrderMarkIsNoPartOfAnAnswer(t *testing.T) {
	t.Parallel()
	const mark = "\xef\xbb\xbf"
	have, err := decode(t, goldenRequest(exchange.FuturesTime), 200, mark+`{"serverTime":1767225600000}`)
	if err != nil || have.ServerTimeMS != 1_767_225_600_000 {
		t.Errorf("want the time, have %+v, %v", have, err)
	}
	if _, err := decode(t, goldenRequest(exchange.SpotPlace), 400, mark+`{"code":118,"error":"invalid"}`); exchange.ErrorKind(err) != "refusal" {
		t.Errorf("want a refusal, have %v", err)
	}
}

func TestNonRecordBodyIsAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`[{"STATUS":1}]`, `{"STATUS":1`, `"STATUS"`} {
		var record struct {
			Status int `json:"status"`
		}
		if err := unmarshal([]byte(body), &record); err == nil {
			t.Errorf("%s: want an error, have %+v", body, record)
		}
	}
}
