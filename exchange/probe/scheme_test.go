package probe

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange/wire"
)

// someSchemes are ways in which venues of this style sign. Each part varies, in different orders.
var someSchemes = []wire.Signer{
	{Template: wire.DefaultTemplate, Encoding: "hex"},
	{Template: wire.DefaultTemplate, Encoding: "base64"},
	{Template: "{timestamp}{key}{query}{body}", Encoding: "hex"},
	{Template: "{method}{path}{timestamp}{body}", Encoding: "base64"},
	{Template: "{timestamp}\n{method}\n{path}\n{body}", Encoding: "hex"},
	{Template: `{timestamp}\n{method}\n{path}[\n{body}]`, Encoding: "hex"},
	{Template: `{timestamp}\n{method}\n{path}[\n{body_base64}]`, Encoding: "base64"},
	{Template: `{timestamp}\n{method}\n{path}[\n{body_sha256}]`, Encoding: "hex"},
	{Template: `{timestamp}\n{method}\n{path}\n[{body_sha256}]`, Encoding: "hex"},
	{Template: "{timestamp}{method}{path}[{body_sha256}]", Encoding: "hex"},
	{Template: "{timestamp}{method}{path}", Encoding: "hex"}, // a read without body does not distinguish it from the default
	{Template: `{timestamp}\n{method}\n{path}\n{body_base64}`, Encoding: "hex"},
	{Template: `{method}\n{path}\n{timestamp}[\n{body}]`, Encoding: "hex"},
	{Template: `{method}\n{path}\n{timestamp}\n{body_base64}`, Encoding: "hex"},
	{Template: `{method}\n{path}\n{timestamp}\n{body_sha256}`, Encoding: "base64"},
	{Template: `{method}\n{path}\n{body_base64}\n{timestamp}`, Encoding: "hex"},
	{Template: `{method}\n{route}\n{query}\n{timestamp}\n{body_sha256}`, Encoding: "hex"},
	{Template: "{method}{path}{timestamp}{body_base64}", Encoding: "hex"},
	{Template: "{timestamp}|{method}|{path}[|{body}]", Encoding: "hex"},
	{Template: "{timestamp}&{method}&{path}&{body}", Encoding: "base64"},
	{Template: `{key}\n{timestamp}\n{method}\n{path}\n{body}`, Encoding: "hex"},
	{Template: "{key}{timestamp}{method}{path}{body_base64}", Encoding: "hex"},
	{Template: "{timestamp}{key}{query}{body_sha256}", Encoding: "hex"},
	{Template: "{timestamp}{method}{route}{body}", Encoding: "hex"},
	{Template: "{timestamp}{method}{route}{query}{body}", Encoding: "hex"},
	{Template: "{timestamp}.{body}", Encoding: "hex"},
	{Template: "{query}{body}", Encoding: "hex"},
	{Template: "{body}{path}{timestamp}", Encoding: "hex"},
	{Template: "{key}{timestamp}", Encoding: "base64"},
	{Template: "{timestamp}{method}{path}[.{body_base64}]", Encoding: "hex"}, // a separator before the body only
	{Template: `{timestamp}{method}{path}[\n{body}]`, Encoding: "base64"},
	{Template: "{timestamp}{method}{path}.{body}", Encoding: "hex"},
	{Template: `{timestamp}\n{method}\n{path}{body}`, Encoding: "hex"}, // and everywhere but there
}

// asked are requests as they are signed. Any two different schemes differ in at least one of them.
var asked = []wire.Signed{
	{Timestamp: "17", Method: "GET", Path: "/fhapi/v1/margin/account", Key: "key"},
	{Timestamp: "17", Method: "GET", Path: "/fhapi/v1/positions/history?limit=1", Key: "key"},
	{Timestamp: "17", Method: "POST", Path: "/fhapi/v1/positions/open", Key: "key", Body: []byte("{}")},
	{Timestamp: "18", Method: "POST", Path: "/fhapi/v1/order", Key: "key", Body: []byte(`{"symbol":"BTC-USDT"}`)},
}

// sameSigner reports whether two signers produce the same signatures.
func sameSigner(a, b wire.Signer) bool {
	for _, each := range asked {
		if a.Sign([]byte(secret), each) != b.Sign([]byte(secret), each) {
			return false
		}
	}
	return true
}

// TestTheSignatureIsFound serves other ways to sign. The number of refused signatures is within the probe's bound.
func TestTheSignatureIsFound(t *testing.T) {
	t.Parallel()
	for _, want := range someSchemes {
		t.Run(want.Template+want.Encoding, virtual(func(t *testing.T) {
			r := probed(t, Config{BaseURL: serve(t, setup{signer: want}).URL, Key: "key", MaxAge: time.Second, gap: time.Millisecond})
			if r.Signature == nil || !sameSigner(want, wire.Signer{Template: r.Signature.Payload, Encoding: r.Signature.Encoding}) {
				t.Errorf("want %+v, have %+v, %+v", want, r.Signature, r.step(t, "signature"))
			}
			t.Log(r.step(t, "signature").What)
		}))
	}
}

// Every order of the parts is combined with every separator, body, encoding and path, and every combination works.
func TestTheSchemesAreAProduct(t *testing.T) {
	t.Parallel()
	all := schemes([]string{wire.SignFull, wire.SignRoute})
	have := map[wire.Signer]bool{}
	for i, each := range all {
		if err := each.Check(); err != nil {
			t.Fatalf("%+v: %v", each, err)
		}
		if i > 0 && all[i-1].cost > each.cost {
			t.Fatalf("want likely ones first, have %+v after %+v", each, all[i-1])
		}
		have[each.Signer] = true
	}
	for _, order := range [][]string{{"{timestamp}", "{method}", "{path}"}, {"{path}", "{key}", "{timestamp}", "{method}"}, {"{method}", "{route}"}} {
		for _, separator := range []string{"", `\n`, "|", ":"} {
			for _, body := range []string{"", separator + "{body}", "[" + separator + "{body_base64}]", separator + "{body_sha256}"} {
				for _, encoding := range []string{"hex", "base64"} {
					for _, path := range []string{wire.SignFull, wire.SignRoute} {
						want := wire.Signer{Template: strings.Join(order, separator) + body, Encoding: encoding, Paths: path}
						if !have[want] {
							t.Errorf("want %+v among %d schemes", want, len(all))
						}
					}
				}
			}
		}
	}
}

// A venue without a futures market answers 404 there.
func TestAVenueThatServesSpotAloneIsSignedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		want := wire.Signer{Template: `{method}\n{path}\n{timestamp}[\n{body}]`, Encoding: "base64"}
		spotAlone := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/fhapi/") {
					http.NotFound(w, r)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
		r := probed(t, Config{BaseURL: serve(t, setup{signer: want, between: spotAlone}).URL, Key: "key", MaxAge: time.Second})
		if r.Signature == nil || r.Signature.Encoding != want.Encoding ||
			!strings.Contains(r.step(t, "signature").What, "no read with a body is served") {
			t.Errorf("want it found as far as spot shows it, have %+v, %+v", r.Signature, r.step(t, "signature"))
		}
		if r.Window == nil {
			t.Errorf("want the window measured, have %+v", r.step(t, "window"))
		}
	})
}
