package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/configs"
	"botd/runtime/ops"
)

// askFlags say where the running daemon is.
type askFlags struct{ address, directory, output string }

func (a *askFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&a.address, "listen", "", "the daemon's address (default: as configured, 127.0.0.1:8420)")
	command.Flags().StringVarP(&a.directory, "config", "c", "", "configuration directory, for address and data directory")
}

// resolve finds address and data directories from the configuration.
func (a *askFlags) resolve() (address string, dataDirs []string, err error) {
	config, problems, err := load(a.directory, "")
	if err != nil {
		return "", nil, err
	}
	if err := problems.Err(); err != nil {
		return "", nil, failure(exitConfig, "", "%s", problems.String())
	}
	address = config.Listen
	if a.address != "" {
		address = a.address
	}
	modes := []configs.Mode{config.Mode, configs.Demo, configs.Paper, configs.Live}
	for _, mode := range modes {
		dataDirs = append(dataDirs, filepath.Join(config.DataDir, string(mode)))
	}
	return address, dataDirs, nil
}

// call asks the running daemon.
func call(ctx context.Context, method, address, path, token string, body any) ([]byte, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	limited, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, method, "http://"+address+path, reader)
	if err != nil {
		return nil, usage("address %q can not be asked", address)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, failure(exitUnavailable, "is botd running? botd run starts it; --listen names another address", "no daemon answers on %s", address)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return nil, failure(exitUnavailable, "", "read the daemon's answer: %w", err)
	}
	if response.StatusCode/100 != 2 {
		var problem struct{ Detail string }
		_ = json.Unmarshal(answer, &problem) // an answer that is no problem document shows its status alone
		code := exitNegative
		switch response.StatusCode {
		case http.StatusUnauthorized:
			code = exitCredentials
		case http.StatusServiceUnavailable:
			code = exitTemporary
		}
		return nil, failure(code, "", "the daemon said %s: %s", response.Status, problem.Detail)
	}
	return answer, nil
}

// asking makes a command that shows one of the API's documents.
func asking[T any](use, short, path string, show func(io.Writer, *T)) *cobra.Command {
	var flags askFlags
	command := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			address, _, err := flags.resolve()
			if err != nil {
				return err
			}
			answer, err := call(command.Context(), http.MethodGet, address, path, "", nil)
			if err != nil {
				return err
			}
			var value T
			if err := json.Unmarshal(answer, &value); err != nil {
				return failure(exitUnavailable, "is that address botd's?", "the answer of %s is not botd's", address)
			}
			return print(command.OutOrStdout(), flags.output, json.RawMessage(answer), func(w io.Writer) { show(w, &value) })
		},
	}
	flags.add(command)
	outputFlag(command, &flags.output)
	return command
}

// page is a list the API answers.
type page[T any] struct {
	Items []T `json:"items"`
}

func grid(w io.Writer, header table.Row) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(header)
	return t
}

func newStatus() *cobra.Command {
	return asking("status", "what the running daemon does", "/api/v1/status", func(w io.Writer, s *ops.StatusJSON) {
		state := "ready"
		if !s.Ready {
			state = "NOT READY"
		}
		if s.Halted != "" {
			state += ", HALTED (" + s.Halted + "): " + s.Why
		}
		fmt.Fprintf(w, "botd %s  %s  up %s  %s\nequity %s USDT  available %s  orders %d  unsettled %d\n", s.Mode, s.Instance, time.Duration(s.UptimeS)*time.Second, state, s.Equity, s.Available, s.Open, s.Unsettled)
		showDegraded(w, s.Degraded)
		t := grid(w, table.Row{"strategy", "state", "market", "symbol", "position", "target", "last", "why"})
		for _, r := range s.Strategies {
			t.AppendRow(table.Row{r.Name, r.State, r.Market, r.Symbol, r.Position, r.Target, r.Last, strings.TrimSpace(r.Why + " " + r.Reason)})
		}
		t.Render()
	})
}

// showDegraded tells, a line each, what does not trade as usual, and what ends that.
func showDegraded(w io.Writer, all []ops.DegradedJSON) {
	for i := range all {
		d := &all[i]
		of := strings.TrimSpace(d.Strategy + " " + d.Symbol)
		if of == "" {
			of = "account"
		}
		fmt.Fprintf(w, "%s (%s) since %s: %s\n  way out: %s\n", strings.ToUpper(d.State), of, d.Since.Format(time.DateTime), d.Cause, d.WayOut)
		if d.Doing != "" {
			fmt.Fprintf(w, "  under way: %s\n", d.Doing)
		}
	}
}

func newOrders() *cobra.Command {
	return asking("orders", "orders under way, as the daemon knows them", "/api/v1/orders", func(w io.Writer, p *page[ops.OrderJSON]) {
		t := grid(w, table.Row{"client order id", "order", "strategy", "purpose", "symbol", "side", "type", "state", "price", "stop", "quantity", "filled"})
		for _, o := range p.Items {
			t.AppendRow(table.Row{o.ClientOrderID, o.OrderID, o.Strategy, o.Purpose, o.Symbol, o.Side, o.Type, o.State, o.Price, o.StopPrice, o.Quantity, o.Filled})
		}
		t.Render()
	})
}

func newIntents() *cobra.Command {
	return asking("intents", "recent intents, and what became of them", "/api/v1/intents", func(w io.Writer, p *page[ops.Intent]) {
		t := grid(w, table.Row{"time", "strategy", "purpose", "symbol", "side", "quantity", "outcome", "detail"})
		for _, i := range p.Items {
			t.AppendRow(table.Row{time.UnixMilli(i.AtMS).UTC().Format("15:04:05"), i.Strategy, i.Purpose, i.Symbol, i.Side, i.Quantity, i.Outcome, i.Detail})
		}
		t.Render()
	})
}

func newPositions() *cobra.Command {
	return asking("positions", "what is held", "/api/v1/positions", func(w io.Writer, p *page[ops.PositionJSON]) {
		t := grid(w, table.Row{"strategy", "market", "symbol", "quantity", "entry", "last", "liquidation", "stop"})
		for _, r := range p.Items {
			stop := "none"
			if r.Protected {
				stop = "on the exchange"
			}
			t.AppendRow(table.Row{r.Strategy, r.Market, r.Symbol, r.Quantity, r.Entry, r.Last, r.LiqPrice, stop})
		}
		t.Render()
	})
}

// running is the daemon that answers, with what a change of it needs.
type running struct {
	address, token string
	status         ops.StatusJSON
}

// reach finds the running daemon and the token in its data directory.
func (a *askFlags) reach(command *cobra.Command) (*running, error) {
	address, directories, err := a.resolve()
	if err != nil {
		return nil, err
	}
	d := &running{address: address}
	answer, err := call(command.Context(), http.MethodGet, address, "/api/v1/status", "", nil)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, &d.status); err != nil {
		return nil, failure(exitUnavailable, "is that address botd's?", "the answer of %s is not botd's", address)
	}
	for _, directory := range directories {
		if filepath.Base(directory) != d.status.Mode {
			continue
		}
		token, err := os.ReadFile(filepath.Join(directory, "token"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fail(exitCredentials, err)
		}
		d.token = strings.TrimSpace(string(token))
		return d, nil
	}
	return nil, failure(exitCredentials, "run it where the daemon runs, or give -c its configuration", "the daemon's token was not found")
}

// post changes something, or asks what a change would do, and returns the answer.
func post[T any](command *cobra.Command, d *running, path string, body any) (out T, raw json.RawMessage, err error) {
	raw, err = call(command.Context(), http.MethodPost, d.address, path, d.token, body)
	if err != nil {
		return out, nil, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, nil, failure(exitUnavailable, "is that address botd's?", "the answer of %s is not botd's", d.address)
	}
	return out, raw, nil
}
