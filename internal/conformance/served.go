package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim/server"
	"botd/exchange/wire"
)

// callTimeout bounds every call of a case, so that none hangs.
const callTimeout = 20 * time.Second

// overHTTP opens a world on a server behind a loopback socket, used through the signed
// client, one per account.
func overHTTP(w World) (Venue, error) { return serve(w, nil, nil) }

// serve is overHTTP with variants of the exchange, and with the client's profile for them.
func serve(w World, variants []string, profile *wire.Profile) (Venue, error) {
	x, err := w.exchange()
	if err != nil {
		return nil, err
	}
	config := server.Config{Exchange: x, Clock: server.Clock{Manual: true, StartMS: StartMS}, Control: true, Budget: w.Budget, Variants: variants}
	for _, name := range accounts {
		config.Accounts = append(config.Accounts, server.Account{Key: name, Secret: secretOf(name), ReadOnly: name == reader})
	}
	s, err := server.New(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	v := &served{
		url: "http://" + listener.Addr().String(), stop: stop, ended: make(chan error, 1), clients: map[string]*rest.Client{},
		transport: &http.Transport{MaxIdleConnsPerHost: 8}, symbols: tableOf(w.Symbols()), profile: profile,
	}
	v.nowMS.Store(StartMS)
	go func() { v.ended <- s.Serve(ctx, listener) }()
	return v, nil
}

type served struct {
	url       string
	stop      context.CancelFunc
	ended     chan error
	transport *http.Transport
	clients   map[string]*rest.Client
	symbols   table
	profile   *wire.Profile
	nowMS     atomic.Int64 // the server's clock, which is manual
}

func (v *served) now() time.Time { return time.UnixMilli(v.nowMS.Load()) }

func (v *served) client(account string) (*rest.Client, error) {
	if v.clients[account] == nil {
		c, err := rest.New(rest.Config{BaseURL: v.url, Key: account, Secret: []byte(secretOf(account)), Transport: v.transport, Clock: v.now,
			Profile: v.profile})
		if err != nil {
			return nil, err
		}
		v.clients[account] = c
	}
	return v.clients[account], nil
}

// Do sends a request through the client.
func (v *served) Do(account string, request exchange.Request) (exchange.Answer, error) {
	c, err := v.client(account)
	if err != nil {
		return exchange.Answer{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return c.Do(ctx, request)
}

// SetPrice sets a price through the control interface.
func (v *served) SetPrice(key exchange.SymbolKey, price, mark exchange.Price) error {
	s := v.symbols[key]
	if mark == 0 {
		mark = price
	}
	return v.control("/control/v1/price", fmt.Sprintf(`{"market":%q,"symbol":%q,"price":%q,"mark":%q}`,
		key.Market, key.Name, s.PriceDecimal(price), s.PriceDecimal(mark)))
}

// Advance moves the server's clock.
func (v *served) Advance(ms int64) error {
	if err := v.control("/control/v1/clock", fmt.Sprintf(`{"advance_ms":%d}`, ms)); err != nil {
		return err
	}
	v.nowMS.Add(ms)
	return nil
}

func (v *served) control(path, body string) error {
	reply, err := v.Send(Call{Method: http.MethodPost, Target: path, Body: body, Unsigned: true})
	if err == nil && reply.Status != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, reply.Status, reply.Body)
	}
	return err
}

// Close ends the server and waits for it.
func (v *served) Close() error {
	v.transport.CloseIdleConnections()
	v.stop()
	return <-v.ended
}

// Call is a raw request, as the interface describes it.
type Call struct {
	Account, Method, Target, Body string

	Unsigned  bool
	Key       string // sent instead of the account's
	Secret    string // signs instead of the account's
	AgeMS     int64  // x-timestamp minus this, before the server's time
	Timestamp string // sent and signed instead of a time
	Signature string // sent instead of the correct one
}

// Reply is the response to a Call.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Send sends a raw request.
func (v *served) Send(call Call) (Reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, call.Method, v.url+call.Target, bytes.NewReader([]byte(call.Body)))
	if err != nil {
		return Reply{}, err
	}
	if !call.Unsigned {
		call.sign(request.Header, v.nowMS.Load())
	}
	response, err := v.transport.RoundTrip(request)
	if err != nil {
		return Reply{}, err
	}
	body, err := io.ReadAll(response.Body)
	return Reply{response.StatusCode, response.Header, body}, errors.Join(err, response.Body.Close())
}

// sign adds the three headers (interface, Authentication 3; docs/exchange.md, the signed string).
func (c *Call) sign(header http.Header, nowMS int64) {
	key, secret, timestamp := c.Account, secretOf(c.Account), fmt.Sprint(nowMS-c.AgeMS)
	if c.Key != "" {
		key = c.Key
	}
	if c.Secret != "" {
		secret = c.Secret
	}
	if c.Timestamp != "" {
		timestamp = c.Timestamp
	}
	signature := c.Signature
	if signature == "" {
		signature = signatureOf(secret, timestamp+c.Method+c.Target+c.Body)
	}
	header.Set(wire.HeaderKey, key)
	header.Set(wire.HeaderTimestamp, timestamp)
	header.Set(wire.HeaderSignature, signature)
}
