package notify

import (
	"errors"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// service is a messaging service, by its address.
type service struct {
	to      types.Service
	name    string
	secrets []string
	titled  bool
}

// Open returns the service of a shoutrrr address: telegram://, discord://,
// slack://, smtp://, ntfy://, generic:// and others. The address is a secret:
// no error repeats any part of it.
func Open(address string) (Sender, error) {
	parsed, err := url.Parse(address)
	if err != nil || !known(parsed.Scheme) {
		return nil, fmt.Errorf("not the address of a messaging service\nhint: it is one line such as "+
			"telegram://TOKEN@telegram?chats=NUMBER, and begins with one of %s", strings.Join(schemes(), ", "))
	}
	name, _, _ := strings.Cut(parsed.Scheme, "+")
	own := parsed.Query().Has("title") || parsed.Query().Has("subject")
	s := &service{name: name, secrets: secretParts(address, parsed), titled: slices.Contains(titled, name) && !own}
	services := &router.ServiceRouter{}
	if s.to, err = services.Locate(address); err != nil {
		form := forms[name]
		if form == "" {
			form = name + "://..., as https://shoutrrr.nickfedor.com/ shows for " + name
		}
		return nil, fmt.Errorf("not an address that %s takes (%w)\nhint: write %s", name, s.hide(err), form)
	}
	return s, nil
}

// forms are examples of the addresses of some services.
var forms = map[string]string{
	"telegram": "telegram://TOKEN@telegram?chats=NUMBER",
	"discord":  "discord://TOKEN@ID",
	"slack":    "slack://hook:A-B-C@webhook",
	"ntfy":     "ntfy://ntfy.sh/TOPIC",
	"smtp":     "smtp://USER:PASSWORD@HOST:587/?from=A&to=B",
	"generic":  "generic+https://HOST/PATH?template=json",
}

// known reports whether the scheme is a service's: a token with a colon in it
// parses as an address too, and must not be repeated.
func known(scheme string) bool {
	name, _, _ := strings.Cut(scheme, "+")
	return slices.Contains(schemes(), name)
}

// schemes returns the names of all services, sorted.
func schemes() []string {
	return slices.Sorted(slices.Values((&router.ServiceRouter{}).ListServices()))
}

// titled lists the services whose messages have a subject in addition to the text.
var titled = []string{"smtp", "generic", "ntfy", "pushover", "pushbullet", "gotify", "join", "bark", "slack", "discord"}

// unmarked escapes the characters that begin a mention or a link in Slack.
var unmarked = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Send sends one message. A subject in the address itself stays.
func (s *service) Send(subject, text string) error {
	params := types.Params{}
	switch s.name {
	case "slack":
		subject, text = unmarked.Replace(subject), unmarked.Replace(text)
	case "discord": // each line separately: with more than ten it would lose some
		params["splitlines"] = "No"
	case "smtp": // a header is ASCII
		subject = mime.QEncoding.Encode("utf-8", subject)
	}
	if s.titled {
		params["title"] = subject
	}
	return s.hide(s.to.Send(text, &params))
}

// SecretParts returns the parts of a service's address that might be secret, for the redaction of
// texts.
func SecretParts(address string) []string {
	parsed, err := url.Parse(address)
	if err != nil {
		return []string{address}
	}
	return secretParts(address, parsed)
}

// secretParts returns the parts of an address that might be secret: all but its scheme and parts that
// are too short to be secret.
func secretParts(address string, parsed *url.URL) (parts []string) {
	const shortest = 4
	add := func(text string) {
		if len(text) >= shortest {
			parts = append(parts, text)
		}
	}
	add(address)
	password, _ := parsed.User.Password()
	add(password)
	add(parsed.User.Username())
	add(parsed.Opaque)
	for _, part := range strings.Split(parsed.Path, "/") {
		add(part)
	}
	for _, values := range parsed.Query() {
		for _, value := range values {
			add(value)
		}
	}
	if host := parsed.Hostname(); !strings.Contains(host, ".") {
		add(host) // some services have a token there
	}
	return parts
}

// addresses matches whole addresses, which are hidden completely: services put tokens into them in different places.
var addresses = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"']+`)

// maxError bounds the text of a service's error.
const maxError = 300

// hide returns an error without any part of the address.
func (s *service) hide(err error) error {
	if err == nil {
		return nil
	}
	text := addresses.ReplaceAllString(err.Error(), "(address)")
	for _, secret := range s.secrets {
		for _, form := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret)} {
			text = strings.ReplaceAll(text, form, "(hidden)")
		}
	}
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	return errors.New(text)
}
