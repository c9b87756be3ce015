package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// DefaultTemplate is the signed text unless a venue needs another one (docs/exchange.md, the signed string).
// {path} includes ?query exactly as sent.
const DefaultTemplate = "{timestamp}{method}{path}{body}"

// Header names of a signed request (interface, Authentication).
const (
	HeaderKey       = "x-api-key"
	HeaderTimestamp = "x-timestamp"
	HeaderSignature = "x-signature"
)

// What {path} and {route} begin with where the venue's address has a path of its own.
const (
	SignFull  = "full"  // with that path; the default
	SignRoute = "route" // without it
)

// Placeholders are what a template may name. {route} is {path} without its query.
var Placeholders = []string{"timestamp", "method", "path", "route", "query", "body", "body_base64", "body_sha256", "key"}

// Signer signs requests with HMAC-SHA256. Its zero value is the default template in hex.
type Signer struct {
	Template string // placeholders in braces; \n is a new line; a part in [ ] is present only with a body
	Encoding string // hex or base64
	Paths    string // SignFull or SignRoute
}

// Signed is what a signature covers.
type Signed struct {
	Timestamp, Method string
	Path              string // with ?query, as sent
	Key               string
	Body              []byte
}

// Check returns an error for a signer that cannot be used.
func (s Signer) Check() error {
	if s.Encoding != "" && s.Encoding != "hex" && s.Encoding != "base64" {
		return fmt.Errorf("signature encoding %q: hex or base64", s.Encoding)
	}
	if s.Paths != "" && s.Paths != SignFull && s.Paths != SignRoute {
		return fmt.Errorf("signed paths %q: %s or %s", s.Paths, SignFull, SignRoute)
	}
	return CheckTemplate(s.template())
}

// CheckTemplate returns an error for a template that cannot be used.
func CheckTemplate(template string) error {
	if _, err := conditional(template, true); err != nil {
		return err
	}
	rest := template
	for {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			return nil
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed || !slices.Contains(Placeholders, name) {
			return fmt.Errorf("signature template: unknown placeholder {%.40s} (known: %s)", name, strings.Join(Placeholders, ", "))
		}
		rest = tail
	}
}

var errBrackets = errors.New("signature template: a part in [ ] begins and ends once, and holds no other")

// conditional returns a template with its parts in [ ] when there is a body, and without them else.
func conditional(template string, body bool) (string, error) {
	if !strings.ContainsAny(template, "[]") {
		return template, nil
	}
	var b strings.Builder
	for rest := template; ; {
		before, after, found := strings.Cut(rest, "[")
		b.WriteString(before)
		if strings.Contains(before, "]") {
			return "", errBrackets
		}
		if !found {
			return b.String(), nil
		}
		part, tail, closed := strings.Cut(after, "]")
		if !closed || strings.Contains(part, "[") {
			return "", errBrackets
		}
		if body {
			b.WriteString(part)
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
	rest, err := conditional(s.template(), len(request.Body) > 0)
	if err != nil {
		rest = s.template() // Check refuses it
	}
	for rest = strings.ReplaceAll(rest, `\n`, "\n"); ; {
		before, after, found := strings.Cut(rest, "{")
		text = append(text, before...)
		if !found {
			return text
		}
		name, tail, _ := strings.Cut(after, "}")
		rest = tail
		text = request.append(text, name)
	}
}

func (r *Signed) append(text []byte, name string) []byte {
	route, query, _ := strings.Cut(r.Path, "?")
	switch name {
	case "timestamp":
		return append(text, r.Timestamp...)
	case "method":
		return append(text, r.Method...)
	case "path":
		return append(text, r.Path...)
	case "route":
		return append(text, route...)
	case "query":
		return append(text, query...)
	case "key":
		return append(text, r.Key...)
	case "body":
		return append(text, r.Body...)
	case "body_base64":
		return base64.StdEncoding.AppendEncode(text, r.Body)
	case "body_sha256":
		sum := sha256.Sum256(r.Body)
		return hex.AppendEncode(text, sum[:])
	}
	return text
}

// Verify compares a signature in constant time.
func (s Signer) Verify(secret []byte, request Signed, signature string) bool {
	return hmac.Equal([]byte(s.Sign(secret, request)), []byte(signature))
}
