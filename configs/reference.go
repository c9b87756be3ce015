package configs

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"botd/risk"
	"botd/strategy"
)

// note is what a person wants to know of a key, beside what its reader knows.
type note struct {
	what    string
	unit    string // of a number
	modes   string // in which it counts; all when empty
	example string // its value, or with a colon in it the whole block
	instead string // what else sets it, and stands above it
}

// explained puts what a key is beside what may stand there. A key without a note
// is found by a test.
func explained(keys []Key, notes map[string]note) {
	for i := range keys {
		k := &keys[i]
		n, found := notes[k.Path]
		if limit := risk.LimitNamed(strings.TrimPrefix(k.Path, "risk.")); !found && limit != nil {
			n = note{what: limit.What, unit: limit.Unit, example: limit.Example}
		}
		k.What, k.Unit, k.Modes, k.Example, k.Instead = n.what, n.unit, n.modes, n.example, n.instead
	}
}

// rootNotes are those of botd.yaml.
var rootNotes = map[string]note{
	"mode":     {what: "what is traded on: `demo`, a simulated exchange inside botd; `paper`, a simulated account on a venue's prices; `live`, the venue. Live is asked for twice, here and by `--mode live`", example: "paper", instead: "`--mode` (never to live alone)"},
	"instance": {what: "part of every order's id, 1 to 10 of a-z and 0-9: botd takes orders that bear it for its own", example: "main"},

	"exchange.base_url":              {what: "the venue's address; http only on this machine", modes: "paper, live", example: "https://api.venue.example", instead: "`--base-url` of the commands that only look"},
	"exchange.key_file":              {what: "the file of mode 600 that holds the API key", modes: "live", example: "/etc/botd/key", instead: "systemd's credential BOTD_KEY, where no file is named"},
	"exchange.secret_file":           {what: "the file of mode 600 that holds the API secret", modes: "live", example: "/etc/botd/secret", instead: "systemd's credential BOTD_SECRET, where no file is named"},
	"exchange.signature.payload":     {what: "what is signed; `{query}` and `{key}` are known too. `botd probe` finds out", modes: "live", example: `"{timestamp}{method}{path}{body}"`},
	"exchange.signature.encoding":    {what: "how the signature is written", modes: "live", example: "base64"},
	"exchange.settle.window":         {what: "W of exactly-once.md: how long after its making a signed request may still be taken", example: "5s"},
	"exchange.settle.visibility":     {what: "D: how long an accepted order may be missing in lists", example: "1s"},
	"exchange.settle.staleness":      {what: "L: how old what is read may be", example: "1s"},
	"exchange.breaker.unknowns":      {what: "so many orders of unknown fate `within` a time pause openings", unit: "orders", example: "3"},
	"exchange.breaker.within":        {what: "that time", example: "10m"},
	"exchange.breaker.pause":         {what: "for how long they pause", example: "10m"},
	"exchange.breaker.empty_endings": {what: "so many orders in a row that end without a fill pause openings for `empty_pause`", unit: "orders", example: "3"},
	"exchange.breaker.empty_pause":   {what: "for how long they pause", example: "45s"},
	"exchange.requests_per_second":   {what: "to each market at most, of all callers; exits and settling go first, market data last; 0 is unlimited", unit: "requests a second", modes: "paper, live", example: "20"},

	"simulated.futures":            {what: "what the simulated futures wallet begins with", unit: "USDT", modes: "demo, paper", example: "10000"},
	"simulated.spot.ASSET":         {what: "what the simulated spot wallet begins with; a list given replaces the default, 10000 USDT and 1 BTC", unit: "the asset", modes: "demo, paper", example: "simulated: {spot: {USDT: 10000, BTC: 1}}"},
	"simulated.fees.futures.maker": {what: "of the value, for an order that rested; below zero is paid out", modes: "demo, paper", example: "0.02%"},
	"simulated.fees.futures.taker": {what: "of the value, for an order that took", modes: "demo, paper", example: "0.05%"},
	"simulated.fees.spot.maker":    {what: "likewise, of what is received", modes: "demo, paper", example: "0.1%"},
	"simulated.fees.spot.taker":    {what: "likewise", modes: "demo, paper", example: "0.1%"},
	"paper.poll":                   {what: "how often the venue's book, trades and ticker are read", modes: "paper", example: "1s"},
	"paper.max_age":                {what: "older data accept and fill nothing; at least two polls", modes: "paper", example: "10s"},

	"data_dir":               {what: "where journal, simulated accounts, candles and tokens stand; one botd a directory", example: "/var/lib/botd"},
	"journal":                {what: "the address of a PostgreSQL; not there yet: `botd run` refuses it, the journal is SQLite in `data_dir`", example: "postgres://botd@db.example/botd"},
	"foreign":                {what: "what becomes of orders and positions that botd did not make: `halt` opens nothing beside such orders and quarantines the symbol of such a position, `adopt` makes positions the strategy's, `ignore` trades beside both; their orders are left alone", example: "halt"},
	"shutdown":               {what: "what becomes of orders and positions when botd is stopped", example: "cancel_orders"},
	"retention.decisions":    {what: "for how long what strategies decided, and why, is kept in `data_dir/MODE/decisions` for dashboard and API, 256 MiB at most; whole files go, of a day or 1 MiB each. The journal, which has every plan too, stays until deleted", example: "30d"},
	"retention.recorded_mib": {what: "polled candles and funding rates up to so much are kept in `data_dir/MODE/recorded` for `botd backtest run --recorded`; beyond it the oldest go; 0 keeps none", unit: "MiB", example: "512"},

	"listen":                  {what: "the address of dashboard, API and /metrics, host:port; other machines reach it only with `access`; `off` for none, the command line then asks by the unix socket", example: "127.0.0.1:8420", instead: "`--listen`"},
	"access.certificate_file": {what: "the TLS certificate of dashboard and API, PEM", example: "access: {certificate_file: /etc/botd/tls.crt, key_file: /etc/botd/tls.key}"},
	"access.key_file":         {what: "its key, PEM", example: "access: {certificate_file: /etc/botd/tls.crt, key_file: /etc/botd/tls.key}"},
	"access.behind_proxy":     {what: "says that a proxy with TLS stands in front, so that `listen` need not be loopback", example: "true"},
	"access.hosts":            {what: "names under which browsers may ask, with commas between, besides loopback", example: "botd.example, 10.0.0.5"},

	"notify.every":                  {what: "one message a channel in this time at most, after the first few; the rest is put together", example: "1m"},
	"notify.daily":                  {what: "when a summary of the day is told, UTC", example: `notify: {daily: "06:00", channels: {phone: {url_file: /etc/botd/phone}}}`},
	"notify.channels.NAME.url_file": {what: "the file of mode 600 that holds the channel's address (`botd notify --help` has their forms)", example: "notify: {channels: {phone: {url_file: /etc/botd/phone}}}", instead: "systemd's credential BOTD_NOTIFY_NAME, where no file is named"},
	"notify.channels.NAME.least":    {what: "from which severity on everything is told", example: "notify: {channels: {phone: {url_file: /etc/botd/phone, least: warning}}}"},
	"notify.channels.NAME.also":     {what: "events told whatever their severity; logs.md lists them, `*` is any part", example: "notify: {channels: {phone: {url_file: /etc/botd/phone, also: [order.fill]}}}"},
	"notify.channels.NAME.never":    {what: "events never told", example: "notify: {channels: {phone: {url_file: /etc/botd/phone, never: [exchange.*]}}}"},

	"signals.listen":       {what: "where signals from outside arrive (signals.md); without it nowhere", example: "signals: {listen: 127.0.0.1:8430, token_file: /etc/botd/signal-token}"},
	"signals.token_file":   {what: "the file of mode 600 that holds their token", example: "signals: {listen: 127.0.0.1:8430, token_file: /etc/botd/signal-token}", instead: "systemd's credential BOTD_SIGNAL_TOKEN, where no file is named"},
	"signals.behind_proxy": {what: "says that a proxy with TLS on another machine stands in front", example: "true"},

	"telegram.token_file": {what: "the file of mode 600 that holds the token of a Telegram bot whose messages are commands (telegram.md); without it nobody is listened to", example: "telegram: {token_file: /etc/botd/telegram, operators: [123456789]}", instead: "systemd's credential BOTD_TELEGRAM_TOKEN, where no file is named"},
	"telegram.operators":  {what: "the numbers of the Telegram users who may pause, halt and resume", example: "telegram: {token_file: /etc/botd/telegram, operators: [123456789]}"},
	"telegram.viewers":    {what: "the numbers of those who may ask only", example: "telegram: {token_file: /etc/botd/telegram, viewers: [987654321]}"},
	"telegram.server":     {what: "a Bot API server of your own; https, or http on this machine", example: "https://telegram.example"},
}

// fileNotes are those of a strategy's file.
var fileNotes = map[string]note{
	"name":     {what: "a name of your own, 1 to 32 of a-z, 0-9, _ and -; the journal knows it by that", example: "btc-trend"},
	"strategy": {what: "what it does: a name of `botd strategy list`", example: "sma_cross"},
	"market":   {what: "where it trades", example: "futures"},
	"symbol":   {what: "what it trades; each symbol of a market belongs to one strategy", example: "BTC-USDT"},
	"interval": {what: "the candles it decides on: 1m, 5m, 15m, 30m (futures), 1h, 4h, 1d, 1w (futures)", example: "1h"},
	"leverage": {what: "set and confirmed on the exchange before the first opening; futures only. Without it what is set there stays", unit: "times", example: "3"},
	"schedule": {what: "when it is asked: at every closed candle, `@every 10s`, `@hourly`, or cron fields in UTC", example: `"@every 10s"`},
	"params":   {what: "the strategy's own parameters, below", example: "{fast: 10, slow: 30}"},

	"size.equity":   {what: "the value of a full position, as a share of the account's equity; leverage is not multiplied in", example: "50%"},
	"size.quantity": {what: "or as a quantity, a multiple of the symbol's step", unit: "base units", example: "0.01"},
	"size.quote":    {what: "or as money", unit: "USDT", example: "1000"},

	"protect.stop_loss":         {what: "a stop on the exchange for the whole position, a share of the entry price or a price", example: "2%"},
	"protect.take_profit":       {what: "a take-profit there, likewise", example: "6%"},
	"protect.trailing.distance": {what: "how far below the best price since the entry the stop follows", example: "1.5%"},
	"protect.trailing.after":    {what: "the profit from which on it follows; without it at once", example: "protect: {trailing: {distance: 1.5%, after: 3%}}"},
	"protect.time_limit":        {what: "then the position is closed", example: "3d"},
	"protect.cooldown":          {what: "for how long nothing opens after a position ended", example: "2h"},
	"protect.returns.AGE":       {what: "the profit that is enough once the position is that old", example: "protect: {returns: {4h: 3%, 1d: 1%}}"},

	"entry.order":    {what: "how positions are entered: at market, or by an order that rests", example: "limit"},
	"entry.patience": {what: "for how long one rests before it is moved", example: "entry: {order: limit, patience: 1m}"},
	"entry.tries":    {what: "how often", unit: "orders", example: "entry: {order: limit, tries: 5}"},
	"entry.then":     {what: "what becomes of the rest", example: "entry: {order: limit, then: give_up}"},

	"backtest.cash":             {what: "what it begins with", unit: "USDT", modes: "backtest", example: "10000"},
	"backtest.fees.maker":       {what: "of the value, for an order that rested; on spot 0.001 without it", modes: "backtest", example: "0.0002"},
	"backtest.fees.taker":       {what: "of the value, for an order that took; on spot 0.001 without it", modes: "backtest", example: "0.0005"},
	"backtest.fill":             {what: "where what is decided on a close is filled: at the next open, never in its own candle", modes: "backtest", example: "next_open"},
	"backtest.slippage":         {what: "of the price, against whoever takes", modes: "backtest", example: "0.0002"},
	"backtest.slippage_volume":  {what: "and that times the order's share of the candle's volume", modes: "backtest", example: "0.1"},
	"backtest.volume_cap":       {what: "of a candle's volume is the most that fills; 0 is no bound", modes: "backtest", example: "10%"},
	"backtest.path":             {what: "the order of low and high inside a candle", modes: "backtest", example: "worst"},
	"backtest.funding":          {what: "of each payment, where no rates are recorded", modes: "backtest", example: "0.01%"},
	"backtest.latency":          {what: "from placement to the book", modes: "backtest", example: "500ms"},
	"backtest.risk_free_annual": {what: "taken off the returns of Sharpe and Sortino", modes: "backtest", example: "4%"},

	"on_remove":   {what: "what becomes of its position when its file is gone, at a start or a reload: `flatten` closes it, `leave` keeps it and its stop and halts its symbol until `botd rearm`; without either it is kept at a start, and the reload is refused", example: "flatten"},
	"file":        {what: "of `strategy: script`: its Starlark file, beside this one", example: "my.star"},
	"file_sha256": {what: "pins that file to one version", example: "c5c34c70c9a2f0d0b52ae4a5cf4d0f5d59a0c1fd64d2b0f6f2b0c5ddbf60ddea"},
}

const referenceHead = `# Configuration

<!-- Made by ` + "`go run ./cmd/botd config reference --into docs/configuration.md`" + `: change the code, not this file. -->

A configuration is a directory: botd.yaml, and a file a strategy in strategies/. Every key of botd.yaml may be left out, botd.yaml itself too.
` + "`botd init`" + ` writes one with comments, ` + "`botd check -c DIR`" + ` tells every mistake with file, line and what was probably meant, and
` + "`botd config show --effective -c DIR`" + ` what holds, and where each value comes from.

- **What stands above what**: the command line, then the file, then the default. The column *also by* says what else sets a key; where it is
  empty nothing does. Secrets never stand in YAML: keys that end in ` + "`_file`" + ` name files of mode 600.
- **What an environment variable does**: ` + "`NO_COLOR`, `FORCE_COLOR`, `TERM=dumb`" + ` colours; ` + "`BOTD_CACHE`" + ` where parsed candles are kept;
  ` + "`CREDENTIALS_DIRECTORY`" + ` is systemd's. No variable sets a key.
- **When a change counts**: a strategy's file within two seconds of being saved, where name, market, symbol and interval stay; everything else
  at the next start. ` + "`botd config diff`" + ` tells what waits for one.
- **How values are written**: a share ` + "`5%` or `0.05`" + `; a loss is a share or money, ` + "`500 USDT`" + `; a distance is a share of the entry price, with its
  ` + "`%`" + `, or a price; a duration ` + "`500ms`, `90s`, `1h30m`, `30d`" + `; a time of day ` + "`06:00`, in UTC, or `off`" + `. Bounds are included.
- **Modes**: where the column is empty a key counts in all. ` + "`botd config schema`" + ` is this page for editors.
`

// Reference is docs/configuration.md.
func Reference(registry *strategy.Registry) []byte {
	root, file := Keys()
	var b bytes.Buffer
	b.WriteString(referenceHead)
	b.WriteString("\n## botd.yaml\n")
	keyBlocks(&b, root)
	b.WriteString("\n## strategies/\\*.yaml\n")
	keyBlocks(&b, file)
	b.WriteString("\n## Parameters of the strategies\n\nThey stand under `params:`, each with the strategy's own; `botd strategy show NAME` prints one.\n")
	for _, definition := range registry.All() {
		strategyParameters(&b, definition)
	}
	return b.Bytes()
}

// keyBlocks writes a table for the keys without a block, and one for each block.
func keyBlocks(w io.Writer, keys []Key) {
	blocks := []string{""}
	members := map[string][]Key{}
	for _, k := range keys {
		block, _, nested := strings.Cut(k.Path, ".")
		switch {
		case k.Kind == KindBlock && nested:
			continue
		case k.Kind == KindBlock:
			blocks = append(blocks, k.Path)
			continue
		case !nested:
			block = ""
		}
		members[block] = append(members[block], k)
	}
	for _, block := range blocks {
		if len(members[block]) == 0 {
			continue
		}
		if block != "" {
			fmt.Fprintf(w, "\n### %s\n", block)
		}
		fmt.Fprint(w, "\n| key | type | from | to | default | modes | example | also by | what it is |\n|---|---|---|---|---|---|---|---|---|\n")
		for _, k := range members[block] {
			keyLine(w, k)
		}
	}
}

func keyLine(w io.Writer, k Key) {
	kind, standard, example := k.Kind, coded(k.Default), k.Example
	if len(k.Words) > 0 {
		kind = "`" + strings.Join(k.Words, "`, `") + "`"
	}
	if k.Unit != "" {
		kind += ", " + k.Unit
	}
	if k.Live != "" {
		standard += "; live " + coded(k.Live)
	}
	if k.Required {
		standard = "required"
	}
	if !strings.Contains(example, ": ") {
		example = k.Path[strings.LastIndexByte(k.Path, '.')+1:] + ": " + example
	}
	fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | `%s` | %s | %s |\n", k.Path, kind, k.Low, k.High, standard, k.Modes, example, k.Instead, k.What)
}

// coded is a value between backticks, and nothing is nothing.
func coded(value string) string {
	if value == "" {
		return ""
	}
	return "`" + value + "`"
}

func strategyParameters(w io.Writer, d strategy.Definition) {
	fmt.Fprintf(w, "\n### %s\n\n%s.\n", d.Name, strings.ToUpper(d.Summary[:1])+d.Summary[1:])
	if len(d.Parameters) == 0 {
		return
	}
	fmt.Fprint(w, "\n| parameter | type | from | to | default | what it is |\n|---|---|---|---|---|---|\n")
	for _, p := range d.Parameters {
		kind, standard := p.Kind, coded(p.Default)
		if len(p.OneOf) > 0 {
			kind = "`" + strings.Join(p.OneOf, "`, `") + "`"
		}
		if p.Default == "" {
			standard = "required"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s |\n", p.Name, kind, p.Min, p.Max, standard, strings.ReplaceAll(p.Help, "|", `\|`))
	}
}
