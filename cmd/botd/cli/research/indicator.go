package research

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/strategy/indicator"
)

type indicatorFlags struct {
	parameters     []string
	data, interval string
	repair         bool
}

// NewIndicator returns the command botd indicator.
func NewIndicator() *cobra.Command {
	var flags indicatorFlags
	command := &cobra.Command{
		Use: "indicator NAME --data FILE", Short: "one indicator over recorded candles, one row per candle",
		Long: `Runs one indicator over recorded candles and prints one row per candle: the open time and
the indicator's outputs, empty before the first value. It is the indicator that strategies
use, so a chart made elsewhere can be compared with what a strategy sees.

Without NAME it lists every indicator with its parameters and outputs.`,
		Example: "  botd indicator\n  botd indicator sma --param period=20 --data candles.csv\n  botd indicator macd --param fast=5 --param " +
			"slow=35 --data candles.csv.gz -o json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return listIndicators(command, flags)
			}
			return runIndicator(command, arguments[0], flags)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return indicatorNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := command.Flags()
	f.StringArrayVar(&flags.parameters, "param", nil, "a parameter, name=value; may be repeated")
	f.StringVar(&flags.data, "data", "", "recorded candles (CSV, maybe gzip)")
	f.StringVar(&flags.interval, "interval", "", "the candles' interval (default: found from the data)")
	f.BoolVar(&flags.repair, "repair", false, "drop wrong rows, and report them")
	shell.OutputFlag(command)
	return command
}

func indicatorNames() []string {
	var names []string
	for _, d := range indicator.All() {
		names = append(names, d.Name)
	}
	return names
}

func listIndicators(command *cobra.Command, flags indicatorFlags) error {
	if flags.data != "" {
		return failure.Usagef("which indicator? one of: %s", strings.Join(indicatorNames(), ", "))
	}
	type row struct {
		Name       string                `json:"name"`
		Summary    string                `json:"summary"`
		Parameters []indicator.Parameter `json:"parameters"`
		Outputs    []string              `json:"outputs"`
	}
	var rows []row
	for _, d := range indicator.All() {
		rows = append(rows, row{d.Name, d.Summary, append([]indicator.Parameter{}, d.Parameters...), d.Outputs})
	}
	return shell.Print(command, rows, func(w io.Writer) {
		shell.WriteTable(w, table.Row{"name", "description", "parameters", "outputs"}, rows, func(r *row) table.Row {
			var all []string
			for _, p := range r.Parameters {
				all = append(all, fmt.Sprintf("%s=%v", p.Name, p.Default))
			}
			return table.Row{r.Name, r.Summary, strings.Join(all, " "), strings.Join(r.Outputs, " ")}
		})
	})
}

func runIndicator(command *cobra.Command, name string, flags indicatorFlags) error {
	definition, found := indicator.Find(name)
	if !found {
		return failure.Usagef("unknown indicator %q\nhint: one of %s", name, strings.Join(indicatorNames(), ", "))
	}
	given, err := parameters(flags.parameters)
	if err != nil {
		return err
	}
	stream, err := definition.New(given)
	if err != nil {
		return failure.Wrap(failure.Usage, err)
	}
	if flags.data == "" {
		return failure.Usagef("botd indicator %s needs --data FILE", name)
	}
	output := shell.Output(command)
	if !command.Flags().Changed("output") {
		output = "csv" // the contract's default; a table of so many rows must be requested
	}
	recorded, err := loadAnyCandles(command, flags.data, flags.interval, flags.repair)
	if err != nil {
		return err
	}
	w := command.OutOrStdout()
	if err := shell.RefuseShape(w, output); err != nil {
		return err
	}
	switch output {
	case "csv":
		err = writeIndicatorCSV(w, definition, stream, recorded)
	case "json":
		err = writeIndicatorJSON(w, definition, stream, recorded, "[\n", ",\n", "\n]\n")
	case "jsonl":
		err = writeIndicatorJSON(w, definition, stream, recorded, "", "\n", "\n")
	case "table":
		err = writeIndicatorTable(w, definition, stream, recorded)
	default:
		return failure.Usagef("-o %s: csv has every column here", output)
	}
	return failure.Wrap(failure.IO, err)
}

// parameters reads name=value pairs.
func parameters(pairs []string) (map[string]float64, error) {
	given := map[string]float64{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, failure.Usagef("--param %s: want name=value", pair)
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, failure.Usagef("--param %s: %q is not a number", name, text)
		}
		if _, twice := given[name]; twice {
			return nil, failure.Usagef("--param %s is given twice", name)
		}
		given[name] = value
	}
	return given, nil
}

// eachValue calls do with every candle's open time and outputs.
func eachValue(definition *indicator.Definition, stream indicator.Stream, recorded *tape.Tape, do func(openMS int64, values []float64) error) error {
	values, c, symbol := make([]float64, len(definition.Outputs)), recorded.Candles, recorded.Symbol
	for i := range c.Len() {
		stream.Next(indicator.Bar{Open: symbol.PriceFloat(c.Open[i]), High: symbol.PriceFloat(c.High[i]), Low: symbol.PriceFloat(c.Low[i]),
			Close: symbol.PriceFloat(c.Close[i]), Volume: c.Volume[i], OpenMS: c.OpenMS[i]}, values)
		if err := do(c.OpenMS[i], values); err != nil {
			return err
		}
	}
	return nil
}

func writeIndicatorCSV(w io.Writer, definition *indicator.Definition, stream indicator.Stream, recorded *tape.Tape) error {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(out, "open_time_ms,%s\n", strings.Join(definition.Outputs, ","))
	var line []byte
	err := eachValue(definition, stream, recorded, func(openMS int64, values []float64) error {
		line = strconv.AppendInt(line[:0], openMS, 10)
		for _, value := range values {
			if line = append(line, ','); !math.IsNaN(value) {
				line = strconv.AppendFloat(line, value, 'g', -1, 64)
			}
		}
		_, err := out.Write(append(line, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func writeIndicatorJSON(w io.Writer, definition *indicator.Definition, stream indicator.Stream, recorded *tape.Tape, begin, between, end string) error {
	out := bufio.NewWriterSize(w, 1<<16)
	separator := begin
	err := eachValue(definition, stream, recorded, func(openMS int64, values []float64) error {
		row := map[string]any{"open_time_ms": openMS}
		for i, name := range definition.Outputs {
			if row[name] = values[i]; math.IsNaN(values[i]) {
				row[name] = nil
			}
		}
		text, err := json.Marshal(row)
		out.WriteString(separator)
		separator = between
		out.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	out.WriteString(end)
	return out.Flush()
}

func writeIndicatorTable(w io.Writer, definition *indicator.Definition, stream indicator.Stream, recorded *tape.Tape) error {
	header := table.Row{"open (UTC)"}
	for _, name := range definition.Outputs {
		header = append(header, name)
	}
	return shell.PrintTable(w, func(w io.Writer) {
		t := shell.NewTable(w, header)
		eachValue(definition, stream, recorded, func(openMS int64, values []float64) error { // the only error is that of do
			row := table.Row{moment.Minute(openMS)}
			for _, value := range values {
				if math.IsNaN(value) {
					row = append(row, "")
				} else {
					row = append(row, strconv.FormatFloat(value, 'g', -1, 64))
				}
			}
			t.AppendRow(row)
			return nil
		})
		t.Render()
	})
}
