package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/reconcile/record"
	"botd/runtime/api"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// askFlags say where the running daemon is.
type askFlags struct{ address, socket, url, directory, output string }

func (a *askFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&a.address, "listen", "", "the daemon's address (default: its unix socket in the data directory)")
	command.Flags().StringVar(&a.socket, "socket", "", "the daemon's unix socket")
	command.Flags().StringVar(&a.url, "url", "", "the daemon's URL; its token stands in the file that BOTD_TOKEN_FILE names, else in the data directory")
	command.MarkFlagsMutuallyExclusive("listen", "socket", "url")
	command.Flags().StringVarP(&a.directory, "config", "c", "", "configuration directory, for address and data directory")
}

// daemon finds the running daemon that the flags and the configuration say.
func (a *askFlags) daemon(ctx context.Context) (*client.Daemon, error) {
	where, mistake, err := whereabouts(a.directory)
	if err != nil {
		return nil, err
	}
	given := shell.GlobalsOf(ctx)
	a.address = cmp.Or(a.url, a.address)
	at := client.Search{Socket: a.socket, Address: a.address, Listen: where.Listen, TokenFile: os.Getenv(client.TokenFile), Timeout: given.Timeout, Trace: given.Trace}
	for _, mode := range []configs.Mode{where.Mode, configs.Demo, configs.Paper, configs.Live} {
		at.Directories = append(at.Directories, filepath.Join(where.DataDir, string(mode)))
	}
	d, err := at.Find(ctx)
	if err != nil && mistake != nil && a.socket == "" {
		return nil, mistake
	}
	return d, err
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
				value, answer, err := client.Ask[T](command.Context(), d, http.MethodGet, path(), nil)
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
		if s.Halted != record.LevelNone {
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
	*client.Daemon
	status view.Status
}

// reach finds the running daemon.
func (a *askFlags) reach(command *cobra.Command) (*running, error) {
	d, err := a.daemon(command.Context())
	if err != nil {
		return nil, err
	}
	status, _, err := client.Ask[view.Status](command.Context(), d, http.MethodGet, "/api/v1/status", nil)
	return &running{d, status}, err
}

// post changes something, or asks what a change would do, and returns the answer.
func post[T any](command *cobra.Command, d *running, path string, body any) (out T, raw json.RawMessage, err error) {
	return client.Ask[T](command.Context(), d.Daemon, http.MethodPost, path, body)
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
	change, raw, err := client.Ask[api.Change](command.Context(), d, method, path, nil)
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
