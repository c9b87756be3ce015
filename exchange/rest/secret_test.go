package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
)

// everyText returns all text that an error or a value can print, including the causes of an error.
func everyText(value any) string {
	var text strings.Builder
	for {
		fmt.Fprintf(&text, "%v\n%+v\n%#v\n%s\n%q\n", value, value, value, value, value)
		err, isError := value.(error)
		if !isError {
			return text.String()
		}
		cause := errors.Unwrap(err)
		if cause == nil {
			return text.String()
		}
		value = cause
	}
}

var signatures = regexp.MustCompile(`[0-9a-f]{64}`)

func checkSecrets(t *testing.T, what string, value any) {
	t.Helper()
	text := everyText(value)
	bytes := fmt.Sprint([]byte(canarySecret))
	if strings.Contains(text, canaryKey[:6]) || strings.Contains(text, canarySecret[:6]) || strings.Contains(text, strings.Trim(bytes, "[]")) ||
		signatures.MatchString(text) {
		t.Errorf("%s contains a secret: %s", what, text)
	}
}

func TestNoErrorContainsASecret(t *testing.T) {
	t.Parallel()
	faults := map[string]fault{
		"closed": closed, "truncated": truncated, "silent": silent, "500": status(500, ""), "429": status(429, ""),
		"302":      status(302, "", "Location", "https://x.invalid/"),
		"echo 400": echo(400), "echo 401": echo(401), "echo 403": echo(403), "echo 500": echo(500), "echo 200": echo(200), "echo 201": echo(201),
		"echo in a page": func(w http.ResponseWriter, r *http.Request, _ []byte) {
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, "%s %s %s", r.Header.Get("x-api-key"), canarySecret, r.Header.Get("x-signature"))
		},
		"echo that is cut in the secret": func(w http.ResponseWriter, r *http.Request, _ []byte) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"code":5,"error":"%s%s"}`, strings.Repeat("x", 300-len(canarySecret)+3), canarySecret)
		},
		"page that is cut in the key": func(w http.ResponseWriter, r *http.Request, _ []byte) {
			fmt.Fprintf(w, `%s%s`, strings.Repeat("x", 60-len(canaryKey)+3), canaryKey)
		},
		"echo in a field": func(w http.ResponseWriter, r *http.Request, _ []byte) {
			fmt.Fprintf(w, `[{"id":1,"symbol":"BTC-USDT","quantity":"%s","filled":"%s"}]`, r.Header.Get("x-api-key"), canarySecret)
		},
	}
	for name, happens := range faults {
		synctest.Test(t, func(t *testing.T) {
			v := newVenue(t)
			client := ready(t, openPipe(t, v, func(c *Config) {
				c.Observe = func(o Observation) { checkSecrets(t, "an observation", o) }
			}))
			for _, operation := range []exchange.Operation{exchange.FuturesPlace, exchange.SpotPlace} {
				v.on(operation, happens)
				err := placements[operation](t.Context(), client)
				if err == nil {
					t.Errorf("%s: want an error, have none", name)
				}
				checkSecrets(t, name, err)
			}
			v.on(exchange.FuturesOpenOrders, happens, happens, happens, happens)
			_, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesOpenOrders})
			if err == nil {
				t.Errorf("%s: want an error, have none", name)
			}
			checkSecrets(t, name, err)
		})
	}
}

func TestNoPrintedClientOrConfigContainsASecret(t *testing.T) {
	t.Parallel()
	config := Config{BaseURL: "https://name:" + canarySecret + "@example.com", Key: canaryKey, Secret: []byte(canarySecret)}
	checkSecrets(t, "a config", config)
	checkSecrets(t, "a pointer to a config", &config)
	_, err := New(config)
	checkSecrets(t, "New", err)
	config.BaseURL = "https://example.com"
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	checkSecrets(t, "a client", client)
	if have, own := fmt.Sprintf("%#v", client), fmt.Sprintf("%#v", config); have != client.String() || own != config.String() {
		t.Errorf("want the address from each verb, have %s and %s", have, own)
	}
	if !strings.Contains(client.String(), "example.com") {
		t.Errorf("want the address, have %s", client)
	}
}

func TestErrorsBeforeSendingContainNoSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := dial(t, "http://127.0.0.1:1", dialer(func(context.Context) error { return errors.New("no way") }))
		for operation, err := range everyCall(t.Context(), client) {
			checkSecrets(t, operation.String(), err)
			if err == nil {
				t.Errorf("%s: want an error, have none", operation)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		for operation, err := range everyCall(ctx, client) {
			checkSecrets(t, operation.String(), err)
		}
	})
}
