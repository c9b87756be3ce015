package wire

import "testing"

func TestSecretsAreRedactedWholeAndTruncated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"nothing of it", "nothing of it"},
		{"secret-0123456789", "(hidden)"},
		{"twice secret-0123456789, secret-0123456789!", "twice (hidden), (hidden)!"},
		{`"you sent secret-0123"...`, `"you sent (hidden)"...`},
		{"cut secr", "cut (hidden)"},
		{"sec is too short", "sec is too short"},
		{"KEY and K", "(hidden) and K"},
		{"secret-0123secret-0123456789", "(hidden)(hidden)"},
	} {
		if have := Redact(c.text, "secret-0123456789", "", "KEY"); have != c.want {
			t.Errorf("%q: want %q, have %q", c.text, c.want, have)
		}
	}
}
