package notify

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
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

// TestASecretIsEveryPartOfAnAddressOfFourCharacters covers what is redacted from the configuration, the log and support archives.
func TestASecretIsEveryPartOfAnAddressOfFourCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ address, want string }{
		{"telegram://1234:TOKEN@telegram?chats=42,4711", "telegram://1234:TOKEN@telegram?chats=42,4711 TOKEN 1234 42,4711 telegram"},
		{"discord://TOKEN@12345", "discord://TOKEN@12345 TOKEN 12345"},
		{"smtp://USER:PASS@mail.example.com:587/?from=a@b&x=abc", "smtp://USER:PASS@mail.example.com:587/?from=a@b&x=abc PASS USER"},
		{"https://hc-ping.com/abcd/efg/hijk", "https://hc-ping.com/abcd/efg/hijk abcd hijk"},
		{"mailto:secret", "mailto:secret secret"},
		{"%zz://canary", "%zz://canary"},
	} {
		have, want := SecretParts(c.address), strings.Fields(c.want)
		if !slices.Equal(have, want) {
			t.Errorf("%s: want %q, have %q", c.address, want, have)
		}
	}
}

func TestAnErrorHasNoPartOfTheAddressInAnyForm(t *testing.T) {
	t.Parallel()
	s := &service{secrets: []string{"to/ken é", "pass"}}
	for _, c := range []struct{ err, want string }{
		{"no hook to/ken é", "no hook (hidden)"},
		{"no hook to%2Fken%20%C3%A9", "no hook (hidden)"}, // as a part of a path
		{"no hook to%2Fken+%C3%A9", "no hook (hidden)"},   // as a value of a query
		{`Post "https://example.com/x?y": refused`, `Post "(address)": refused`},
		{strings.Repeat("x", 300), strings.Repeat("x", 300)},
		{strings.Repeat("x", 301), strings.Repeat("x", 300) + "…"},
		{strings.Repeat("x", 299) + "é", strings.Repeat("x", 299) + "…"},
		{"pass and pass", "(hidden) and (hidden)"},
	} {
		if have := s.hide(errors.New(c.err)).Error(); have != c.want {
			t.Errorf("%s: want %q, have %q", c.err, c.want, have)
		}
	}
	if err := s.hide(nil); err != nil {
		t.Errorf("want no error of none, have %v", err)
	}
}

func TestInvalidAddressIsRefusedWithAnExample(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"telegram://x@telegram": "hint: write telegram://TOKEN@telegram?chats=NUMBER",
		"discord://":            "hint: write discord://TOKEN@ID",
		"pushover://":           "hint: write pushover://..., as https://shoutrrr.nickfedor.com/ shows for pushover",
		"https://example.com/x": "begins with one of bark, discord, generic, googlechat, ",
	} {
		if _, err := Open(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, have %v", address, want, err)
		}
	}
}

// TestASubjectInTheAddressStays uses a service with titles, by an address without and with one of its own.
func TestASubjectInTheAddressStays(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{"": true, "&title=mine": false, "&subject=mine": false} {
		s, err := Open("ntfy://ntfy.example/topic?scheme=http" + query)
		if query == "&subject=mine" { // a mail's
			s, err = Open("smtp://mail.example:25/?from=a@b.c&to=a@b.c" + query)
		}
		if err != nil {
			t.Fatal(err)
		}
		if have := s.(*service).titled; have != want {
			t.Errorf("%q: want botd's subject %t, have %t", query, want, have)
		}
	}
}
