package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnyURLReachesTheHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, anyURLReachesTheHandler)
}

func anyURLReachesTheHandler(t *testing.T) {
	client, shut := Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "%s on %s, %q", r.URL.Path, r.Host, r.Header.Get("Accept-Encoding"))
	}))
	for url, want := range map[string]string{"http://one.example/a": `/a on one.example, ""`, "http://two.example:7/b": `/b on two.example:7, ""`} {
		answer, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || string(text) != want {
			t.Errorf("%s: want %q, have %q, %v", url, want, text, err)
		}
		answer.Body.Close()
	}
	answer, err := client.Get("http://one.example/moved")
	if err != nil || answer.StatusCode != http.StatusFound {
		t.Fatalf("want a redirect that is not followed, have %+v, %v", answer, err)
	}
	answer.Body.Close()
	shut()
	if _, err := client.Get("http://one.example/"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("want the listener closed, have %v", err)
	}
}

// TestNothingIsLeftOfAServer runs in a synctest bubble, which fails if a goroutine is left. The other tests
// do too; a bubble also fails if all its goroutines wait.
func TestNothingIsLeftOfAServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, shut := Serve(http.NotFoundHandler())
		answer, err := client.Get("http://one.example/")
		if err != nil || answer.StatusCode != http.StatusNotFound {
			t.Errorf("want 404, have %+v, %v", answer, err)
		}
		answer.Body.Close() // the connection stays open, idle
		shut()
	})
}

func TestAListenerThatIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewListener()
		if a := l.Addr(); a.Network() != "pipe" || a.String() != "pipe" {
			t.Errorf("want the address pipe, have %v", a)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if conn, err := l.Dial(ctx, "tcp", "x:1"); conn != nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("want the deadline of a server that does not accept, have %v, %v", conn, err)
		}
		go func() {
			conn, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "hello")
			_ = conn.Close()
		}()
		conn, err := l.Dial(t.Context(), "tcp", "x:1")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(conn); string(text) != "hello" || err != nil {
			t.Errorf("want the server's text, have %q, %v", text, err)
		}
		ended := make(chan error)
		go func() {
			_, err := l.Accept()
			ended <- err
		}()
		for range 2 {
			if err := l.Close(); err != nil {
				t.Errorf("want it closed, twice too, have %v", err)
			}
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("want Accept ended, have %v", err)
		}
		if conn, err := l.Dial(t.Context(), "tcp", "x:1"); conn != nil || !errors.Is(err, net.ErrClosed) {
			t.Errorf("want no connection, have %v, %v", conn, err)
		}
	})
}
