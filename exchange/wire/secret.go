package wire

import "strings"

// leastPart is how many of a secret's first characters are hidden too: what a
// venue says back is cut where it is long, and the cut may run through a secret.
const leastPart = 4

// Hide takes secrets out of a text that may be logged, whole ones and those whose
// end was cut off. Empty secrets are none.
func Redact(text string, secrets ...string) string {
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		text = hide(text, secret, secret[:min(len(secret), leastPart)])
	}
	return text
}

func hide(text, secret, part string) string {
	var told strings.Builder
	for {
		before, rest, found := strings.Cut(text, part)
		told.WriteString(before)
		if !found {
			return told.String()
		}
		told.WriteString("(hidden)")
		more := secret[len(part):]
		for len(rest) > 0 && len(more) > 0 && rest[0] == more[0] {
			rest, more = rest[1:], more[1:]
		}
		text = rest
	}
}
