package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// filter picks some of a list that the daemon keeps.
type filter struct {
	strategy, symbol, market, outcome, order, rule, kind string
	limit                                                int
	all                                                  bool
}

func (f *filter) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.strategy, "strategy", "", "of one strategy alone")
	flags.StringVar(&f.symbol, "symbol", "", "of one symbol alone")
	flags.StringVar(&f.market, "market", "", "of futures or spot alone")
	f.addLimit(command)
}

func (f *filter) addLimit(command *cobra.Command) {
	command.Flags().IntVarP(&f.limit, "lines", "n", 100, "how many, the newest; up to 1000")
}

func (f *filter) path(path string) string {
	query := url.Values{"limit": {strconv.Itoa(f.limit)}}
	for _, part := range []struct{ name, value string }{{"strategy", f.strategy}, {"symbol", f.symbol}, {"market", f.market}, {"outcome", f.outcome}, {"order", f.order}, {"rule", f.rule}, {"kind", f.kind}} {
		if part.value != "" {
			query.Set(part.name, part.value)
		}
	}
	if f.all {
		query.Set("state", "all")
	}
	return path + "?" + query.Encode()
}

func newOrders() *cobra.Command {
	command := orderList()
	command.AddCommand(newOrderShow(), newOrderCancel(), shell.Alias("list", orderList()))
	return command
}

func orderList() *cobra.Command {
	var f filter
	command := askingFor("orders", "orders under way, as the daemon knows them; --all also those that ended", func() string { return f.path("/api/v1/orders") }, func(w io.Writer, p *client.Page[view.Order]) {
		t := shell.NewTable(w, table.Row{"client order id", "order", "strategy", "purpose", "symbol", "side", "type", "state", "price", "stop", "quantity", "filled"})
		for _, o := range p.Items {
			t.AppendRow(table.Row{o.ClientOrderID, o.OrderID, o.Strategy, o.Purpose, o.Symbol, o.Side, o.Type, o.State, unlessNone(o.Price), unlessNone(o.StopPrice), quantityOf(&o), o.Filled})
		}
		t.Render()
	})
	command.Long = `Shows the orders botd placed: those that are in the book, in flight or of unknown fate, and
with --all also those that ended, the newest first. Orders that somebody else placed are not
among them: botd reconcile.`
	command.Example = "  botd orders\n  botd orders --all --strategy trend -n 20\n  botd orders show bmain-touj3l-2\n  botd orders cancel bmain-touj3l-2 --reason \"too near\" --dry-run"
	f.add(command)
	command.Flags().BoolVar(&f.all, "all", false, "also those that ended")
	return command
}

// unlessNone is a price, empty for an order that has none.
func unlessNone(price string) string {
	if price == "0" {
		return ""
	}
	return price
}

// quantityOf is an order's quantity; an order that closes whatever is held has none.
func quantityOf(o *view.Order) string {
	if o.ClosePosition {
		return "all"
	}
	return quantityOr(o.Quantity, o.QuoteAmount)
}

// quantityOr is a quantity; a spot purchase at the market has an amount to spend.
func quantityOr(quantity, quoteAmount string) string {
	if quoteAmount != "" {
		return "for " + quoteAmount + " USDT"
	}
	return quantity
}

func newOrderShow() *cobra.Command {
	command := showing("show ID", "one order's life, step by step", "/api/v1/orders/", func(w io.Writer, o *view.OneOrder) {
		fmt.Fprintf(w, "%s  %s  %s %s %s %s on %s, %s", o.ClientOrderID, o.Strategy, o.Purpose, o.Side, o.Type, quantityOf(&o.Order), o.Symbol, o.State)
		if o.OrderID != 0 {
			fmt.Fprintf(w, ", order %d", o.OrderID)
		}
		fmt.Fprintln(w)
		stepTable(w, o.Steps)
	})
	command.Long = "Shows one order with the time of each step: sent, acknowledged, filled, settled, and by what\nevidence. The id is botd's (client order id) or the exchange's."
	command.Example = "  botd orders show bmain-touj3l-2\n  botd orders show 17 -o json"
	return command
}

func newIntents() *cobra.Command {
	command := intentList()
	command.AddCommand(newIntentShow(), shell.Alias("list", intentList()))
	return command
}

func intentList() *cobra.Command {
	var f filter
	command := askingFor("intents", "recent intents, and what became of them", func() string { return f.path("/api/v1/intents") }, func(w io.Writer, p *client.Page[view.Intent]) {
		t := shell.NewTable(w, table.Row{"id", "time (UTC)", "strategy", "purpose", "symbol", "side", "quantity", "outcome", "detail"})
		for _, i := range p.Items {
			t.AppendRow(table.Row{i.ID, shell.Second(i.AtMS), i.Strategy, i.Purpose, i.Symbol, i.Side, quantityOr(i.Quantity, i.QuoteAmount), i.Outcome, i.Detail})
		}
		t.Render()
	})
	command.Long = `Shows the changes botd wanted since its start, the newest first, with what became of each:
refused by a rule, filled, uncertain, and so on. Why one was refused: botd intents show ID.`
	command.Example = "  botd intents --outcome refused\n  botd intents show 12\n  botd intents show bmain-touj3l-2"
	f.add(command)
	command.Flags().StringVar(&f.outcome, "outcome", "", "of one outcome alone: refused, filled, uncertain ...")
	return command
}

func newIntentShow() *cobra.Command {
	command := showing("show ID", "one intent: wanted, checked rule by rule, sent, settled", "/api/v1/intents/", func(w io.Writer, i *view.OneIntent) {
		fmt.Fprintf(w, "%s  %s  %s %s %s %s on %s: %s\n", i.ID, i.Strategy, i.Purpose, i.Side, i.Type, quantityOr(i.Quantity, i.QuoteAmount), i.Symbol, i.Outcome)
		stepTable(w, i.Steps)
		if len(i.Checks) > 0 {
			ruleTable(w, i.Checks)
		}
	})
	command.Long = "Shows one intent from wish to end: why it was wanted, what each rule said with value and limit,\nwhen it was journalled, sent, acknowledged, settled. The id is the list's, or a client order id."
	command.Example = "  botd intents show 12\n  botd intents show bmain-touj3l-2 -o json"
	return command
}

// showing makes a command that shows one thing by its id.
func showing[T any](use, short, path string, show func(io.Writer, *T)) *cobra.Command {
	var flags askFlags
	command := &cobra.Command{
		Use: use, Short: short,
		Args: func(command *cobra.Command, ids []string) error {
			if len(ids) != 1 {
				return failure.Usagef("%s takes one id", command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, ids []string) error {
			d, err := flags.daemon(command.Context())
			if err != nil {
				return err
			}
			value, raw, err := client.Ask[T](command.Context(), d, http.MethodGet, path+url.PathEscape(ids[0]), nil)
			if err != nil {
				return err
			}
			return shell.Print(command.OutOrStdout(), flags.output, raw, func(w io.Writer) { show(w, &value) })
		},
	}
	flags.add(command)
	shell.OutputFlag(command, &flags.output)
	return command
}

// stepTable tells a life with the time each step took.
func stepTable(w io.Writer, steps []view.Step) {
	t := shell.NewTable(w, table.Row{"time (UTC)", "after", "step", "what"})
	for i, s := range steps {
		after := ""
		if i > 0 {
			after = "+" + (time.Duration(s.AtMS-steps[0].AtMS) * time.Millisecond).String()
		}
		t.AppendRow(table.Row{time.UnixMilli(s.AtMS).UTC().Format("2006-01-02 15:04:05.000"), after, s.Step, s.Text})
	}
	t.Render()
}

func newFills() *cobra.Command {
	var f filter
	command := askingFor("fills", "what was filled, the newest first", func() string { return f.path("/api/v1/fills") }, func(w io.Writer, p *client.Page[view.Fill]) {
		t := shell.NewTable(w, table.Row{"time (UTC)", "strategy", "purpose", "market", "symbol", "side", "quantity", "price", "client order id"})
		for _, i := range p.Items {
			price := i.Price
			if price == "0" {
				price = "" // the exchange told none
			}
			t.AppendRow(table.Row{shell.Second(i.AtMS), i.Strategy, i.Purpose, i.Market, i.Symbol, i.Side, i.Quantity, price, i.ClientOrderID})
		}
		t.Render()
	})
	command.Long = "Shows what was filled between two looks at an order: when it was seen, how much, and the\nmean price of the order so far where the exchange tells one. Of every run the journal has."
	command.Example = "  botd fills --strategy trend\n  botd fills -n 1000 -o csv > fills.csv"
	f.add(command)
	command.Flags().StringVar(&f.order, "order", "", "of one order alone, by its client order id")
	return command
}

func newAccount() *cobra.Command {
	command := asking("account", "the money: wallet, margin, spot balances, equity", "/api/v1/account", func(w io.Writer, a *view.Account) {
		if a.AtMS == 0 {
			fmt.Fprintln(w, "the account was not read yet")
			return
		}
		t := shell.NewTable(w, table.Row{"what", "USDT"})
		for _, row := range []struct{ name, value string }{
			{"equity of all markets", a.Total}, {"futures equity", a.Equity}, {"futures wallet", a.Wallet}, {"unrealised", a.Unrealized}, {"available", a.Available}, {"margin used", a.MarginUsed}, {"maintenance margin", a.Maintenance},
		} {
			t.AppendRow(table.Row{row.name, row.value})
		}
		t.Render()
		if len(a.Balances) > 0 {
			t = shell.NewTable(w, table.Row{"spot", "free", "in orders"})
			for _, b := range a.Balances {
				t.AppendRow(table.Row{b.Asset, b.Free, b.Frozen})
			}
			t.Render()
		}
		fmt.Fprintf(w, "read %s UTC\n", shell.Second(a.AtMS))
	})
	command.Long = "Shows both wallets as the daemon read them last: futures with margin and unrealised profit, spot\nwith what orders hold back, and the equity of all markets at the last prices."
	command.Example = "  botd account\n  botd account --watch"
	return command
}
