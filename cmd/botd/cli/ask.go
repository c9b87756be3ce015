package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/runtime/api"
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

// askFlags say where the running daemon is.
type askFlags struct{ address, socket, url, directory, output string }

// tokenFile is the environment variable that names the file of a token, for a daemon
// over TCP. A flag would stand in the list of processes.
const tokenFile = "BOTD_TOKEN_FILE"

func (a *askFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&a.address, "listen", "", "the daemon's address (default: its unix socket in the data directory)")
	command.Flags().StringVar(&a.socket, "socket", "", "the daemon's unix socket")
	command.Flags().StringVar(&a.url, "url", "", "the daemon's URL; its token stands in the file that BOTD_TOKEN_FILE names, else in the data directory")
	command.MarkFlagsMutuallyExclusive("listen", "socket", "url")
	command.Flags().StringVarP(&a.directory, "config", "c", "", "configuration directory, for address and data directory")
}

// daemon finds the running daemon that the flags and the configuration say.
func (a *askFlags) daemon(ctx context.Context) (*daemon, error) {
	where, mistake, err := whereabouts(a.directory)
	if err != nil {
		return nil, err
	}
	given := shell.GlobalsOf(ctx)
	a.address = cmp.Or(a.url, a.address)
	at := search{socket: a.socket, address: a.address, listen: where.Listen, tokenFile: os.Getenv(tokenFile), timeout: given.Timeout, trace: given.Trace}
	for _, mode := range []configs.Mode{where.Mode, configs.Demo, configs.Paper, configs.Live} {
		at.directories = append(at.directories, filepath.Join(where.DataDir, string(mode)))
	}
	d, err := at.find(ctx)
	if err != nil && mistake != nil && a.socket == "" {
		return nil, mistake
	}
	return d, err
}

// search says where a daemon is looked for, and how it is asked.
type search struct {
	socket      string                             // the unix socket; where it is given nothing else is looked at
	address     string                             // HOST:PORT or a URL; where it is given no socket is looked for
	listen      string                             // the address that is configured
	directories []string                           // of the modes, the likeliest first: each may have a socket and tokens
	tokenFile   string                             // of a daemon over TCP; empty for the one in its directory
	timeout     time.Duration                      // of an answer, when it is longer than answerWithin
	trace       func(format string, values ...any) // may be nil
}

// daemon is the running botd, as a client reaches it.
type daemon struct {
	where  string // for people
	base   string // of its URLs
	token  string // over TCP
	client *http.Client
	within time.Duration // of an answer
	trace  func(format string, values ...any)
}

// answerWithin bounds each question: a daemon that hangs must not hang who asks it.
const answerWithin = 10 * time.Second

// find finds the running daemon: the unix socket in a data directory, which is
// for its owner alone and needs no token; else the TCP address, with a token.
func (s search) find(ctx context.Context) (*daemon, error) {
	if s.socket != "" {
		if d := s.overSocket(s.socket); d != nil {
			return d, nil
		}
		return nil, failure.New(failure.Unavailable, "is botd running? the socket is data_dir/MODE/"+api.SocketName, "no daemon answers on %s", s.socket)
	}
	if s.address == "" {
		for _, directory := range s.directories {
			if d := s.overSocket(filepath.Join(directory, api.SocketName)); d != nil {
				return d, nil
			}
		}
	}
	return s.overTCP(ctx)
}

func (s search) daemon(where, base string, client *http.Client) *daemon {
	return &daemon{where: where, base: base, client: client, within: max(answerWithin, s.timeout), trace: s.trace}
}

// whereabouts finds out where the daemon of a configuration is. Its mistakes are no
// reason not to reach it: what runs must be watched and stopped whatever the files say.
func whereabouts(directory string) (where configs.Whereabouts, mistake, err error) {
	config, problems, err := load(directory, "")
	if err != nil {
		return where, nil, err
	}
	if problems.Err() == nil {
		return config.Where(), nil, nil
	}
	if directory == "" {
		directory = "configs"
	}
	return configs.Locate(os.DirFS(directory)), failure.New(failure.Config, "", "%s", problems.String()), nil
}

// overSocket returns the daemon behind a unix socket, or nil.
func (s search) overSocket(path string) *daemon {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil
	}
	_ = conn.Close() // it only showed that somebody listens
	return s.daemon(path, "http://botd", &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}}})
}

// overTCP returns the daemon at an address. Its token is the one that it knows: a
// data directory may hold those of other modes.
func (s search) overTCP(ctx context.Context) (*daemon, error) {
	address := cmp.Or(s.address, s.listen)
	if address == configs.ListenOff {
		return nil, failure.New(failure.Unavailable, "is botd running? botd run starts it; -c names another configuration", "no daemon answers on %s, and listen is off", filepath.Join(s.directories[0], api.SocketName))
	}
	d := s.daemon(address, "http://"+address, http.DefaultClient)
	if strings.Contains(address, "://") {
		d.base = strings.TrimSuffix(address, "/")
	}
	if s.tokenFile != "" {
		token, err := configs.ReadToken(tokenFile, s.tokenFile)
		if err != nil {
			return nil, failure.Wrap(failure.Credentials, err)
		}
		d.token = token
		return d, d.private()
	}
	health, _, err := d.send(ctx, http.MethodGet, "/healthz", nil)
	if err != nil {
		return nil, err
	}
	var told struct{ Mode string }
	_ = json.Unmarshal(health, &told) // without a mode no token is found, which is said by the next answer
	for _, directory := range s.directories {
		if filepath.Base(directory) != told.Mode {
			continue
		}
		text, err := os.ReadFile(filepath.Join(directory, auth.OperatorFile))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, failure.Wrap(failure.Credentials, err)
		}
		d.token = strings.TrimSpace(string(text))
		break
	}
	return d, d.private()
}

// private refuses to send a token over a network in the clear.
func (d *daemon) private() error {
	at, err := url.Parse(d.base)
	if err != nil {
		return failure.Usagef("address %q can not be asked", d.where)
	}
	if host := at.Hostname(); d.token == "" || at.Scheme == "https" || host == "localhost" || net.ParseIP(host).IsLoopback() {
		return nil
	}
	return failure.Usagef("a token would go to %s in the clear\nhint: https://, or an ssh tunnel to the daemon's own address", d.where)
}

// call asks the daemon.
func (d *daemon) call(ctx context.Context, method, path string, body any) ([]byte, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	answer, status, err := d.send(ctx, method, path, reader)
	if err != nil || status/100 == 2 {
		return answer, err
	}
	var problem api.Problem
	_ = json.Unmarshal(answer, &problem) // an answer that is no problem document shows its status alone
	code, hint := failure.Negative, ""
	switch status {
	case http.StatusUnauthorized:
		code, hint = failure.Credentials, "this botd runs on another configuration: go to its directory, name it by -c DIR, or name the file of a token in "+tokenFile
	case http.StatusForbidden:
		code = failure.Credentials
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		code = failure.Temporary
	}
	return nil, failure.New(code, hint, "the daemon said %d %s: %s", status, http.StatusText(status), problem.Detail)
}

// send sends a request and reads its answer, whatever it is.
func (d *daemon) send(ctx context.Context, method, path string, body io.Reader) (answer []byte, status int, err error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, d.within)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, d.base+path, body)
	if err != nil {
		return nil, 0, failure.Usagef("address %q can not be asked", d.where)
	}
	if d.token != "" {
		request.Header.Set("Authorization", "Bearer "+d.token)
	}
	response, err := d.client.Do(request)
	if err != nil {
		return nil, 0, failure.New(failure.Unavailable, "is botd running? botd run starts it; -c and --listen name another one", "no daemon answers on %s", d.where)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return nil, 0, failure.New(failure.Unavailable, "", "read the daemon's answer: %w", err)
	}
	if d.trace != nil {
		d.trace("%s %s on %s: %d, %d bytes in %s", method, path, d.where, response.StatusCode, len(answer), time.Since(began).Round(time.Microsecond))
	}
	return answer, response.StatusCode, nil
}

// asking makes a command that shows one of the API's documents.
func asking[T any](use, short, path string, show func(io.Writer, *T)) *cobra.Command {
	return askingFor(use, short, func() string { return path }, show)
}

// askingFor makes one whose flags say which document.
func askingFor[T any](use, short string, path func() string, show func(io.Writer, *T)) *cobra.Command {
	var flags askFlags
	var every time.Duration
	command := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			d, err := flags.daemon(command.Context())
			if err != nil {
				return err
			}
			return shell.Watch(command, every, func(w io.Writer) error {
				value, answer, err := ask[T](command.Context(), d, http.MethodGet, path(), nil)
				if err != nil {
					return err
				}
				return shell.Print(w, flags.output, answer, func(w io.Writer) { show(w, &value) })
			})
		},
	}
	flags.add(command)
	shell.OutputFlag(command, &flags.output)
	shell.WatchFlag(command, &every)
	return command
}

// ask calls the daemon and reads its answer as a T.
func ask[T any](ctx context.Context, d *daemon, method, path string, body any) (out T, raw json.RawMessage, err error) {
	raw, err = d.call(ctx, method, path, body)
	if err != nil {
		return out, nil, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, nil, failure.New(failure.Unavailable, "is that address botd's?", "the answer of %s is not botd's", d.where)
	}
	return out, raw, nil
}

// page is a list the API answers.
type page[T any] struct {
	Items []T `json:"items"`
}

// mostHoldings bounds how many assets a line names.
const mostHoldings = 5

func holdings(all []view.Holding) string {
	var parts []string
	for i, one := range all {
		if i == mostHoldings {
			parts = append(parts, fmt.Sprintf("%d more assets", len(all)-i))
			break
		}
		parts = append(parts, one.Quantity+" "+one.Asset)
	}
	return strings.Join(parts, ", ")
}

func newStatus() *cobra.Command {
	command := asking("status", "what the running daemon does", "/api/v1/status", func(w io.Writer, s *view.Status) {
		state := "ready"
		if !s.Ready {
			state = "NOT READY"
		}
		if s.Halted != reconcile.LevelNone {
			state += ", HALTED (" + s.Halted.String() + "): " + s.Why
		}
		fmt.Fprintf(w, "botd %s  %s  up %s  %s\nequity %s USDT  available %s  orders %d  unsettled %d\n", s.Mode, s.Instance, time.Duration(s.UptimeS)*time.Second, state, s.Equity, s.Available, s.Open, s.Unsettled)
		if len(s.Uncounted) > 0 {
			fmt.Fprintf(w, "not in it: %s of the spot wallet, which botd did not buy\n", holdings(s.Uncounted))
		}
		if s.Unclean {
			fmt.Fprintf(w, "the run before this one did not end by a clean stop (found at the start, %s)\n", s.Started.Format(time.DateTime))
		}
		showDegraded(w, s.Degraded)
		t := shell.NewTable(w, table.Row{"strategy", "state", "market", "symbol", "position", "target", "last", "why"})
		for _, r := range s.Strategies {
			t.AppendRow(table.Row{r.Name, r.State, r.Market, r.Symbol, r.Position, r.Target, r.Last, strings.Trim(r.Why+"; "+r.Reason, "; ")})
		}
		t.Render()
	})
	command.Long = `Shows how the running daemon is: ready or not, equity, orders; each declared state in which
something does not open, with its cause, since when and its way out (docs/concepts.md); and
what each strategy has, wants, and why.`
	command.Example = "  botd status\n  botd status --watch\n  botd status -o json | jq -r .ready"
	return command
}

// showDegraded tells, a line each, what does not trade as usual, and what ends that.
func showDegraded(w io.Writer, all []view.Degraded) {
	for i := range all {
		d := &all[i]
		of := strings.TrimSpace(d.Strategy + " " + d.Symbol)
		if of == "" {
			of = "account"
		}
		fmt.Fprintf(w, "%s (%s) since %s: %s\n  way out: %s%s\n", strings.ToUpper(d.State), of, d.Since.Format(time.DateTime), d.Cause, d.WayOut, until(d))
		if d.Doing != "" {
			fmt.Fprintf(w, "  under way: %s\n", d.Doing)
		}
	}
}

// until tells when a state ends by itself, where that is known.
func until(d *view.Degraded) string {
	if d.Until == nil {
		return ""
	}
	return ", at " + d.Until.UTC().Format(time.DateTime)
}

// readPlaces are what a person reads of a price that is a mean of others.
const readPlaces = 8

// asRead is a decimal as a table shows it: 0 is none, and a long tail is cut.
func asRead(decimal string) string {
	if strings.Trim(decimal, "-0.") == "" {
		return "-"
	}
	if dot := strings.IndexByte(decimal, '.'); dot >= 0 && len(decimal) > dot+1+readPlaces {
		return strings.TrimRight(strings.TrimRight(decimal[:dot+1+readPlaces], "0"), ".")
	}
	return decimal
}

// running is the daemon that answers, with its status.
type running struct {
	*daemon
	status view.Status
}

// reach finds the running daemon.
func (a *askFlags) reach(command *cobra.Command) (*running, error) {
	d, err := a.daemon(command.Context())
	if err != nil {
		return nil, err
	}
	status, _, err := ask[view.Status](command.Context(), d, http.MethodGet, "/api/v1/status", nil)
	return &running{d, status}, err
}

// post changes something, or asks what a change would do, and returns the answer.
func post[T any](command *cobra.Command, d *running, path string, body any) (out T, raw json.RawMessage, err error) {
	return ask[T](command.Context(), d.daemon, http.MethodPost, path, body)
}

// change asks the daemon for a change that needs no more than its path, or only what
// it would do, and prints its answer.
func (a *askFlags) change(command *cobra.Command, method, path string, dry bool) error {
	d, err := a.daemon(command.Context())
	if err != nil {
		return err
	}
	if dry {
		path += "?dry_run=true"
	}
	change, raw, err := ask[api.Change](command.Context(), d, method, path, nil)
	if err != nil {
		return err
	}
	return showChange(command, a.output, &change, raw)
}

// showChange prints the answer to a change, or to a trial of one.
func showChange(command *cobra.Command, output string, change *api.Change, raw json.RawMessage) error {
	return shell.Print(command.OutOrStdout(), output, raw, func(w io.Writer) {
		for _, line := range change.Does {
			fmt.Fprintln(w, line)
		}
		if change.DryRun {
			fmt.Fprintln(w, shell.NothingDone)
		}
	})
}
