package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// The trial's account.
const (
	accountKey    = "chaos"
	accountSecret = "not-a-secret"
)

// venue is the simulated exchange as a process, controlled through its control interface.
type venue struct {
	*process
	address string
	ahead   time.Duration // the exchange's clock minus this machine's
	log     *os.File
}

var venueAddress = regexp.MustCompile(`listens on http://([0-9.:]+)`)

func startVenue(ctx context.Context, binary, logPath string, more ...string) (*venue, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	v := &venue{log: log}
	found := make(chan string, 1)
	arguments := append([]string{"exchange", "--listen", "127.0.0.1:0", "--account", accountKey + ":" + accountSecret, "--control"}, more...)
	v.process, err = startProcess(binary, ".", nil, log, func(line string) {
		if address := venueAddress.FindStringSubmatch(line); address != nil {
			select {
			case found <- address[1]:
			default:
			}
		}
	}, arguments...)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	select {
	case v.address = <-found:
		if err := v.readClock(ctx); err != nil {
			return nil, errors.Join(err, v.stop())
		}
		return v, nil
	case <-v.ended:
		return nil, fmt.Errorf("the exchange ended with exit code %d: %s", v.code(), v.lastLines())
	case <-time.After(startWithin):
		return nil, errors.Join(errors.New("the exchange did not start"), v.stop())
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), v.stop())
	}
}

func (v *venue) stop() error {
	v.kill()
	return v.log.Close()
}

// readClock reads how far the exchange's clock is ahead of this machine's.
func (v *venue) readClock(ctx context.Context) error {
	var at struct{ ServerTime json.Number } // a variant writes it as a string
	began := time.Now()
	if err := v.call(ctx, http.MethodGet, "/fapi/v1/time", nil, &at); err != nil {
		return err
	}
	ms, err := at.ServerTime.Int64()
	v.ahead = time.UnixMilli(ms).Sub(began.Add(time.Since(began) / 2))
	return err
}

// control calls the control interface.
func (v *venue) control(ctx context.Context, method, path string, body, into any) error {
	return v.call(ctx, method, "/control/v1/"+path, body, into)
}

// call calls the exchange, unsigned.
func (v *venue) call(ctx context.Context, method, path string, body, into any) error {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+v.address+path, reader)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if into == nil {
		return nil
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), into) // a variant begins with a byte order mark
}

// faults replaces the faults in force.
func (v *venue) faults(ctx context.Context, all []Fault) error {
	if err := v.control(ctx, http.MethodDelete, "faults", nil, nil); err != nil {
		return err
	}
	for i := range all {
		if err := v.control(ctx, http.MethodPost, "faults", &all[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// accountState is the history of an account on the exchange.
type accountState struct {
	Orders []orderState
	Fills  []fillState
	log    []byte // as the exchange lists them
}

type orderState struct {
	ID            json.Number
	ClientOrderID string `json:"client_order_id"`
	SpotID        string `json:"clientOrderId"`
	Market        string
	Symbol        string
	Type          string
	Status        string
	Side          string
	ClosePosition bool `json:"closePosition"`
}

type fillState struct {
	Market, Symbol, Side string
	Quantity             decimal.Decimal `json:"qty"`
}

func (v *venue) state(ctx context.Context) (*accountState, error) {
	var log json.RawMessage
	if err := v.control(ctx, http.MethodGet, "orders", nil, &log); err != nil {
		return nil, err
	}
	t := &accountState{log: log}
	return t, json.Unmarshal(log, t)
}

// position returns the signed sum of the fills on a target's symbol.
func (t *accountState) position(w *Target) decimal.Decimal {
	sum := decimal.Zero
	for i := range t.Fills {
		f := &t.Fills[i]
		switch {
		case f.Market != w.Market || f.Symbol != w.Symbol:
		case strings.EqualFold(f.Side, "sell"):
			sum = sum.Sub(f.Quantity)
		default:
			sum = sum.Add(f.Quantity)
		}
	}
	return sum
}

// stopIsOpen reports whether a target's symbol has exactly one open closePosition stop.
func (t *accountState) stopIsOpen(w *Target) bool { return t.stops(w) == 1 }

func (t *accountState) stops(w *Target) (standing int) {
	for i := range t.Orders {
		o := &t.Orders[i]
		if o.Market == w.Market && o.Symbol == w.Symbol && o.Type == "STOP_MARKET" && slices.Contains([]string{"NEW", "CREATED", "OPEN"}, o.Status) {
			standing++
		}
	}
	return standing
}
