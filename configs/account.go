package configs

import (
	"os"

	"gopkg.in/yaml.v3"

	"botd/internal/notation"
)

// AccountConfig is one account of the simulated exchange, as a file of accounts
// gives it: a block under its key.
//
//	alice:
//	  secret: anything
//	  permission: trade       # or read
//	  futures: 20000          # USDT
//	  spot: {USDT: 5000}
//	  fees: {futures: {maker: 0.02%, taker: 0.05%}, spot: {maker: 0.1%, taker: 0.1%}}
//
// The secrets are only for the simulated exchange, so they may be written there.
type AccountConfig struct {
	Key, Secret string
	ReadOnly    bool
	SimulatedConfig
}

// LoadAccounts reads a file of accounts, in their order.
func LoadAccounts(file string) ([]AccountConfig, Problems) {
	var problems Problems
	d := &document{file: file, problems: &problems}
	text, err := os.ReadFile(file)
	if err != nil {
		d.fail(0, "", "cannot be read: %s", reason(err))
		return nil, problems
	}
	node := d.parse(text)
	if node == nil {
		return nil, problems
	}
	s := newSection(d, "", node)
	var accounts []AccountConfig
	for _, e := range s.entries {
		if e.value.Kind != yaml.MappingNode {
			s.wrong(e.value, "write {secret: ...}", "%s is %s, not a block of keys", notation.Shortened(e.key.Value), kindOf(e.value))
			continue
		}
		accounts = append(accounts, readAccount(s, e.key.Value))
	}
	if len(accounts) == 0 && problems.Errors() == 0 {
		d.fail(0, "write KEY: {secret: ...}", "contains no account")
	}
	problems.sort()
	if problems.Errors() > 0 {
		return nil, problems
	}
	return accounts, problems
}

func readAccount(root *section, name string) AccountConfig {
	a := AccountConfig{Key: name, SimulatedConfig: defaultSimulated()}
	s, permission := root.section(name), "trade"
	s.read(append([]key{
		{name: "secret", value: text(&a.Secret), after: func(s *section) {
			if s.value("secret") == nil {
				s.fail(s.line, "write secret: ...; it is only for the simulated exchange", "%s has no secret", a)
			}
		}},
		{name: "permission", value: choice(&permission, "trade", "read")},
	}, a.SimulatedConfig.keys()...))
	a.ReadOnly = permission == "read"
	return a
}

// String returns the account's name without its secret.
func (a AccountConfig) String() string { return "account " + notation.Shortened(a.Key) }

// GoString returns String, so that no verb of fmt prints the secret.
func (a AccountConfig) GoString() string { return a.String() }
