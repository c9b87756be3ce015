package configs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"

	"gopkg.in/yaml.v3"

	"botd/internal/notation"
)

// outline builds a YAML block key by key, in the order given.
type outline struct{ node *yaml.Node }

func newOutline() outline { return outline{&yaml.Node{Kind: yaml.MappingNode}} }

// append adds a key and its value.
func (o outline) append(key string, value *yaml.Node) {
	o.node.Content = append(o.node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
}

// set adds a key, unless the value is empty.
func (o outline) set(key, value string) {
	if value != "" {
		o.append(key, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
	}
}

// put adds a block, unless it is empty.
func (o outline) put(key string, block outline) {
	if len(block.node.Content) > 0 {
		o.append(key, block.node)
	}
}

func (o outline) text() string {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(o.node); err != nil {
		panic("configs: an outline that is not YAML: " + err.Error()) // built above from texts alone
	}
	return b.String()
}

// Effective returns the effective configuration as YAML, with defaults and without secrets. It lists the strategies
// in one list.
func (c *Config) Effective() string {
	o := newOutline()
	o.add((&loader{config: c}).keys())
	list := outline{&yaml.Node{Kind: yaml.SequenceNode}}
	for i := range c.Strategies {
		list.node.Content = append(list.node.Content, c.Strategies[i].outline().node)
	}
	o.put("strategies", list)
	return o.text()
}

// Hash returns the SHA-256 of the effective configuration, in hex.
func (c *Config) Hash() string { return hash(c.Effective()) }

// Effective returns the strategy as YAML in the form of its file.
func (c *StrategyConfig) Effective() string { return c.outline().text() }

// Hash returns the SHA-256 of the effective strategy, in hex.
func (c *StrategyConfig) Hash() string { return hash(c.Effective()) }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func withoutPassword(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if parsed.User != nil {
		parsed.User = url.User(parsed.User.Username())
	}
	if query := parsed.Query(); query.Has("password") {
		query.Del("password")
		parsed.RawQuery = query.Encode()
	}
	return parsed.String()
}

func (c *StrategyConfig) outline() outline {
	o := newOutline()
	o.add((&loader{config: defaults()}).reader(c, nil).keys())
	return o
}

func (d DistanceConfig) text() string {
	switch {
	case d.IsZero():
		return ""
	case d.Share != 0:
		return notation.Percent(d.Share)
	}
	return d.Price.String()
}
