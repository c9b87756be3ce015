package wire

import "strings"

// minPrefix is the length of the shortest secret prefix that is also redacted: long venue messages
// are truncated, possibly inside a secret.
const minPrefix = 4

// Redact removes secrets from a text that may be logged, including truncated ones. It ignores empty
// secrets.
func Redact(text string, secrets ...string) string {
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		text = redact(text, secret, secret[:min(len(secret), minPrefix)])
	}
	return text
}

func redact(text, secret, part string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, part)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString("(hidden)")
		more := secret[len(part):]
		for len(rest) > 0 && len(more) > 0 && rest[0] == more[0] {
			rest, more = rest[1:], more[1:]
		}
		text = rest
	}
}
