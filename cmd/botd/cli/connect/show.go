package connect

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/runtime/api/client"
)

// Show makes a command that shows one of the API's documents.
func Show[T any](use, short, path string, show func(io.Writer, *T)) *cobra.Command {
	return ShowFor(use, short, func() string { return path }, show)
}

// ShowFor makes a command whose flags select the document.
func ShowFor[T any](use, short string, path func() string, show func(io.Writer, *T)) *cobra.Command {
	var every time.Duration
	command := shows(use, short, cobra.NoArgs, &every, func([]string) string { return path() }, show)
	shell.WatchFlag(command, &every)
	return command
}

// Filter selects rows of a list that the daemon saves.
type Filter struct {
	Outcome, Order, Rule, Kind string
	All, Open                  bool

	strategy, symbol, market string
	limit                    int
}

// Add adds the flags that most lists have.
func (f *Filter) Add(command *cobra.Command) {
	command.Flags().StringVar(&f.strategy, "strategy", "", "only this strategy")
	f.AddSymbol(command)
	f.AddLimit(command)
}

// AddSymbol adds the flags that select a symbol.
func (f *Filter) AddSymbol(command *cobra.Command) {
	command.Flags().StringVar(&f.symbol, "symbol", "", "only this symbol")
	command.Flags().StringVar(&f.market, "market", "", "only this market: futures or spot")
}

// AddLimit adds the flag that every list has.
func (f *Filter) AddLimit(command *cobra.Command) {
	command.Flags().IntVarP(&f.limit, "lines", "n", 100, "maximum number of rows, newest first (1 to 1000)")
}

// Path returns the path of the rows that the flags select, for ShowFor.
func (f *Filter) Path(path string) func() string {
	return func() string {
		query := url.Values{"limit": {strconv.Itoa(f.limit)}}
		for _, part := range []struct{ name, value string }{{"strategy", f.strategy}, {"symbol", f.symbol}, {"market", f.market}, {"outcome", f.Outcome},
			{"order", f.Order}, {"rule", f.Rule}, {"kind", f.Kind}} {
			if part.value != "" {
				query.Set(part.name, part.value)
			}
		}
		if f.All {
			query.Set("state", "all")
		}
		if f.Open {
			query.Set("open", "true")
		}
		return path + "?" + query.Encode()
	}
}

// Rows shows the items of a list as the rows of a table, for Show and ShowFor.
func Rows[T any](header table.Row, row func(*T) table.Row) func(io.Writer, *client.Page[T]) {
	return func(w io.Writer, p *client.Page[T]) { shell.WriteTable(w, header, p.Items, row) }
}

// ShowOne makes a command that shows one thing by its id.
func ShowOne[T any](use, short, path string, show func(io.Writer, *T)) *cobra.Command {
	return shows(use, short, shell.One("id"), new(time.Duration), func(ids []string) string { return path + url.PathEscape(ids[0]) }, show)
}

func shows[T any](use, short string, names cobra.PositionalArgs, every *time.Duration, path func([]string) string, show func(io.Writer, *T)) *cobra.Command {
	var flags Flags
	command := &cobra.Command{
		Use: use, Short: short, Args: names,
		RunE: func(command *cobra.Command, names []string) error {
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			return shell.Watch(command, *every, func(w io.Writer) error {
				value, answer, err := client.Ask[T](command.Context(), d, http.MethodGet, path(names), nil)
				if err == nil {
					err = Refuse(command.Context(), d, path(names), answer)
				}
				if err != nil {
					return err
				}
				return shell.PrintTo(w, shell.Output(command), answer, func(w io.Writer) { show(w, &value) })
			})
		},
	}
	flags.Add(command)
	return command
}
