package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// DefaultTemplate is the signed text unless a venue needs another one (decisions.md, Signing).
// {path} includes ?query exactly as sent.
const DefaultTemplate = "{timestamp}{method}{path}{body}"

// Header names of a signed request (interface, Authentication).
const (
	HeaderKey       = "x-api-key"
	HeaderTimestamp = "x-timestamp"
	HeaderSignature = "x-signature"
)

// Signer signs requests with HMAC-SHA256. Its zero value is the default template in hex.
type Signer struct {
	Template string // with {timestamp}, {method}, {path}, {query}, {body}, {key}
	Encoding string // hex or base64
}

// Signed is what a signature covers.
type Signed struct {
	Timestamp, Method string
	Path              string // with ?query, as sent
	Key               string
	Body              []byte
}

// Check returns an error for a template or encoding that cannot be used.
func (s Signer) Check() error {
	if s.Encoding != "" && s.Encoding != "hex" && s.Encoding != "base64" {
		return fmt.Errorf("signature encoding %q: hex or base64", s.Encoding)
	}
	rest := s.template()
	for {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			return nil
		}
		name, tail, closed := strings.Cut(after, "}")
		switch name {
		case "timestamp", "method", "path", "query", "body", "key":
		default:
			closed = false
		}
		if !closed {
			return fmt.Errorf("signature template: unknown placeholder {%s} (known: timestamp, method, path, query, body, key)", name)
		}
		rest = tail
	}
}

func (s Signer) template() string {
	if s.Template == "" {
		return DefaultTemplate
	}
	return s.Template
}

// Sign returns the signature of a request.
func (s Signer) Sign(secret []byte, request Signed) string {
	code := hmac.New(sha256.New, secret)
	code.Write(s.appendText(make([]byte, 0, 256), &request))
	if s.Encoding == "base64" {
		return base64.StdEncoding.EncodeToString(code.Sum(nil))
	}
	return hex.EncodeToString(code.Sum(nil))
}

// appendText appends the signed text: the template with its placeholders replaced.
func (s Signer) appendText(text []byte, request *Signed) []byte {
	rest := s.template()
	for {
		before, after, found := strings.Cut(rest, "{")
		text = append(text, before...)
		if !found {
			return text
		}
		name, tail, _ := strings.Cut(after, "}")
		rest = tail
		switch name {
		case "timestamp":
			text = append(text, request.Timestamp...)
		case "method":
			text = append(text, request.Method...)
		case "path":
			text = append(text, request.Path...)
		case "query":
			_, query, _ := strings.Cut(request.Path, "?")
			text = append(text, query...)
		case "key":
			text = append(text, request.Key...)
		case "body":
			text = append(text, request.Body...)
		}
	}
}

// Verify compares a signature in constant time.
func (s Signer) Verify(secret []byte, request Signed, signature string) bool {
	return hmac.Equal([]byte(s.Sign(secret, request)), []byte(signature))
}
