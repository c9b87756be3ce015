package endtoend

import (
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestALinkLogsABrowserIn does what a person and a browser do: it uses the link of botd login, exchanges its
// code for a cookie, and makes a change with it.
func TestALinkLogsABrowserIn(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	binary := self(t)
	address := demoListening(t, binary, directory)
	command := exec.Command(binary, "login")
	command.Dir = directory
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	link, err := url.Parse(strings.TrimSpace(string(output)))
	_, port, _ := strings.Cut(address, ":") // the name is specific to the data directory: no other daemon on the machine gets its cookie
	own := regexp.MustCompile(`^botd-[0-9a-f]{12}\.localhost:` + port + `$`)
	if err != nil || !own.MatchString(link.Host) || link.Path != "/login" || len(link.Fragment) < 26 || link.RawQuery != "" {
		t.Fatalf("want a link to http://botd-….localhost:%s/login with the code behind #, have %s, %v", port, output, err)
	}
	post := func(path, body string, cookies ...*http.Cookie) *http.Response {
		t.Helper()
		request, err := http.NewRequest(http.MethodPost, "http://"+address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, cookie := range cookies {
			request.AddCookie(cookie)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		return response
	}
	login := post("/api/v1/session", `{"code":"`+link.Fragment+`"}`)
	if login.StatusCode != http.StatusOK || len(login.Cookies()) != 1 {
		t.Fatalf("want a cookie, have %s", login.Status)
	}
	if again := post("/api/v1/session", `{"code":"`+link.Fragment+`"}`); again.StatusCode != http.StatusUnauthorized {
		t.Errorf("the link a second time: want 401, have %s", again.Status)
	}
	if without := post("/api/v1/risk/halt", `{"level":"pause","reason":"x"}`); without.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the cookie: want 401, have %s", without.Status)
	}
	if halted := post(
		"/api/v1/risk/halt",
		`{"level":"pause","reason":"from the browser"}`,
		login.Cookies()...); halted.StatusCode != http.StatusAccepted {
		body, _ := io.ReadAll(halted.Body)
		t.Errorf("with it: want 202, have %s %s", halted.Status, body)
	}
	tail := exec.Command(binary, "journal", "export")
	tail.Dir = directory
	journal, err := tail.Output()
	if err != nil || !strings.Contains(string(journal), `"kind":"audit"`) || !strings.Contains(string(journal), `"actor":"session"`) ||
		strings.Contains(string(journal), link.Fragment) {
		t.Errorf("want who asked in the journal, and no code, have %v\n%.2000s", err, journal)
	}
}
