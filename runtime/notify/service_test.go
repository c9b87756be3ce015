package notify

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAServiceGetsTheMessageOverARealSocket(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + string(text)
	}))
	defer server.Close()
	s, err := Open("generic://" + strings.TrimPrefix(server.URL, "http://") + "/hook?disabletls=yes&template=json")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send("botd main: HALTED", "HALTED operator"); err != nil {
		t.Fatal(err)
	}
	if have := <-got; !strings.HasPrefix(have, "/hook ") || !strings.Contains(have, `"message":"HALTED operator"`) {
		t.Errorf("want a JSON message at /hook, have %s", have)
	}
}

func TestServiceErrorsOmitAddress(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such hook: "+r.URL.String(), http.StatusForbidden)
	}))
	defer refusing.Close()
	here := strings.TrimPrefix(refusing.URL, "http://")
	for _, address := range []string{
		"generic://" + here + "/canaryPATHcanary?disabletls=yes&$x=canaryQUERYcanary&@Authorization=canaryHEADERcanary",
		"generic://127.0.0.1:1/canaryPATHcanary?disabletls=yes",
		"ntfy://canaryUSER:canaryPASSWORD@" + here + "/canaryTOPICcanary?scheme=http",
		"gotify://" + here + "/AcanaryTOKEN.ab?disabletls=yes",
		"telegram://canaryTOKEN@telegram?chats=1",
		"nonsense://canaryTOKEN",
		"canaryTOKEN:canaryTOKEN",
		"canaryTOKEN", "%zz://canary",
		"smtp://canaryUSER:canaryPASSWORD@127.0.0.1:1/?from=a@b.c&to=a@b.c",
	} {
		s, err := Open(address)
		if err == nil {
			err = s.Send("subject", "text")
		}
		switch {
		case err == nil:
			t.Errorf("%s: want an error, have none", address)
		case strings.Contains(strings.ToLower(err.Error()), "canary"):
			t.Errorf("%s: want no part of the address, have %q", address, err)
		}
	}
}
