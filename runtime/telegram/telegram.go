// Package telegram accepts commands from listed users on Telegram and passes them on to the API.
//
// It polls and listens on nothing. Users who are not listed get no answer. A command that is older
// than maxAge, or that is in the journal, is ignored, so a message that Telegram delivers again
// after a restart changes nothing. A command that sends orders or resumes trading requires a code as
// confirmation. Trading never waits for Telegram, and every failure is counted and logged.
package telegram

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"golang.org/x/time/rate"

	"botd/internal/printable"
	"botd/runtime/api/auth"
)

// Results of messages: the values of a metric's label.
const (
	Done     = "done"     // obeyed or answered
	Refused  = "refused"  // not a command, not allowed, or the API refused
	Unlisted = "stranger" // from a user who is not listed
	Old      = "old"
	Repeated = "repeated"
	Unsent   = "unsent" // a reply that could not be delivered
	Unread   = "unread" // a poll for messages failed
)

// Results lists all results.
var Results = []string{Done, Refused, Unlisted, Old, Repeated, Unsent, Unread}

// publicServer is the address of Telegram's own server.
const publicServer = "https://api.telegram.org"

// Limits and intervals.
const (
	maxAge        = 2 * time.Minute // maximum age of a message that is carried out
	pollFor       = 50 * time.Second
	freshStart    = 24 * time.Hour // Telegram may restart its numbering after a week, so polls start over each day
	maxSeen       = 1_000          // updates remembered
	maxReplies    = 32             // replies waiting to be sent
	sendWithin    = 15 * time.Second
	askWithin     = 10 * time.Second
	maxText       = 3_500 // bytes of a reply
	replyEvery    = 2 * time.Second
	replyBurst    = 8
	unlistedEvery = time.Minute // minimum time between log lines about users who are not listed
)

// API is the admin API, called from inside the process.
type API interface {
	Call(ctx context.Context, caller auth.Caller, method, path string, body any) (status int, answer []byte)
	Journaled(requestID string) bool
}

// Config configures a bot.
type Config struct {
	Token              string
	Server             string  // empty: Telegram's own
	Operators, Viewers []int64 // user ids; an operator may also read
	API                API
	Transport          http.RoundTripper // nil: the system's network
	Count              func(result string)
	Say, Warn          func(event, text string)
}

// Bot reads messages and answers them.
type Bot struct {
	config    Config
	transport *transport
	replies   chan reply

	mu         sync.Mutex // guards all below
	seen       []int64    // updates handled, oldest first
	pace       map[int64]*rate.Limiter
	pending    map[int64]pending
	unlistedAt time.Time // last log line about a user who is not listed
}

type reply struct {
	chat int64
	text string
}

// New returns a bot; Run makes it work.
func New(config Config) *Bot {
	if config.Server == "" {
		config.Server = publicServer
	}
	return &Bot{config: config, transport: newTransport(&config), replies: make(chan reply, maxReplies), pace: map[int64]*rate.Limiter{},
		pending: map[int64]pending{}}
}

// Run processes commands until the context ends.
func (b *Bot) Run(ctx context.Context) {
	var group sync.WaitGroup
	group.Go(func() { b.send(ctx) })
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, freshStart)
		b.client(bot.WithDefaultHandler(b.handle)).Start(limited)
		cancel()
	}
	group.Wait()
}

// client returns the library's client, using a transport that limits its input.
func (b *Bot) client(options ...bot.Option) *bot.Bot {
	options = append(options, bot.WithServerURL(b.config.Server), bot.WithHTTPClient(pollFor, b.transport), bot.WithSkipGetMe(),
		bot.WithNotAsyncHandlers(), bot.WithAllowedUpdates(bot.AllowedUpdates{"message"}), bot.WithUpdatesChannelCap(1),
		bot.WithErrorsHandler(func(error) {})) // the transport logs errors
	client, err := bot.New(b.config.Token, options...)
	if err != nil {
		panic("telegram: " + b.transport.hide(err)) // an empty token: the configuration refuses it
	}
	return client
}

// handle carries out one update. A failure does not affect other updates.
func (b *Bot) handle(ctx context.Context, _ *bot.Bot, update *models.Update) {
	defer func() {
		if cause := recover(); cause != nil {
			b.config.Warn("telegram.failed", b.transport.hide(fmt.Errorf("a message could not be handled: %v", cause)))
		}
	}()
	if update == nil || update.Message == nil || update.Message.From == nil {
		return
	}
	m := update.Message
	user := m.From.ID
	role := b.role(user)
	if role < auth.Viewer || m.From.IsBot || m.Chat.ID != user { // in a group others read along
		b.unlisted(user, m.Chat.ID)
		return
	}
	id := "telegram-" + strconv.FormatInt(update.ID, 10)
	if b.again(update.ID) || b.config.API.Journaled(id) {
		b.config.Count(Repeated)
		return
	}
	sent := time.Unix(int64(m.Date), 0)
	if age := time.Since(sent); age > maxAge || age < -maxAge {
		b.config.Count(Old)
		b.answer(user, fmt.Sprintf("Not obeyed: by this machine's clock your message of %s UTC was sent %s ago. Send it again if you still mean it.",
			sent.UTC().Format(time.TimeOnly), age.Round(time.Second)))
		return
	}
	limited, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	o := order{bot: b, ctx: limited, user: user,
		caller: auth.Caller{Role: role, By: "telegram", From: "user " + strconv.FormatInt(user, 10), RequestID: id}}
	text, ok := o.obey(m.Text)
	result := Done
	if !ok {
		result = Refused
	}
	b.config.Count(result)
	b.answer(user, text)
}

func (b *Bot) role(user int64) auth.Role {
	switch {
	case slices.Contains(b.config.Operators, user):
		return auth.Operator
	case slices.Contains(b.config.Viewers, user):
		return auth.Viewer
	}
	return 0
}

// unlisted logs a message from a user who is not listed, with the number that would list them. The
// sender gets no answer, so that guesses reveal nothing.
func (b *Bot) unlisted(user, chat int64) {
	b.config.Count(Unlisted)
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.Sub(b.unlistedAt) >= unlistedEvery {
		b.unlistedAt = now
		what := fmt.Sprintf("user %d is not listed under telegram", user)
		if chat != user {
			what = fmt.Sprintf("user %d wrote in the group %d: only private chats are read", user, chat)
		}
		b.config.Warn("telegram.stranger", what+"; no answer is given")
	}
}

// again reports whether an update has been handled before, and remembers it.
func (b *Bot) again(id int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.seen, id) {
		return true
	}
	if len(b.seen) == maxSeen {
		b.seen = slices.Delete(b.seen, 0, maxSeen/10)
	}
	b.seen = append(b.seen, id)
	return false
}

// answer sends a reply to the sender. If replies exceed the pace, the reply is dropped; the command is
// carried out anyway.
func (b *Bot) answer(user int64, text string) {
	b.mu.Lock()
	pace := b.pace[user]
	if pace == nil {
		pace = rate.NewLimiter(rate.Every(replyEvery), replyBurst)
		b.pace[user] = pace
	}
	b.mu.Unlock()
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	if !pace.Allow() {
		b.config.Count(Unsent)
		return
	}
	select {
	case b.replies <- reply{user, text}:
	default:
		b.config.Count(Unsent)
	}
}

// send delivers replies one after the other, with one attempt each.
func (b *Bot) send(ctx context.Context) {
	client, off, failing := b.client(), true, false
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-b.replies:
			limited, cancel := context.WithTimeout(ctx, sendWithin)
			_, err := client.SendMessage(limited, &bot.SendMessageParams{ChatID: r.chat, Text: printable.Lines(r.text),
				LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &off}})
			cancel()
			if err != nil {
				b.config.Count(Unsent)
			}
			if err != nil && !failing && ctx.Err() == nil {
				b.config.Warn("telegram.failed", "a reply could not be sent: "+b.transport.hide(err))
			}
			failing = err != nil
		}
	}
}
