package configs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/risk"
)

// outline builds a YAML block key by key, in the order given.
type outline struct{ node *yaml.Node }

func newOutline() outline { return outline{&yaml.Node{Kind: yaml.MappingNode}} }

// set adds a key, unless the value is empty.
func (o outline) set(key, value string) {
	if value != "" {
		o.node.Content = append(o.node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
	}
}

// setWhole adds a key, unless the number is zero.
func (o outline) setWhole(key string, n int) {
	if n != 0 {
		o.set(key, strconv.Itoa(n))
	}
}

// setShare adds a key as a percentage, unless it is zero.
func (o outline) setShare(key string, rate exchange.Rate) {
	if rate != 0 {
		o.set(key, percent(rate))
	}
}

// setWords adds a list.
func (o outline) setWords(key string, words []string) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, word := range words {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: word})
	}
	o.node.Content = append(o.node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, list)
}

// put adds a block, unless it is empty.
func (o outline) put(key string, block outline) {
	if len(block.node.Content) > 0 {
		o.node.Content = append(o.node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, block.node)
	}
}

func (o outline) text() string {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(o.node); err != nil {
		panic("configs: an outline that is no YAML: " + err.Error()) // built above from texts alone
	}
	return b.String()
}

// Effective returns the configuration as YAML: what holds, defaults included,
// without any secret. Strategies stand in one list.
func (c *Config) Effective() string {
	o := newOutline()
	o.set("mode", string(c.Mode))
	o.set("instance", c.Instance)
	o.put("exchange", c.Exchange.outline())
	if c.Mode != Live {
		o.put("simulated", c.Simulated.outline())
	}
	if c.Mode == Paper {
		o.put("paper", c.Paper.outline())
	}
	o.set("data_dir", c.DataDir)
	o.set("journal", withoutPassword(c.Journal))
	o.set("foreign", c.Foreign)
	o.set("shutdown", c.Shutdown)
	retention := newOutline()
	retention.set("decisions", durationText(c.Retention.DecisionsMS))
	retention.set("recorded_mib", strconv.Itoa(c.Retention.RecordedMiB))
	o.put("retention", retention)
	o.set("listen", c.Listen)
	o.put("access", c.Access.outline())
	if len(c.Notify.Channels) > 0 {
		o.put("notify", c.Notify.outline())
	}
	o.put("signals", c.Signals.outline())
	o.put("telegram", c.Telegram.outline())
	o.put("risk", limitsOutline(&c.Limits))
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range c.Strategies {
		list.Content = append(list.Content, c.Strategies[i].outline().node)
	}
	if len(list.Content) > 0 {
		o.put("strategies", outline{list})
	}
	return o.text()
}

// Hash returns the SHA-256 of the effective configuration, in hex.
func (c *Config) Hash() string { return hash(c.Effective()) }

// Effective returns the strategy as YAML that could stand in its file.
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

func (e ExchangeConfig) outline() outline {
	o := newOutline()
	o.set("base_url", e.BaseURL)
	o.set("key_file", e.KeyFile)
	o.set("secret_file", e.SecretFile)
	signature := newOutline()
	signature.set("payload", e.Signature.Payload)
	signature.set("encoding", e.Signature.Encoding)
	o.put("signature", signature)
	settle := newOutline()
	settle.set("window", durationText(e.Settle.WindowMS))
	settle.set("visibility", durationText(e.Settle.VisibilityMS))
	settle.set("staleness", durationText(e.Settle.StalenessMS))
	o.put("settle", settle)
	breaker := newOutline()
	breaker.setWhole("unknowns", e.Breaker.Unknowns)
	breaker.set("within", durationText(e.Breaker.WithinMS))
	breaker.set("pause", durationText(e.Breaker.PauseMS))
	breaker.setWhole("empty_endings", e.Breaker.EmptyEndings)
	breaker.set("empty_pause", durationText(e.Breaker.EmptyPauseMS))
	o.put("breaker", breaker)
	o.setWhole("requests_per_second", e.RequestsPerSecond)
	return o
}

func limitsOutline(limits *risk.Limits) outline {
	o := newOutline()
	for _, l := range limits.List() {
		o.set(l.Name, l.Value)
	}
	return o
}

func (c *StrategyConfig) outline() outline {
	o := newOutline()
	o.set("name", c.Name)
	o.set("strategy", c.Kind)
	o.set("file", c.Script.File)
	o.set("file_sha256", c.Script.SHA256)
	o.set("market", c.Market.String())
	o.set("symbol", c.Symbol)
	o.set("interval", c.Interval.String())
	o.set("schedule", c.Schedule.String())
	o.setWhole("leverage", c.Leverage)
	size := newOutline()
	size.setShare("equity", c.Size.Equity)
	if !c.Size.Quantity.IsZero() {
		size.set("quantity", c.Size.Quantity.String())
	}
	if !c.Size.Quote.IsZero() {
		size.set("quote", c.Size.Quote.String())
	}
	o.put("size", size)
	params := newOutline()
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		params.set(name, c.Params[name])
	}
	o.put("params", params)
	o.put("risk", limitsOutline(&c.Limits))
	protect := newOutline()
	protect.set("stop_loss", c.Protect.StopLoss.text())
	protect.set("take_profit", c.Protect.TakeProfit.text())
	c.Exits.outline(protect)
	o.put("protect", protect)
	o.put("entry", c.Entry.outline())
	o.put("backtest", c.Backtest.outline())
	o.set("on_remove", c.OnRemove)
	return o
}

func (d DistanceConfig) text() string {
	switch {
	case d.IsZero():
		return ""
	case d.Share != 0:
		return percent(d.Share)
	}
	return d.Price.String()
}

func (b BacktestConfig) outline() outline {
	o := newOutline()
	o.set("cash", b.Cash.String())
	fees := newOutline()
	fees.set("maker", b.Maker.String())
	fees.set("taker", b.Taker.String())
	o.put("fees", fees)
	o.set("fill", b.Fill)
	o.set("slippage", b.Slippage.String())
	o.set("slippage_volume", b.Impact.String())
	o.set("volume_cap", b.VolumeCap.String())
	o.set("path", b.Path)
	o.set("funding", b.Funding.String())
	o.set("latency", durationText(b.LatencyMS))
	o.set("risk_free_annual", b.RiskFree.String())
	return o
}
