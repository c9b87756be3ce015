// Package auth decides who may reach the API: tokens, sessions, roles, and delays after wrong tokens.
//
// A request comes over the unix socket, from inside the process, with a token, or with
// the cookie of a session. The Guard determines which, and returns why it rejects everyone else.
// It does not write the response; the server does.
package auth

// Role is a level of permission.
type Role uint8

// The roles: a viewer can see everything, an operator can also make changes.
const (
	Public Role = iota
	Viewer
	Operator
)

// String returns the role's name.
func (r Role) String() string { return [...]string{"nobody", "viewer", "operator"}[r] }

// ParseRole reads the name of a role that a token may have.
func ParseRole(name string) (role Role, known bool) {
	for _, role := range []Role{Viewer, Operator} {
		if role.String() == name {
			return role, true
		}
	}
	return Public, false
}
