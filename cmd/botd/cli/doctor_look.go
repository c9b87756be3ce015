package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/wire"
	"botd/internal/failure"
	"botd/internal/plural"
	"botd/internal/version"
	"botd/reconcile/journal"
	"botd/runtime/api"
	"botd/runtime/api/auth"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// This file looks at what is outside the program: files, disk, journal, venue, daemon.

// permissions: whoever reads the keys can trade, and so can whoever writes the
// configuration.
func (e *examination) permissions() {
	const check = "permissions"
	before := len(e.findings)
	if os.Geteuid() == 0 {
		e.warn(check, "run it as a user of its own; the systemd unit of botd does", "botd runs as root")
	}
	for _, name := range []string{e.directory, filepath.Join(e.directory, auth.OperatorFile), filepath.Join(e.directory, auth.ViewerFile), filepath.Join(e.directory, auth.KeyringFile), filepath.Join(e.directory, journal.FileName)} {
		if found, err := os.Stat(name); err == nil && found.Mode().Perm()&0o077 != 0 {
			e.warn(check, "chmod go= "+name, "%s has mode %03o: others on this machine can reach it", name, found.Mode().Perm())
		}
	}
	for _, name := range append([]string{e.config.Directory}, e.config.Files...) {
		if found, err := os.Stat(filepath.FromSlash(name)); err == nil && found.Mode().Perm()&0o022 != 0 {
			e.warn(check, "chmod go-w "+name, "%s can be written by others, who could so make botd trade", name)
		}
	}
	if e.config.Mode == configs.Live {
		if _, _, err := configs.ReadSecrets(e.config.Exchange); err != nil {
			e.hinted(check, stateFail, err)
		} else {
			e.ok(check, "key and secret are readable, and by nobody else")
		}
	}
	for _, err := range unreadable(e.config) {
		e.hinted(check, stateFail, err)
	}
	if len(e.findings) == before {
		e.ok(check, "data and configuration are their owner's")
	}
}

// unreadable says what keeps the tokens and addresses that are configured from being
// read: botd run would end by it.
func unreadable(config *configs.Config) (all []error) {
	directory := config.Exchange.CredentialsDirectory
	add := func(err error) {
		if err != nil {
			all = append(all, err)
		}
	}
	if config.Signals.Listen != "" {
		_, err := configs.ReadSignalToken(&config.Signals, directory)
		add(err)
	}
	if config.Telegram.On() {
		_, err := configs.ReadTelegramToken(&config.Telegram, directory)
		add(err)
	}
	for i := range config.Notify.Channels {
		_, err := openChannel(config, &config.Notify.Channels[i])
		add(err)
	}
	return all
}

// Bounds of the disk.
const (
	enoughFree = 1 << 30
	slowSync   = 50 * time.Millisecond
	syncTries  = 5
)

func (e *examination) disk() {
	const check = "disk"
	directory := existing(e.directory)
	if err := journal.CheckWritable(directory); err != nil {
		e.hinted(check, stateFail, err)
		return
	}
	free, known := freeBytes(directory)
	switch {
	case known && free < leastFree:
		e.fail(check, "make room: nothing opens when the journal's disk is full", "%d MiB are free in %s", free>>20, e.directory)
	case known && free < enoughFree:
		e.warn(check, "make room before it is full: then nothing opens", "%d MiB are free in %s", free>>20, e.directory)
	case known:
		e.ok(check, "%.1f GiB are free in %s", float64(free)/(1<<30), e.directory)
	}
	took, err := timeSync(directory)
	switch {
	case err != nil:
		e.hintedOr(check, stateFail, "make room, or set data_dir in botd.yaml to a disk that can be written: nothing is sent that is not written first", err)
	case took > slowSync:
		e.warn(check, "every order waits for one write like that: use a local disk", "a durable write takes %s", took.Round(time.Millisecond))
	default:
		e.ok(check, "a durable write takes %s", took.Round(10*time.Microsecond))
	}
}

// existing is a directory, or the nearest above it that is there: looking makes none.
func existing(directory string) string {
	for {
		if _, err := os.Stat(directory); err == nil || directory == filepath.Dir(directory) {
			return directory
		}
		directory = filepath.Dir(directory)
	}
}

// timeSync is how long a small durable write takes, the median of some.
func timeSync(directory string) (median time.Duration, err error) {
	file, err := os.CreateTemp(directory, ".doctor-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	var took []time.Duration
	for range syncTries {
		began := time.Now()
		if _, err := file.Write(make([]byte, 4096)); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

func (e *examination) journal() {
	const check = "journal"
	path := filepath.Join(e.directory, journal.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		e.ok(check, "none yet; botd run makes %s", path)
		return
	}
	store, err := journal.Read(e.ctx, path)
	if err != nil {
		mend := "stop botd, and put a backup in its place: botd restore FILE keeps the damaged one beside it"
		switch {
		case e.noDirectory():
			mend = "set data_dir in botd.yaml to a directory that botd may write"
		case errors.Is(err, fs.ErrPermission):
			mend = "run this as the user botd runs as"
		case errors.Is(err, journal.ErrNewerSchema):
			mend = "run the newer botd that wrote it, or restore a backup"
		}
		e.fail(check, mend, "%v", err)
		return
	}
	defer store.Close()
	report, err := store.Verify(e.ctx)
	switch {
	case err != nil:
		e.fail(check, "botd journal verify says more; do not trade on it", "%v", err)
	case len(report.Problems) > 0:
		e.fail(check, "botd journal verify lists them; do not trade on it", "%s in %d records; the first: %s", plural.Of(len(report.Problems), "problem"), report.Records, report.Problems[0])
	default:
		e.ok(check, "%d records, the chain is whole", report.Records)
	}
}

// noDirectory reports that something else stands where the data directory should.
func (e *examination) noDirectory() bool {
	_, err := os.ReadDir(existing(e.directory))
	return errors.Is(err, syscall.ENOTDIR)
}

// Bounds of the clock.
const (
	clockSlight = time.Second
	clockFar    = 30 * time.Second
)

// venue looks at address, clock, signature and symbols.
func (e *examination) venue() {
	const check = "venue"
	if e.config.Mode == configs.Demo {
		e.ok("clock", "the demo's exchange goes by this machine's clock: %s", time.Now().UTC().Format(time.RFC3339))
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			e.fail(check, "let processes listen on 127.0.0.1: the demo's exchange needs a port there", "%v", err)
			return
		}
		e.ok(check, "the demo's exchange is inside botd")
		_ = listener.Close() // it only showed that there are ports
		return
	}
	settings := rest.Config{BaseURL: e.config.Exchange.BaseURL}
	if e.config.Mode == configs.Live {
		key, secret, err := configs.ReadSecrets(e.config.Exchange)
		if err != nil {
			e.warn(check, "see permissions", "without keys only public data can be tried")
		} else {
			settings.Key, settings.Secret = key, secret
			settings.Signer = wire.Signer{Template: e.config.Exchange.Signature.Payload, Encoding: e.config.Exchange.Signature.Encoding}
		}
	}
	ctx, cancel := context.WithTimeout(e.ctx, doctorPatience)
	defer cancel()
	began := time.Now()
	client, err := openClient(ctx, settings)
	if err != nil {
		e.hintedOr(check, stateFail, "botd probe --base-url "+e.config.Exchange.BaseURL+" looks closer", err)
		return
	}
	e.clock(client)
	what := "its public data are there"
	if settings.Key != "" {
		what = "it accepts key and signature"
	}
	e.ok(check, "%s answers, %s; %d symbols, read in %s", e.config.Exchange.BaseURL, what, len(client.Symbols().All()), time.Since(began).Round(time.Millisecond))
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

func (e *examination) clock(client *rest.Client) {
	offset, bound := client.Offset()
	away, text := max(offset, -offset), offset.Round(time.Millisecond).String()
	const mend = "let the system keep time: timedatectl set-ntp true"
	switch window := time.Duration(e.config.Exchange.Settle.WindowMS) * time.Millisecond; {
	case away > clockFar:
		e.fail("clock", mend, "this machine's clock is off by %s from the venue's", text)
	case away > clockSlight:
		e.warn("clock", mend, "this machine's clock is off by %s from the venue's; botd reckons with that", text)
	case 2*bound > window:
		e.warn("clock", "a nearer or faster connection", "the venue's clock is known within %s only, of a window of %s", bound.Round(time.Millisecond), window)
	default:
		e.ok("clock", "off by %s from the venue's, within %s", text, bound.Round(time.Millisecond))
	}
}

// daemon looks whether one runs, how it is, and whether its address is free when not.
func (e *examination) daemon() {
	const check = "daemon"
	d, err := e.of.daemon(e.ctx)
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
		e.fail(check, "stop what has the address, or set listen in botd.yaml", "it does not run, and its address %s can not be had: %v", e.config.Listen, err)
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
	if err != nil && failure.CodeOf(err) == failure.Credentials && e.of.address == "" && d.Where == e.config.Listen {
		e.fail(check, "stop that one, or give this configuration another listen in botd.yaml", "it does not run, and another botd has its address %s", d.Where)
		return
	}
	if err != nil {
		e.hintedOr(check, stateFail, "botd logs, or the journal of its service, tell what it does", err)
		return
	}
	for _, c := range status.Checks {
		if !c.OK {
			e.fail(check, "botd status says more, the log tells why", "%s is not ready: %s %s", d.Where, c.Name, c.Detail)
		}
	}
	for _, g := range status.Degraded {
		e.warn(check, g.WayOut, "%s %s since %s: %s", g.State, g.Scope, g.Since.Format(time.DateTime), g.Cause)
	}
	if own := version.Read(); status.Version != "" && status.Version != own.Version {
		e.warn(check, "restart it to run what is installed", "botd %s runs, this is %s", status.Version, own.Version)
	}
	if status.Ready {
		e.ok(check, "it runs since %s, mode %s, and is ready", status.Started.Format(time.DateTime), status.Mode)
	}
	var loaded api.Configuration
	if raw, err := d.Call(ctx, http.MethodGet, "/api/v1/config", nil); err == nil && json.Unmarshal(raw, &loaded) == nil && loaded.Hash != e.config.Hash() {
		e.warn(check, "botd config diff shows what; restart it to run them", "it runs another configuration than the files")
	}
}
