package venue

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/internal/failure"
)

// bookJSON is an order book, best first.
type bookJSON struct {
	Market string      `json:"market"`
	Symbol string      `json:"symbol"`
	ID     int64       `json:"id"`
	Spread string      `json:"spread,omitempty"` // best ask minus best bid
	Bids   []levelJSON `json:"bids"`
	Asks   []levelJSON `json:"asks"`
}

type levelJSON struct {
	Price    string `json:"price"`
	Quantity string `json:"quantity"`
	Total    string `json:"total"` // cumulative quantity to this level
}

// Rows returns the levels as the table shows them.
func (b bookJSON) Rows() any {
	type row struct {
		Side string `json:"side"`
		levelJSON
	}
	all := []row{}
	for _, level := range slices.Backward(b.Asks) {
		all = append(all, row{"ask", level})
	}
	for _, level := range b.Bids {
		all = append(all, row{"bid", level})
	}
	return all
}

// NewBook returns the command botd book.
func NewBook() *cobra.Command {
	var flags publicFlags
	var limit int
	command := &cobra.Command{
		Use: "book SYMBOL", Short: "the order book of a symbol", Args: shell.One("SYMBOL, such as BTC-USDT"),
		Long: "Shows the order book of a symbol on a venue: asks above, bids below, the best in the\nmiddle, with the cumulative " +
			"quantity at each price. No keys are needed.",
		Example: "  botd book BTC-USDT\n  botd book BTC-USDT --market spot --limit 5 --base-url https://VENUE -o json",
		RunE: func(command *cobra.Command, names []string) error {
			venue, err := flags.open(command)
			if err != nil {
				return err
			}
			symbol, err := venue.Find(flags.market, names[0])
			if err != nil {
				return err
			}
			request, err := bookRequest(symbol, limit)
			if err != nil {
				return err
			}
			answer, err := venue.Ask(command.Context(), request)
			if err != nil {
				return err
			}
			shown := bookOf(symbol, &answer.Depth, limit)
			return shell.Print(command, shown, func(w io.Writer) { bookTable(w, symbol, &shown) })
		},
	}
	flags.add(command, "futures")
	command.Flags().IntVar(&limit, "limit", 10, "number of prices per side; futures up to 1000, spot up to 100")
	shell.OutputFlag(command)
	return command
}

// bookRequest requests at least that many levels; spot supports a few sizes only.
func bookRequest(symbol *exchange.Symbol, limit int) (exchange.Request, error) {
	request := exchange.Request{Operation: exchange.FuturesDepth, Symbol: symbol.Name, Limit: limit}
	most := 1000
	if symbol.Market == exchange.Spot {
		request.Operation, most = exchange.SpotDepth, 100
		for _, size := range []int{100, 50, 20, 10, 5} { // interface, Limits
			if limit <= size {
				request.Limit = size
			}
		}
	}
	if limit < 1 || limit > most {
		return request, failure.Usagef("--limit %d: from 1 to %d", limit, most)
	}
	return request, nil
}

func bookOf(symbol *exchange.Symbol, depth *exchange.Depth, limit int) bookJSON {
	side := func(levels []exchange.Level) []levelJSON {
		rows, total := []levelJSON{}, exchange.Quantity(0)
		for _, level := range levels[:min(limit, len(levels))] {
			total += level.Quantity
			rows = append(rows, levelJSON{symbol.PriceDecimal(level.Price).String(), symbol.QuantityDecimal(level.Quantity).String(),
				symbol.QuantityDecimal(total).String()})
		}
		return rows
	}
	shown := bookJSON{Market: symbol.Market.String(), Symbol: symbol.Name, ID: depth.ID, Bids: side(depth.Bids), Asks: side(depth.Asks)}
	if len(depth.Bids) > 0 && len(depth.Asks) > 0 {
		shown.Spread = symbol.PriceDecimal(depth.Asks[0].Price - depth.Bids[0].Price).String()
	}
	return shown
}

func bookTable(w io.Writer, symbol *exchange.Symbol, b *bookJSON) {
	t := shell.NewTable(w, table.Row{"", "price", "quantity " + symbol.Base, "up to here"})
	for i := len(b.Asks) - 1; i >= 0; i-- {
		t.AppendRow(table.Row{"ask", b.Asks[i].Price, b.Asks[i].Quantity, b.Asks[i].Total})
	}
	t.AppendSeparator()
	for _, level := range b.Bids {
		t.AppendRow(table.Row{"bid", level.Price, level.Quantity, level.Total})
	}
	t.Render()
	if b.Spread != "" {
		fmt.Fprintf(w, "spread %s\n", b.Spread)
	}
}
