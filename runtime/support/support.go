// Package support collects diagnostic information into one file, without keys and tokens.
package support

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"botd/configs"
	"botd/internal/version"
	"botd/reconcile/journal"
	"botd/runtime/api/auth"
	"botd/runtime/doctor"
	"botd/runtime/notify"
)

// Bounds of a bundle.
const (
	supportRecords = 1_000 // of the journal, the newest
	supportLines   = 1_000 // of the log, the newest
)

// Bundle is the collected content.
type Bundle struct {
	Files    []bundled
	Gaps     []string
	Secrets  []string
	Redacted int
}

type bundled struct {
	name string
	text []byte
}

func (b *Bundle) Add(name string, text []byte) { b.Files = append(b.Files, bundled{name, text}) }

func (b *Bundle) addJSON(name string, value any) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		b.gap(name, err)
		return
	}
	b.Add(name, append(text, '\n'))
}

// gap records content that could not be collected: a bundle is needed most when something is
// broken.
func (b *Bundle) gap(name string, err error) {
	line, _, _ := strings.Cut(err.Error(), "\n")
	b.Gaps = append(b.Gaps, b.Redact(name+": "+line))
}

// Collect gathers everything that is available.
func Collect(ctx context.Context, of doctor.Patient, dataDir string) *Bundle {
	b := &Bundle{}
	b.addJSON("version.json", version.Read())
	b.addJSON("machine.json", map[string]any{"os": goruntime.GOOS, "arch": goruntime.GOARCH, "cpus": goruntime.NumCPU(), "time": time.Now().UTC()})
	config, problems, err := of.Load()
	if err != nil {
		b.gap("configuration", err)
		return b
	}
	b.knowSecrets(config, dataDir)
	b.addJSON("doctor.json", doctor.Examine(ctx, of))
	b.addJSON("check.json", configs.NewReport(config, problems))
	if config != nil { // an invalid configuration does not prevent the rest
		b.Add("config.yaml", []byte(config.Effective()))
	}
	for _, mode := range []configs.Mode{configs.Demo, configs.Paper, configs.Live} {
		b.journal(ctx, config, string(mode), filepath.Join(dataDir, string(mode), journal.FileName))
	}
	b.running(ctx, of)
	return b
}

// knowSecrets reads the secrets that must not be in the bundle. With an invalid configuration these
// are the tokens of the data directory; keys and addresses of channels are neither in a journal nor
// in a daemon's answers.
func (b *Bundle) knowSecrets(config *configs.Config, dataDir string) {
	var plain []string
	if config != nil {
		plain = configuredSecrets(config)
	}
	for _, mode := range []configs.Mode{configs.Demo, configs.Paper, configs.Live} {
		for _, name := range []string{auth.OperatorFile, auth.ViewerFile} {
			if text, err := os.ReadFile(filepath.Join(dataDir, string(mode), name)); err == nil {
				plain = append(plain, strings.TrimSpace(string(text)))
			}
		}
	}
	for _, secret := range plain {
		if secret != "" {
			b.Secrets = append(b.Secrets, Encodings(secret)...)
		}
	}
	slices.SortFunc(b.Secrets, func(a, c string) int { return len(c) - len(a) }) // the longest first: one may be part of another
}

// configuredSecrets returns the secrets that a configuration names.
func configuredSecrets(config *configs.Config) (plain []string) {
	if key, secret, err := configs.ReadSecrets(config.Exchange); err == nil {
		plain = append(plain, key, string(secret))
	}
	if key, err := config.JournalKey(); err == nil {
		plain = append(plain, string(key))
	}
	if address, err := url.Parse(config.Journal); err == nil && address.User != nil {
		if password, given := address.User.Password(); given {
			plain = append(plain, password)
		}
	}
	return append(plain, otherSecrets(config)...)
}

// otherSecrets returns secrets that are neither the exchange's nor botd's own: tokens of signals, of Telegram and of
// metrics, addresses of channels and of the dead-man's service. A secret that cannot be read is in no file either.
func otherSecrets(config *configs.Config) (plain []string) {
	directory := config.Exchange.CredentialsDirectory
	if token, err := configs.ReadSignalToken(&config.Signals, directory); err == nil {
		plain = append(plain, token)
	}
	if token, err := configs.ReadTelegramToken(&config.Telegram, directory); err == nil {
		_, secret, _ := strings.Cut(token, ":")
		plain = append(plain, token, secret)
	}
	if token, err := configs.ReadMetricsToken(&config.Metrics, directory); err == nil {
		plain = append(plain, token)
	}
	if address, err := configs.ReadHeartbeat(&config.Heartbeat, directory); err == nil && address != "" {
		plain = append(plain, addressSecrets(address)...)
	}
	for i := range config.Notify.Channels {
		if address, err := configs.ReadAddress(&config.Notify.Channels[i], directory); err == nil {
			plain = append(plain, addressSecrets(address)...)
		}
	}
	return plain
}

// addressSecrets returns the parts of a service's address that might be secret. A shorter part occurs in many texts.
func addressSecrets(address string) []string {
	const shortest = 8
	return slices.DeleteFunc(notify.SecretParts(address), func(part string) bool { return len(part) < shortest })
}

// Encodings returns the forms in which a secret may occur in a text.
func Encodings(secret string) []string {
	quoted, err := json.Marshal(secret)
	if err != nil {
		quoted = nil
	}
	all := []string{secret, strings.Trim(string(quoted), `"`), url.QueryEscape(secret), hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret))}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// Redact removes every secret from a text.
func (b *Bundle) Redact(text string) string {
	for _, secret := range b.Secrets {
		if n := strings.Count(text, secret); n > 0 {
			b.Redacted += n
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return text
}

// journal adds a journal's newest records and the result of verifying it.
func (b *Bundle) journal(ctx context.Context, config *configs.Config, mode, path string) {
	if _, err := os.Stat(path); err != nil {
		return // that mode was never run here
	}
	var secret []byte
	if config != nil {
		var err error
		if secret, err = config.JournalKey(); err != nil { // it is verified without a key then: the report names the limits of that
			b.gap("key of the journal", err)
		}
	}
	store, err := journal.ReadKeyed(ctx, path, journal.NewKey(secret))
	if err != nil {
		b.gap("journal of "+mode, err)
		return
	}
	defer store.Close()
	report, err := store.Verify(ctx)
	if err != nil {
		b.gap("journal of "+mode, err)
	}
	b.addJSON("journal-"+mode+".json", report)
	var lines [][]byte
	if err := store.Select(ctx, journal.Filter{}, func(r *journal.Stored) error {
		line, err := json.Marshal(&r.Record)
		if len(lines) == supportRecords {
			lines = slices.Delete(lines, 0, 1)
		}
		lines = append(lines, line)
		return err
	}); err != nil {
		b.gap("journal of "+mode, err)
	}
	b.Add("journal-"+mode+".jsonl", append(bytes.Join(lines, []byte("\n")), '\n'))
}

// asked are the documents of a running daemon that a bundle includes.
var asked = []string{
	"status",
	"health",
	"strategies",
	"orders",
	"intents",
	"positions",
	"account",
	"risk",
	"risk/limits",
	"reconcile",
	"notices",
	"config",
	"audit",
	fmt.Sprintf("logs?limit=%d", supportLines),
}

// running adds a running daemon's answers.
func (b *Bundle) running(ctx context.Context, of doctor.Patient) {
	d, err := of.Daemon(ctx)
	if err != nil {
		b.gap("daemon", err)
		return
	}
	for _, path := range asked {
		name, _, _ := strings.Cut(strings.ReplaceAll(path, "/", "-"), "?")
		answer, err := d.Call(ctx, http.MethodGet, "/api/v1/"+path, nil)
		if err != nil {
			b.gap("daemon's "+path, err)
			continue
		}
		b.Add("daemon-"+name+".json", answer)
	}
	if text, status, err := d.Send(ctx, http.MethodGet, "/metrics", nil); err == nil && status == http.StatusOK {
		b.Add("daemon-metrics.txt", text)
	} else {
		b.gap("daemon's metrics", errors.Join(err, fmt.Errorf("status %d", status)))
	}
}

// Write creates the file, for its owner alone. It must not exist yet, and does not after an error, so that the same command can be repeated.
func (b *Bundle) Write(path string) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	return b.Pack(file)
}

func (b *Bundle) Pack(w io.Writer) error {
	packed := gzip.NewWriter(w)
	archive := tar.NewWriter(packed)
	for _, f := range b.Files {
		text := b.Redact(string(f.text))
		if err := archive.WriteHeader(&tar.Header{Name: "botd-support/" + f.name, Mode: 0o600, Size: int64(len(text)),
			ModTime: time.Now()}); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}
