// Package venue holds the commands that show what an exchange offers.
package venue

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/internal/failure"
	"botd/runtime/gateway"
)

// marketJSON is a symbol's rules and its 24-hour statistics.
type marketJSON struct {
	Market        string `json:"market"`
	Symbol        string `json:"symbol"`
	Last          string `json:"last"`
	ChangePercent string `json:"change_percent"` // of 24 hours
	QuoteVolume   string `json:"quote_volume"`   // USDT in 24 hours
	PriceTick     string `json:"price_tick"`
	QuantityTick  string `json:"quantity_tick"`
	MinNotional   string `json:"min_notional"`
	MaxNotional   string `json:"max_notional"`
	MaxLeverage   int    `json:"max_leverage,omitempty"`
	FundingHours  int    `json:"funding_interval_hours,omitempty"`
	Tradable      bool   `json:"tradable"`
	ReduceOnly    bool   `json:"reduce_only"`
}

// NewMarkets returns the command botd markets.
func NewMarkets() *cobra.Command {
	var flags publicFlags
	command := &cobra.Command{
		Use: "markets", Short: "the symbols of a venue: rules, price, daily change", Args: cobra.NoArgs,
		Long: `Lists the symbols of a venue, with the rules for orders (price and quantity steps, minimum
notional, maximum leverage) and the statistics of the last 24 hours. No keys are needed.`,
		Example: "  botd markets\n  botd markets --base-url https://VENUE --market spot -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			markets := []exchange.Market{exchange.Futures, exchange.Spot}
			if flags.market != "" {
				market, err := exchange.ParseMarket(flags.market)
				if err != nil {
					return failure.Usagef("--market: %v", err)
				}
				markets = []exchange.Market{market}
			}
			venue, err := flags.open(command)
			if err != nil {
				return err
			}
			rows := []marketJSON{}
			for _, market := range markets {
				some, err := marketsOf(command, venue, market)
				if err != nil {
					return err
				}
				rows = append(rows, some...)
			}
			return shell.Print(command, rows, func(w io.Writer) { marketsTable(w, rows) })
		},
	}
	flags.add(command, "")
	command.Flags().Lookup("market").Usage = "futures or spot (default: both)"
	shell.OutputFlag(command)
	return command
}

func marketsOf(command *cobra.Command, venue *gateway.Public, market exchange.Market) ([]marketJSON, error) {
	answer, err := venue.Ask(command.Context(), exchange.Request{Operation: exchange.FuturesTickers.On(market)})
	if err != nil {
		return nil, err
	}
	tickers := map[string]exchange.Ticker{}
	for _, ticker := range answer.Tickers.Items() {
		tickers[ticker.Symbol] = ticker
	}
	var rows []marketJSON
	for _, s := range venue.Symbols {
		if s.Market != market {
			continue
		}
		row := marketJSON{Market: market.String(), Symbol: s.Name, PriceTick: s.PriceDecimal(s.PriceTick).String(),
			QuantityTick: s.QuantityDecimal(s.QuantityTick).String(),
			MinNotional:  s.MinNotional.String(), MaxNotional: s.MaxNotional.String(), FundingHours: s.FundingIntervalHours, Tradable: s.Tradable,
			ReduceOnly: s.ReduceOnly}
		for _, bracket := range s.Brackets {
			row.MaxLeverage = max(row.MaxLeverage, bracket.MaxLeverage)
		}
		if t, known := tickers[s.Name]; known {
			row.Last, row.ChangePercent, row.QuoteVolume = s.PriceDecimal(t.Last).String(), fmt.Sprintf("%.2f", t.ChangePercent),
				fmt.Sprintf("%.0f", t.QuoteVolume)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func marketsTable(w io.Writer, rows []marketJSON) {
	shell.WriteTable(w, table.Row{"market", "symbol", "last", "24h %", "24h USDT", "price step", "quantity step", "minimum USDT", "leverage", "trading"},
		rows, func(r *marketJSON) table.Row {
			trading, leverage := "yes", ""
			switch {
			case !r.Tradable:
				trading = "no"
			case r.ReduceOnly:
				trading = "reduce only"
			}
			if r.MaxLeverage > 0 {
				leverage = fmt.Sprintf("%dx", r.MaxLeverage)
			}
			return table.Row{r.Market, r.Symbol, r.Last, r.ChangePercent, r.QuoteVolume, r.PriceTick, r.QuantityTick, r.MinNotional, leverage, trading}
		})
}
