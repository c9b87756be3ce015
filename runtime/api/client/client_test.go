package client

import (
	"net"
	"net/http"
	"testing"
	"time"

	"botd/internal/failure"
)

func TestHungDaemonTimesOut(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts, as when the daemon is stopped
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	d := &Daemon{Where: "it", base: "http://" + listener.Addr().String(), client: &http.Client{}, Within: 20 * time.Millisecond}
	if _, _, err := d.Send(t.Context(), http.MethodGet, "/healthz", nil); failure.CodeOf(err) != failure.Unavailable {
		t.Errorf("want exit code %d, have %v", failure.Unavailable, err)
	}
}

func TestTokenIsNotSentUnencrypted(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{"http://127.0.0.1:1": true, "http://localhost:1": true, "http://[::1]:1": true,
		"https://bot.example": true, "http://bot.example": false, "http://192.0.2.1:8420": false} {
		d := Daemon{Where: base, base: base, token: "t"}
		if have := d.private() == nil; have != want {
			t.Errorf("%s: want let through %t, have %t", base, want, have)
		}
	}
}
