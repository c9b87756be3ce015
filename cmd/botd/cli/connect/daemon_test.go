package connect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/api/client"
)

type answer struct {
	status int
	text   string
}

// stub is a daemon on a unix socket that gives fixed answers, and the requests that it received.
type stub struct {
	*httptest.Server
	directory string // of a configuration of mode demo
	socket    string // in its data directory
	answers   map[string]answer
	got       []string
}

func newStub(t *testing.T) *stub {
	t.Helper()
	s := &stub{directory: t.TempDir(), answers: map[string]answer{}}
	data := filepath.Join(s.directory, "data")
	s.socket = filepath.Join(data, "demo", api.SocketName)
	write(t, filepath.Join(s.directory, "botd.yaml"), "mode: demo\nlisten: off\ndata_dir: "+data+"\n")
	if err := os.MkdirAll(filepath.Dir(s.socket), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.got = append(s.got, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		given, found := s.answers[r.URL.Path]
		if !found {
			given = answer{http.StatusNotFound, `{"detail":"no such page"}`}
		}
		w.WriteHeader(given.status)
		_, _ = io.WriteString(w, given.text)
	}))
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run executes a command line of one command under botd, and returns its output.
func run(t *testing.T, command *cobra.Command, line ...string) (string, error) {
	t.Helper()
	root, out := &cobra.Command{Use: "botd", SilenceErrors: true, SilenceUsage: true}, &bytes.Buffer{}
	root.AddCommand(command)
	root.SetOut(out)
	root.SetErr(io.Discard)
	root.SetArgs(append([]string{command.Name()}, line...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// changing is a command with the flags of a daemon, which sends a change.
func changing(method, path string, dry bool) *cobra.Command {
	var flags Flags
	command := &cobra.Command{Use: "change", RunE: func(command *cobra.Command, _ []string) error { return flags.Change(command, method, path, dry) }}
	flags.Add(command)
	return command
}

func TestAChangePrintsWhatItDoes(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.answers["/api/v1/halt"] = answer{200, `{"schema":1,"dry_run":false,"effects":["halts trading","cancels 2 orders"]}`}
	s.answers["/api/v1/reload"] = answer{200, `{"dry_run":true,"effects":["reloads"]}`}
	s.answers["/api/v1/close"] = answer{409, `{"detail":"already halted"}`}
	for _, c := range []struct {
		method, path string
		dry          bool
		line, want   string
		got          string
	}{
		{"POST", "/api/v1/halt", false, "", "halts trading\ncancels 2 orders\n", "POST /api/v1/halt "},
		{"PUT", "/api/v1/reload", true, "", "reloads\nnothing was done (--dry-run)\n", "PUT /api/v1/reload?dry_run=true "},
		{"PUT", "/api/v1/reload", true, "-o jsonl", "{\"dry_run\":true,\"effects\":[\"reloads\"]}\n", "PUT /api/v1/reload?dry_run=true "},
		{"POST", "/api/v1/close", false, "", "the daemon answered 409 Conflict: already halted", "POST /api/v1/close "},
	} {
		have, err := run(t, changing(c.method, c.path, c.dry), append(strings.Fields(c.line), "--socket", s.socket)...)
		if err != nil {
			have += err.Error()
		}
		if (err != nil) != strings.HasPrefix(c.want, "the daemon") || have != c.want || s.got[len(s.got)-1] != c.got {
			t.Errorf("%s %s: want %q after %q, have %q after %q", c.method, c.path, c.want, c.got, have, s.got)
		}
	}
	if _, err := run(t, changing("POST", "/api/v1/halt", false), "-c", filepath.Join(t.TempDir(), "missing")); failure.CodeOf(err) != 66 {
		t.Errorf("want exit code 66 for a directory that is missing, have %v", err)
	}
}

func TestADaemonIsFoundByItsConfiguration(t *testing.T) {
	demo, paper := newStub(t), newStub(t)
	demo.answers["/api/v1/status"] = answer{200, `{"mode":"demo","instance":"night"}`}
	network := httptest.NewServer(demo.Config.Handler)
	defer network.Close()
	address := strings.TrimPrefix(network.URL, "http://")
	// The configured mode comes first, then each other one: a daemon that runs in another mode must be found, too.
	write(t, filepath.Join(paper.directory, "botd.yaml"), "mode: paper\nlisten: off\ndata_dir: "+filepath.Dir(filepath.Dir(demo.socket))+"\n")
	t.Setenv(client.TokenFile, "")
	for _, c := range []struct {
		name string
		line []string
		want string // where, or a part of the error
		code int
	}{
		{"by its directory", []string{"-c", demo.directory}, demo.socket, 0},
		{"in another mode", []string{"-c", paper.directory}, demo.socket, 0},
		{"by its socket", []string{"-c", paper.directory, "--socket", paper.socket}, paper.socket, 0},
		{"by its address", []string{"-c", demo.directory, "--listen", address}, address, 0},
		{"by its URL", []string{"-c", demo.directory, "--url", network.URL}, network.URL, 0},
		{"two places", []string{"--socket", "x", "--url", "y"}, "none of the others can be", 70},
		{"a socket without a daemon", []string{"-c", demo.directory, "--socket", "missing.sock"}, "no daemon answers on missing.sock", 69},
	} {
		var flags Flags
		var d *client.Daemon
		command := &cobra.Command{Use: "x", RunE: func(command *cobra.Command, _ []string) (err error) {
			d, err = flags.Daemon(command.Context())
			return err
		}}
		flags.AddDaemon(command)
		_, err := run(t, command, c.line...)
		switch {
		case c.code != 0:
			if err == nil || failure.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: want %d and %q, have %v", c.name, c.code, c.want, err)
			}
		case err != nil || d.Where != c.want:
			t.Errorf("%s: want %s, have %+v, %v", c.name, c.want, d, err)
		}
	}
	command := &cobra.Command{Use: "x"}
	command.SetContext((&shell.Globals{Timeout: time.Minute}).In(t.Context()))
	if d, err := (&Flags{Directory: demo.directory}).Reach(command); err != nil || d.Status.Instance != "night" || d.Within != time.Minute {
		t.Errorf("want the status, and the time of --timeout, have %+v, %v", d, err)
	}
	if d, err := (&Flags{Directory: filepath.Join(demo.directory, "missing")}).Reach(command); err == nil || d != nil {
		t.Errorf("want no daemon, have %+v", d)
	}
	demo.answers["/api/v1/status"] = answer{503, `{"detail":"starting"}`}
	if _, err := (&Flags{Directory: demo.directory}).Reach(command); failure.CodeOf(err) != 75 {
		t.Errorf("want exit code 75 while it starts, have %v", err)
	}
}

// TestAnInvalidConfigurationMayBeTheReason uses a daemon that did not start since its configuration is wrong.
func TestAnInvalidConfigurationMayBeTheReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		code       int
		want       string
	}{
		{"valid", "mode: demo\n", 69, "no daemon answers on "},
		{"a mistake", "mode: demo\nmode_: x\n", 78, "botd.yaml:2"},
	} {
		directory := t.TempDir()
		write(t, filepath.Join(directory, "botd.yaml"), c.text+"listen: off\ndata_dir: "+directory+"\n")
		d, err := (&Flags{Directory: directory}).Daemon(t.Context())
		if codeOf(err) != c.code || !strings.Contains(err.Error(), c.want) || d != nil {
			t.Errorf("%s: want %d and %q, have %v", c.name, c.code, c.want, err)
		}
	}
}

func TestAChangeNeedsAReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		dry  bool
		want string
	}{
		{"", false, "botd halt needs --reason TEXT: it is written to the journal"},
		{"--reason=", false, "botd halt needs --reason TEXT: it is written to the journal"},
		{"--reason=\u00a0\t", false, "botd halt needs --reason TEXT: it is written to the journal"},
		{"--reason=night", false, ""},
		{"", true, ""},
		{"--reason=night", true, ""},
	} {
		var reason string
		command := &cobra.Command{Use: "halt", RunE: func(command *cobra.Command, _ []string) error { return CheckReason(command, reason, c.dry) }}
		ReasonFlag(command, &reason)
		_, err := run(t, command, slices.DeleteFunc([]string{c.line}, func(s string) bool { return s == "" })...)
		if have := fmt.Sprint(err); err != nil && (have != c.want || failure.CodeOf(err) != 64) || (err == nil) != (c.want == "") {
			t.Errorf("%q, dry %t: want %q, have %v", c.line, c.dry, c.want, err)
		}
	}
}

func TestAChangeSendsItsBody(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.answers["/api/v1/x"] = answer{200, `{"n":7}`}
	d, err := client.Search{Socket: s.socket}.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	command := &cobra.Command{}
	command.SetContext(context.WithoutCancel(t.Context()))
	out, raw, err := Post[struct{ N int }](command, &Running{Daemon: d}, "/api/v1/x", map[string]int{"a": 1})
	if err != nil || out.N != 7 || string(raw) != `{"n":7}` || s.got[0] != `POST /api/v1/x {"a":1}` {
		t.Errorf("want 7, have %+v, %s, %v after %q", out, raw, err, s.got)
	}
}

func TestADocumentIsShown(t *testing.T) {
	t.Parallel()
	type page struct{ Items []struct{ Name string } }
	show := func(w io.Writer, p *page) { fmt.Fprintf(w, "%d rows", len(p.Items)) }
	one := func(w io.Writer, p *struct{ Name string }) { fmt.Fprintf(w, "it is %s", p.Name) }
	s := newStub(t)
	s.answers["/api/v1/list"] = answer{200, `{"items":[{"name":"a"},{"name":"b"}]}`}
	s.answers["/api/v1/none"] = answer{200, `{"items":[]}`}
	s.answers["/api/v1/strategies"] = answer{200, `{"items":[{"name":"trend","symbol":"ETH-USDT"}]}`}
	s.answers["/api/v1/one/a/b c"] = answer{200, `{"name":"a/b c"}`}
	list := func() *cobra.Command { return Show("list", "", "/api/v1/list", show) }
	filtered := func() *cobra.Command {
		return ShowFor("list", "", func() string { return "/api/v1/none?strategy=trned" }, show)
	}
	missing := func() *cobra.Command { return Show("list", "", "/api/v1/missing", show) }
	id := func() *cobra.Command { return ShowOne("order ID", "", "/api/v1/one/", one) }
	for _, c := range []struct {
		name    string
		command *cobra.Command
		line    []string
		want    string
		code    int
	}{
		{"a table", list(), nil, "2 rows", 0},
		{"csv", list(), []string{"-o", "csv"}, "name\na\nb\n", 0},
		{"too often", list(), []string{"--watch=1ms"}, "--watch 1ms: at least 250ms", 64},
		{"an argument", list(), []string{"x"}, `unknown command "x" for "botd list"`, 64},
		{"an unknown name", filtered(), nil, "there is no strategy \"trned\"\nhint: did you mean trend?", 64},
		{"a refusal", missing(), nil, "the daemon answered 404 Not Found: no such page", 1},
		{"an id with signs of a path", id(), []string{"a/b c"}, "it is a/b c", 0},
		{"an id as a line", id(), []string{"a/b c", "-o", "jsonl"}, "{\"name\":\"a/b c\"}\n", 0},
		{"an unknown id", id(), []string{"x"}, "the daemon answered 404 Not Found: no such page", 1},
		{"no id", id(), nil, "botd order takes one id, not 0 arguments", 64},
	} {
		have, err := run(t, c.command, append(c.line, "--socket", s.socket)...)
		if err != nil {
			have += err.Error()
		}
		if code := codeOf(err); have != c.want || code != c.code {
			t.Errorf("%s: want %d and %q, have %d and %q", c.name, c.code, c.want, code, have)
		}
	}
	for _, command := range []*cobra.Command{list(), id()} {
		if _, err := run(t, command, "x", "-c", "missing"); codeOf(err) == 0 {
			t.Errorf("botd %s: want an error", command.Name())
		}
	}
	if _, err := run(t, id(), "x", "--socket", "missing.sock"); codeOf(err) != 69 {
		t.Errorf("want exit code 69 without a daemon, have %v", err)
	}
}

func codeOf(err error) int {
	if err == nil {
		return 0
	}
	return failure.CodeOf(err)
}
