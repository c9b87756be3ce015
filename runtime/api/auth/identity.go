package auth

import (
	"context"
	"net"
	"strings"
	"time"
)

type contextKey int

const (
	socketKey   contextKey = iota // the connection is the unix socket's
	identityKey                   // Identity
	callerKey                     // Caller
)

const bySocket = "socket"

// Identity identifies the sender of a request.
type Identity struct {
	Role Role
	By   string    // socket, token, session, or the way of a Caller
	Key  Key       // the named token, if one was used
	From string    // address
	Ends time.Time // expiry of the session if it stays unused

	linked bool          // a session that a one-time link opened
	wait   time.Duration // after a wrong token; 0 for none
}

// Actor names the sender for the audit: the means of access, and the name of a named token.
func (i *Identity) Actor() string { return strings.TrimSpace(i.By + " " + i.Key.Name) }

// Credential names the unit of a quota: a role's own token or a named one, together with the
// sessions that it opened.
func (i *Identity) Credential() string { return i.Role.String() + " " + i.Key.Hash }

// OnSocket reports whether the request came over the unix socket.
func (i *Identity) OnSocket() bool { return i.By == bySocket }

// Linked reports whether a one-time link opened the session.
func (i *Identity) Linked() bool { return i.linked }

// MakesTokens reports whether the identity may create tokens: over the socket, or through a link
// that was created there. A stolen token creates no others.
func (i *Identity) MakesTokens() bool { return i.OnSocket() || i.linked && i.Role == Operator }

// WithIdentity returns a context that carries the identity.
func WithIdentity(ctx context.Context, requester Identity) context.Context {
	return context.WithValue(ctx, identityKey, requester)
}

// IdentityOf returns the identity that the context carries.
func IdentityOf(ctx context.Context) Identity {
	requester, _ := ctx.Value(identityKey).(Identity)
	return requester
}

// WithConnection returns a context for the requests of a connection: those over a unix
// socket are the operator's.
func WithConnection(ctx context.Context, connection net.Conn) context.Context {
	if _, local := connection.(*net.UnixConn); local {
		ctx = context.WithValue(ctx, socketKey, true)
	}
	return ctx
}

func onSocket(ctx context.Context) bool { return ctx.Value(socketKey) != nil }

// Caller is a part of this process that sends requests on behalf of a person, whom it identifies by
// other means than a token.
type Caller struct {
	Role      Role
	By, From  string // in the audit's form: telegram, user 123
	RequestID string // names the request in the audit, so that it can be found again
}

// WithCaller returns a context for a request from inside the process.
func WithCaller(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, callerKey, caller)
}

// CallerOf returns the caller of a request from inside the process.
func CallerOf(ctx context.Context) (caller Caller, inside bool) {
	caller, inside = ctx.Value(callerKey).(Caller)
	return caller, inside
}
