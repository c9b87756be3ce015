// Package doctor examines everything that can keep botd from running well, and suggests remedies.
package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/internal/disk"
	"botd/internal/failure"
	"botd/internal/plural"
	"botd/internal/version"
	"botd/reconcile/journal"
	"botd/runtime/api"
	"botd/runtime/api/auth"
	"botd/runtime/api/client"
	"botd/runtime/gateway"
	"botd/runtime/view"
)

// finding is one thing the doctor checked.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // ok, warn, fail
	What   string `json:"what"`
	Remedy string `json:"remedy,omitempty"`
}

// The states of a finding.
const (
	StateOK   = "ok"
	StateWarn = "warn"
	StateFail = "fail"
)

// Patient is the subject of an examination.
type Patient struct {
	Load    func() (*configs.Config, configs.Problems, error) // reads the configuration
	Daemon  func(context.Context) (*client.Daemon, error)     // finds the running daemon of the configuration
	Address string                                            // of the daemon, if the user named one
}

// examination collects the findings of botd doctor.
type examination struct {
	ctx       context.Context
	of        Patient
	config    *configs.Config // nil when it could not be read
	directory string          // of the mode's data
	findings  []finding
}

func (e *examination) ok(check, format string, values ...any) {
	e.find(check, StateOK, "", format, values...)
}

func (e *examination) warn(check, remedy, format string, values ...any) {
	e.find(check, StateWarn, remedy, format, values...)
}

func (e *examination) fail(check, remedy, format string, values ...any) {
	e.find(check, StateFail, remedy, format, values...)
}

func (e *examination) find(check, state, remedy, format string, values ...any) {
	e.findings = append(e.findings, finding{check, state, fmt.Sprintf(format, values...), remedy})
}

// failed adds an error, with its hint as the remedy, or with the given one if it has none.
func (e *examination) failed(check, remedy string, err error) {
	what, hint, _ := strings.Cut(err.Error(), "hint: ")
	e.find(check, StateFail, cmp.Or(strings.TrimSpace(hint), remedy), "%s", strings.TrimSpace(what))
}

// Diagnosis is the output of botd doctor -o json.
type Diagnosis struct {
	Schema   int       `json:"schema"`
	OK       bool      `json:"ok"` // nothing failed
	Failures int       `json:"failures"`
	Warnings int       `json:"warnings"`
	Findings []finding `json:"findings"`
}

func (d Diagnosis) Rows() any { return d.Findings }

// doctorPatience bounds each check of something outside this process.
const doctorPatience = 15 * time.Second

// Examine runs every check, regardless of the results of the earlier ones.
func Examine(ctx context.Context, of Patient) Diagnosis {
	e := &examination{ctx: ctx, of: of}
	e.version(version.Read())
	e.configuration()
	if e.config != nil {
		e.directory = filepath.Join(e.config.DataDir, string(e.config.Mode))
		e.permissions()
		e.disk()
		e.journal()
		e.venue()
		e.daemon()
	}
	d := Diagnosis{Schema: 1, Findings: e.findings}
	for _, f := range e.findings {
		switch f.State {
		case StateFail:
			d.Failures++
		case StateWarn:
			d.Warnings++
		}
	}
	d.OK = d.Failures == 0
	return d
}

func (e *examination) version(info version.Info) {
	revision := info.Revision
	if len(revision) > 12 {
		revision = revision[:12]
	}
	if info.Modified {
		e.warn("version", "build from a clean checkout before trading with money", "%s, built from changed sources, %s",
			version.Spaced("botd", info.Version, revision), info.Go)
		return
	}
	e.ok("version", "%s, %s, %s", version.Spaced("botd", info.Version, revision), info.Go, info.Platform)
}

func (e *examination) configuration() {
	config, problems, err := e.of.Load()
	if err != nil {
		e.failed("configuration", "", err)
		return
	}
	e.config = config
	switch {
	case problems.Errors() > 0:
		e.fail("configuration", "botd check lists each with file and line", "%s; the first: %s", plural.Of(problems.Errors(), "error"),
			first(problems, configs.Error))
		return
	case problems.Warnings() > 0:
		e.warn("configuration", "botd check lists each with file and line", "%s; the first: %s", plural.Of(problems.Warnings(), "warning"),
			first(problems, configs.Warning))
	default:
		e.ok("configuration", "%s, %s, mode %s", plural.Of(len(config.Files), "file"), plural.Of(len(config.Strategies), "strategy"), config.Mode)
	}
	if err := engineconfig.Supported(config); err != nil {
		e.failed("configuration", "", err)
	}
}

// first returns the first problem of a severity without its hint. There is one.
func first(problems configs.Problems, severity configs.Severity) string {
	i := slices.IndexFunc(problems, func(p configs.Problem) bool { return p.Severity == severity })
	line, _, _ := strings.Cut(problems[i].String(), "\n")
	return line
}

// permissions checks who has access to the files: a user who can read the keys, or write the
// configuration, can trade.
func (e *examination) permissions() {
	const check = "permissions"
	before := len(e.findings)
	if os.Geteuid() == 0 {
		e.warn(check, "run it as a dedicated user, as botd's systemd unit does", "botd runs as root")
	}
	for _, name := range []string{e.directory, filepath.Join(e.directory, auth.OperatorFile), filepath.Join(e.directory, auth.ViewerFile),
		filepath.Join(e.directory, auth.KeyringFile), filepath.Join(e.directory, journal.FileName)} {
		if found, err := os.Stat(name); err == nil && found.Mode().Perm()&0o077 != 0 {
			e.warn(check, "chmod go= "+name, "%s has mode %03o: others on this machine can access it", name, found.Mode().Perm())
		}
	}
	for _, name := range append([]string{e.config.Directory}, e.config.Files...) {
		if found, err := os.Stat(filepath.FromSlash(name)); err == nil && found.Mode().Perm()&0o022 != 0 {
			e.warn(check, "chmod go-w "+name, "%s can be written by others, who could make botd trade", name)
		}
	}
	if e.config.Mode == configs.Live {
		if _, _, err := configs.ReadSecrets(e.config.Exchange); err != nil {
			e.failed(check, "", err)
		} else {
			e.ok(check, "key and secret are readable only by their owner")
		}
	}
	for _, err := range unreadable(e.config) {
		e.failed(check, "", err)
	}
	if len(e.findings) == before {
		e.ok(check, "data and configuration are accessible only to their owner")
	}
}

func (e *examination) disk() {
	directory := existing(e.directory)
	if err := journal.CheckWritable(directory); err != nil {
		e.failed("disk", "", err)
		return
	}
	e.space(disk.Free(directory))
	e.speed(timeSync(directory))
}

func (e *examination) space(free int64, known bool) {
	const check = "disk"
	switch {
	case known && free < disk.MinFree:
		e.fail(check, "free some space: nothing opens when the journal's disk is full", "%d MiB are free in %s", free>>20, e.directory)
	case known && free < enoughFree:
		e.warn(check, "free some space before it is full: then nothing opens", "%d MiB are free in %s", free>>20, e.directory)
	case known:
		e.ok(check, "%.1f GiB are free in %s", float64(free)/(1<<30), e.directory)
	}
}

// speed judges the time of a durable write.
func (e *examination) speed(took time.Duration, err error) {
	const check = "disk"
	switch {
	case err != nil:
		e.failed(check, "free some space, or set data_dir in botd.yaml to a writable disk: nothing is sent that is not written first",
			err)
	case took > slowSync:
		e.warn(check, "every order waits for one write like that: use a local disk", "a durable write takes %s", took.Round(time.Millisecond))
	default:
		e.ok(check, "a durable write takes %s", took.Round(10*time.Microsecond))
	}
}

func (e *examination) journal() {
	const check = "journal"
	path := filepath.Join(e.directory, journal.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		e.ok(check, "none yet; botd run makes %s", path)
		return
	}
	secret, err := e.config.JournalKey()
	if err != nil {
		e.failed(check, "", err)
		return
	}
	key := journal.NewKey(secret)
	store, err := journal.ReadKeyed(e.ctx, path, key)
	if err != nil {
		var newer *journal.NewerError
		remedy := "stop botd and restore a backup: botd restore FILE keeps the damaged journal next to it"
		switch {
		case e.noDirectory():
			remedy = "set data_dir in botd.yaml to a directory that botd may write"
		case errors.Is(err, fs.ErrPermission):
			remedy = "run this as the user botd runs as"
		case errors.As(err, &newer):
			remedy = newer.Hint()
		}
		e.fail(check, remedy, "%v", err)
		return
	}
	defer store.Close()
	report, err := store.Verify(e.ctx)
	switch {
	case err != nil:
		e.fail(check, "botd journal verify reports more; do not trade on it", "%v", err)
	case len(report.Problems) > 0:
		e.fail(check, "botd journal verify lists them; do not trade on it", "%s in %s; the first: %s",
			plural.Of(len(report.Problems), "problem"), plural.Of(int(report.Records), "record"), report.Problems[0])
	case report.Keyed > 0 && key == nil:
		e.fail(check, "set journal_key_file in botd.yaml: a start without it is refused", "keyed from record %d on, and no key is configured", report.Keyed)
	default:
		e.ok(check, "%s, the chain is intact; it proves %s", plural.Of(int(report.Records), "record"), report.Proves)
	}
}

// noDirectory reports that the data directory's path is not a directory.
func (e *examination) noDirectory() bool {
	_, err := os.ReadDir(existing(e.directory))
	return errors.Is(err, syscall.ENOTDIR)
}

// venue checks address, clock, signature and symbols.
func (e *examination) venue() {
	const check = "venue"
	if e.config.Mode == configs.Demo {
		e.ok("clock", "the demo's exchange uses this machine's clock: %s", time.Now().UTC().Format(time.RFC3339))
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			e.fail(check, "let processes listen on 127.0.0.1: the demo's exchange needs a port there", "%v", err)
			return
		}
		e.ok(check, "the demo's exchange is inside botd")
		_ = listener.Close() // it only showed that ports are available
		return
	}
	e.profile()
	settings := rest.Config{BaseURL: e.config.Exchange.BaseURL, Profile: gateway.Profile(&e.config.Exchange.Profile)}
	if e.config.Mode == configs.Live {
		key, secret, err := configs.ReadSecrets(e.config.Exchange)
		if err != nil {
			e.warn(check, "see permissions", "without keys only public data can be tested")
		} else {
			settings.Key, settings.Secret = key, secret
			settings.Signer = gateway.Signer(&e.config.Exchange.Signature)
		}
	}
	ctx, cancel := context.WithTimeout(e.ctx, doctorPatience)
	defer cancel()
	began := time.Now()
	client, err := gateway.Client(ctx, settings)
	if err != nil {
		e.failed(check, "botd probe --base-url "+e.config.Exchange.BaseURL+" examines it in detail", err)
		return
	}
	offset, bound := client.Offset()
	windowMS, _, _ := e.config.SettleBounds()
	e.clock(offset, bound, time.Duration(windowMS)*time.Millisecond)
	what := "its public data can be read"
	if settings.Key != "" {
		what = "it accepts key and signature"
	}
	e.ok(check, "%s answers, %s; %d symbols, read in %s", e.config.Exchange.BaseURL, what, len(client.Symbols().All()),
		time.Since(began).Round(time.Millisecond))
	for i := range e.config.Strategies {
		s := &e.config.Strategies[i]
		symbol, found := client.Symbols().Symbol(exchange.SymbolKey{Market: s.Market, Name: s.Symbol})
		switch {
		case !found:
			e.fail(check, "botd markets lists them", "%s: the venue has no %s symbol %s", s.Name, s.Market, s.Symbol)
		case !symbol.Tradable:
			e.warn(check, "nothing opens until the venue trades it again", "%s: the venue does not trade %s %s now", s.Name, s.Market, s.Symbol)
		}
	}
}

// clock judges the offset of the venue's clock from this machine's, which is known within a bound. An unanswered order
// is decided within the window.
func (e *examination) clock(offset, bound, window time.Duration) {
	away, text := offset.Abs(), offset.Round(time.Millisecond).String()
	const remedy = "synchronize the system clock: timedatectl set-ntp true"
	switch {
	case away > clockFar:
		e.fail("clock", remedy, "this machine's clock is off by %s from the venue's", text)
	case away > clockSlight:
		e.warn("clock", remedy, "this machine's clock is off by %s from the venue's; botd corrects for it", text)
	case 2*bound > window:
		e.warn("clock", "use a closer or faster connection", "the venue's clock is known only to within %s, for a window of %s",
			bound.Round(time.Millisecond), window)
	default:
		e.ok("clock", "off by %s from the venue's, within %s", text, bound.Round(time.Millisecond))
	}
}

// daemon checks whether a daemon runs and its health, and otherwise whether its address is free.
func (e *examination) daemon() {
	const check = "daemon"
	d, err := e.of.Daemon(e.ctx)
	if err == nil {
		e.running(d)
		return
	}
	if e.config.Listen == configs.ListenOff {
		e.ok(check, "it does not run")
		return
	}
	listener, err := net.Listen("tcp", e.config.Listen)
	if err != nil {
		e.fail(check, "stop the program that uses the address, or set listen in botd.yaml", "it does not run, and its address %s cannot be used: %v",
			e.config.Listen, err)
		return
	}
	_ = listener.Close() // it only showed that the address is free
	e.ok(check, "it does not run; its address %s is free", e.config.Listen)
}

func (e *examination) running(d *client.Daemon) {
	const check = "daemon"
	ctx, cancel := context.WithTimeout(e.ctx, doctorPatience)
	defer cancel()
	status, _, err := client.Ask[view.Status](ctx, d, http.MethodGet, "/api/v1/status", nil)
	if err != nil && failure.CodeOf(err) == failure.Credentials && e.of.Address == "" && d.Where == e.config.Listen {
		e.fail(check, "stop that one, or set a different listen in this configuration's botd.yaml", "it does not run, and another botd uses its address %s",
			d.Where)
		return
	}
	if err != nil {
		e.failed(check, "see botd logs, or the journal of its service", err)
		return
	}
	for _, c := range status.Checks {
		if !c.OK {
			e.fail(check, "see botd status and the log", "%s is not ready: %s %s", d.Where, c.Name, c.Detail)
		}
	}
	for _, g := range status.Degraded {
		e.warn(check, g.Remedy, "%s %s since %s: %s", g.State, g.Scope, g.Since.Format(time.DateTime), g.Cause)
	}
	if own := version.Read(); status.Version != "" && status.Version != own.Version {
		e.warn(check, "restart it to run the installed version", "botd %s runs, this is %s", status.Version, own.Version)
	}
	if status.Ready {
		e.ok(check, "it has been running since %s, mode %s, and is ready", status.Started.Format(time.DateTime), status.Mode)
	}
	var loaded api.Configuration
	if raw, err := d.Call(ctx, http.MethodGet, "/api/v1/config", nil); err == nil && json.Unmarshal(raw, &loaded) == nil &&
		loaded.Hash != e.config.Hash() {
		e.warn(check, "botd config diff shows the differences; restart it to apply them", "it runs a configuration that differs from the files")
	}
}
