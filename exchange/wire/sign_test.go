package wire

import (
	"strings"
	"testing"
)

// signed is a request whose signatures were computed with openssl:
//
//	printf %s 'TEXT' | openssl dgst -sha256 -hmac secret
var signed = Signed{
	Timestamp: "1767225600123", Method: "POST", Path: "/fhapi/v1/order?x=1&y=%20", Key: "key", Body: []byte(`{"client_order_id":"{key}"}`),
}

func TestSignaturesEqualThoseOfOpenSSL(t *testing.T) {
	t.Parallel()
	secret := []byte("secret")
	for _, c := range []struct {
		signer Signer
		want   string
	}{
		{Signer{}, "d80b3c6d74931640f19b7d13efbcf50ea57c33b04500faff50914ccf96898eac"},
		{Signer{Encoding: "hex"}, "d80b3c6d74931640f19b7d13efbcf50ea57c33b04500faff50914ccf96898eac"},
		{Signer{Encoding: "base64"}, "2As8bXSTFkDxm30T77z1DqV8M7BFAPr/UJFMz5aJjqw="},
		{Signer{Template: "{key}|{query}|{timestamp}"}, "47e32999d0d4303c7d6878bb5ff218cf6d4b8fa9644e2f10ccd4c22dd9186032"},
		{Signer{Template: `{timestamp}\n{method}\n{path}[\n{body_base64}]`}, "d1a3b090a773c4f17ad0996743703b80605debbb9c7c834b91d75f302bb29fd9"},
		{Signer{Template: "{timestamp}\n{method}\n{path}[\n{body_base64}]"}, "d1a3b090a773c4f17ad0996743703b80605debbb9c7c834b91d75f302bb29fd9"},
		{Signer{Template: "{method}{route}{body_sha256}"}, "0d8e3cf8a42a66b92c648847978d45e5ac8904bf9b13337ad7406e090daef3bc"},
	} {
		if err := c.signer.Check(); err != nil {
			t.Errorf("%+v: %v", c.signer, err)
		}
		if have := c.signer.Sign(secret, signed); have != c.want {
			t.Errorf("%+v: want %s, have %s", c.signer, c.want, have)
		}
		if !c.signer.Verify(secret, signed, c.want) {
			t.Errorf("%+v does not verify its own signature", c.signer)
		}
	}
}

func TestAPartInBracketsIsSignedOnlyWithABody(t *testing.T) {
	t.Parallel()
	signer := Signer{Template: `{method}\n{path}[\n{body_base64}]`}
	const want = "cdf2f4d2e5d929171c8a3efc554f98f67d48c907a5e291253540bedbbdbda3f4"
	if have := signer.Sign([]byte("secret"), Signed{Method: "GET", Path: "/x"}); have != want {
		t.Errorf("want the part left out, %s, have %s", want, have)
	}
}

func TestEveryPartOfARequestIsSigned(t *testing.T) {
	t.Parallel()
	var signer Signer
	signature := signer.Sign([]byte("secret"), signed)
	for part, change := range map[string]func(*Signed){
		"timestamp": func(s *Signed) { s.Timestamp = "1767225600124" },
		"method":    func(s *Signed) { s.Method = "GET" },
		"path":      func(s *Signed) { s.Path = "/fhapi/v1/order" },
		"query":     func(s *Signed) { s.Path = "/fhapi/v1/order?x=1&y=+" },
		"body":      func(s *Signed) { s.Body = append([]byte(" "), s.Body...) },
	} {
		other := signed
		change(&other)
		if signer.Verify([]byte("secret"), other, signature) {
			t.Errorf("a changed %s is verified", part)
		}
	}
	for _, wrong := range []string{"", signature[1:], strings.ToUpper(signature), signature + "0"} {
		if signer.Verify([]byte("secret"), signed, wrong) {
			t.Errorf("signature %q is verified", wrong)
		}
	}
	if signer.Verify([]byte("Secret"), signed, signature) {
		t.Error("another secret is verified")
	}
}

func TestUnusableSignersAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signer Signer
		want   string
	}{
		{Signer{Template: "{timestamp}{methode}"}, "{methode}"},
		{Signer{Template: "{timestamp"}, "{timestamp"},
		{Signer{Template: "{}"}, "{}"},
		{Signer{Encoding: "base32"}, `"base32"`},
		{Signer{Paths: "prefix"}, `"prefix"`},
		{Signer{Template: "{path}[{body}"}, "[ ]"},
		{Signer{Template: "{path}]{body}"}, "[ ]"},
		{Signer{Template: "{path}[[{body}]]"}, "[ ]"},
	} {
		if err := c.signer.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: want an error with %s, have %v", c.signer, c.want, err)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	b.ReportAllocs()
	var signer Signer
	secret := []byte("secret")
	for b.Loop() {
		signer.Sign(secret, signed)
	}
}
