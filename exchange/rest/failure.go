package rest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"botd/exchange"
	"botd/exchange/wire"
)

// notSent is an error from before the first byte could be sent.
func notSent(operation exchange.Operation, why string, cause error) error {
	return &exchange.Unavailable{Operation: operation, Reason: "not sent: " + why, Err: cause}
}

// failed returns the outcome of a network error. Only an error before the connection was established
// proves that the exchange received nothing.
func failed(operation exchange.Operation, err error, sent bool) outcome {
	switch {
	case !sent:
		return outcome{err: notSent(operation, reason(err), err), again: true}
	case operation.Places():
		return outcome{err: &exchange.Uncertain{Reason: reason(err), Err: err}}
	}
	return outcome{err: &exchange.Unavailable{Operation: operation, Reason: reason(err), Err: err}, again: true}
}

// tooLong returns the error for an answer longer than maxBody.
func tooLong(operation exchange.Operation) error {
	malformed := &exchange.Malformed{Operation: operation, What: "it is longer than 8 MiB"}
	if operation.Places() {
		return &exchange.Uncertain{Reason: "malformed answer", Err: malformed}
	}
	return malformed
}

// neverConnected recognizes an error of connecting by its type, for transports that do not report
// connections.
func neverConnected(err error) bool {
	var (
		operation *net.OpError
		dns       *net.DNSError
	)
	return errors.As(err, &operation) && operation.Op == "dial" || errors.As(err, &dns)
}

// reason classifies a network error into a closed set, suitable as a metric label.
func reason(err error) string {
	var (
		network     net.Error
		dns         *net.DNSError
		authority   x509.UnknownAuthorityError
		hostname    x509.HostnameError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.As(err, &dns):
		return "name not found"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "eof"
	case errors.As(err, &authority), errors.As(err, &hostname), errors.As(err, &certificate), errors.As(err, &record):
		return "certificate not trusted"
	}
	return "network error"
}

// scrubbed removes secrets from the venue's text in case the venue repeats them. All other text in
// these errors is botd's own.
func (c *Client) scrubbed(err error, signature string) error {
	var (
		refusal   *exchange.Refusal
		malformed *exchange.Malformed
	)
	switch {
	case errors.As(err, &refusal):
		refusal.Message = c.scrub(refusal.Message, signature)
	case errors.As(err, &malformed):
		malformed.What = c.scrub(malformed.What, signature)
		var unknown *wire.UnknownSymbolError
		if !errors.As(malformed.Err, &unknown) {
			malformed.Err = nil // What contains its text
		}
	}
	return err
}

// scrubRows removes secrets from unreadable rows.
func (c *Client) scrubRows(rows []exchange.UnreadableRow, signature string) {
	for i := range rows {
		row := &rows[i]
		for _, text := range []*string{&row.Reason, &row.Raw, &row.Symbol, &row.ClientOrderID, &row.Asset} {
			*text = c.scrub(*text, signature)
		}
	}
}

func (c *Client) scrub(text, signature string) string {
	keys := c.keys.Load()
	return wire.Redact(text, string(keys.secret), signature, keys.key, string(c.config.Secret), c.config.Key)
}

// redact removes the part of an address before its host.
func redact(address string) string {
	if at := strings.LastIndex(address, "@"); at >= 0 {
		return "(hidden)" + address[at:]
	}
	return address
}
