package support

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/configs"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime/api/client"
	"botd/runtime/doctor"
	"botd/strategy"
	"botd/strategy/library"
)

// secrets are the content of every file of a configuration that holds one.
var secrets = map[string]string{
	"key": "canaryEXCHANGEkey", "secret": "canaryEXCHANGEsecret", "journal-key": "canaryJOURNAL0123456789abcdef0123", "signal": "canarySIGNAL0123456789abcdef",
	"telegram": "123456789:canaryTELEGRAM0123456789abcdefghijk", "metrics": "canaryMETRICS0123456789", "heartbeat": "https://hc.example/canaryHEARTBEAT/ab",
	"channel": "ntfy://canaryUSER:canaryPASSWORD@ntfy.example/canaryTOPIC",
}

// canaries are the parts of them that nobody else may see.
func canaries() (all []string) {
	for _, text := range secrets {
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(":/@", r) }) {
			if strings.HasPrefix(part, "canary") {
				all = append(all, part)
			}
		}
	}
	return all
}

// patient writes a configuration with every secret, and a journal and tokens in its data directory.
func patient(t *testing.T) (of doctor.Patient, data string) {
	t.Helper()
	directory := t.TempDir()
	data = filepath.Join(directory, "data")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range secrets {
		write("secrets/"+name, text+"\n")
	}
	write("data/live/token", "canaryOPERATOR\n")
	write("data/demo/token-viewer", "canaryOPERATORtwo\n") // one is a part of the other
	at := func(name string) string { return filepath.Join(directory, "secrets", name) }
	write("configs/botd.yaml", "mode: live\nlisten: off\ndata_dir: "+data+"\njournal_key_file: "+at("journal-key")+
		"\nexchange: {base_url: 'http://127.0.0.1:1', key_file: "+at("key")+", secret_file: "+at("secret")+
		"}\nsignals: {listen: 127.0.0.1:0, token_file: "+at("signal")+"}\ntelegram: {token_file: "+at("telegram")+", operators: [1]}"+
		"\nmetrics: {listen: 127.0.0.1:0, token_file: "+at("metrics")+"}\nheartbeat: {url_file: "+at("heartbeat")+", every: 1m}"+
		"\nnotify: {channels: {desk: {url_file: "+at("channel")+"}}}\n")
	write("configs/strategies/one.yaml", "name: one\nstrategy: buy_and_hold\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\n")
	return doctor.Patient{Load: func() (*configs.Config, configs.Problems, error) {
		config, problems := configs.LoadDirectory(filepath.Join(directory, "configs"), configs.Options{Registry: strategy.NewRegistry(library.All()...)})
		return config, problems, nil
	}, Daemon: func(context.Context) (*client.Daemon, error) { return nil, errors.New("it does not run\nstart it") }}, data
}

// unpacked are the files of a bundle.
func unpacked(t *testing.T, packed io.Reader) map[string]string {
	t.Helper()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil || header.Mode != 0o600 {
			t.Errorf("%s: want it for its owner alone, have %o, %v", header.Name, header.Mode, err)
		}
		files[strings.TrimPrefix(header.Name, "botd-support/")] = string(text)
	}
}

// stores opens a journal of a mode, with the records given.
func stores(t *testing.T, data, mode string, secret string, records ...record.Record) {
	t.Helper()
	var key *journal.Key
	if secret != "" {
		key = journal.NewKey([]byte(secret))
	}
	store, err := journal.Open(t.Context(), filepath.Join(data, mode, journal.FileName), journal.Binding{Mode: mode}, journal.Options{Key: key,
		BeginKey: key != nil})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(store.Append(t.Context(), records), store.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestABundleHasNoSecret covers a person who wrote every secret into the reason of a halt, and a daemon that repeats them.
func TestABundleHasNoSecret(t *testing.T) {
	t.Parallel()
	of, data := patient(t)
	everything := strings.Join(canaries(), " ") + " canaryOPERATOR canaryOPERATORtwo"
	stores(t, data, "live", secrets["journal-key"], record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}}, record.Record{AtMS: 2,
		Body: record.Halt{Reason: "why: " + everything}})
	asked := []string{}
	daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, strings.TrimPrefix(r.URL.RequestURI(), "/api/v1/"))
		if r.URL.Path == "/api/v1/orders" {
			http.Error(w, `{"error":{"code":"internal","message":"no orders: `+everything+`"}}`, http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, `{"items":[%q]}`, everything)
	}))
	defer daemon.Close()
	of.Daemon = func(ctx context.Context) (*client.Daemon, error) {
		token := filepath.Join(data, "live", "token")
		return client.Search{Address: daemon.URL, TokenFile: token}.Find(ctx)
	}
	b := Collect(t.Context(), of, data)
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if err := b.Write(path); err != nil {
		t.Fatal(err)
	}
	if about, err := os.Stat(path); err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("want the bundle for its owner alone, have %v, %v", about.Mode(), err)
	}
	if err := b.Write(path); err == nil || !strings.Contains(err.Error(), "write the bundle") {
		t.Errorf("want no file written over, have %v", err)
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, bytes.NewReader(packed))
	for name, text := range files {
		if at := strings.Index(text, "canary"); at >= 0 {
			t.Errorf("%s: want no secret, have %.60s", name, text[at:])
		}
	}
	if have := strings.Join(b.Gaps, "\n"); strings.Contains(have, "canary") || !strings.Contains(have, "daemon's orders: ") {
		t.Errorf("want the failed document reported without a secret, have %s", have)
	}
	if !strings.Contains(files["journal-live.jsonl"], "why: [redacted]") || !strings.Contains(files["daemon-status.json"], "[redacted]") || b.Redacted < 10 {
		t.Errorf("want each secret marked, have %d: %s", b.Redacted, files["journal-live.jsonl"])
	}
	want := "account audit config health intents logs?limit=1000 notices orders positions reconcile risk risk/limits status strategies /metrics"
	slices.Sort(asked[:len(asked)-1])
	if have := strings.Join(slices.Compact(asked), " "); have != want { // doctor reads two of them, too
		t.Errorf("want the documents %s, have %s", want, have)
	}
	for _, name := range []string{"version.json", "machine.json", "doctor.json", "check.json", "config.yaml", "journal-live.json", "daemon-risk-limits.json",
		"daemon-logs.json", "daemon-metrics.txt"} {
		if files[name] == "" {
			t.Errorf("want %s, have %d files", name, len(files))
		}
	}
}

// TestWhatIsMissingIsReported uses a machine on which nothing works.
func TestWhatIsMissingIsReported(t *testing.T) {
	t.Parallel()
	of, data := patient(t)
	path := filepath.Join(data, "paper", journal.FileName)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("no database"), 0o600)); err != nil {
		t.Fatal(err)
	}
	b := Collect(t.Context(), of, data)
	have := strings.Join(b.Gaps, "\n")
	if len(b.Gaps) != 2 || !strings.HasPrefix(b.Gaps[0], "journal of paper: ") || b.Gaps[1] != "daemon: it does not run" {
		t.Errorf("want the journal of paper and the daemon, each in a line, have %q", have)
	}
	of.Load = func() (*configs.Config, configs.Problems, error) { return nil, nil, errors.New("no such directory") }
	b = Collect(t.Context(), of, data)
	if len(b.Files) != 2 || len(b.Gaps) != 1 || b.Gaps[0] != "configuration: no such directory" {
		t.Errorf("want version and machine, and the configuration missing; have %d and %q", len(b.Files), b.Gaps)
	}
}

// TestAnInvalidConfigurationDoesNotPreventTheRest covers a configuration that cannot be used, and the tokens of the data directory.
func TestAnInvalidConfigurationDoesNotPreventTheRest(t *testing.T) {
	t.Parallel()
	of, data := patient(t)
	stores(t, data, "demo", "", record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}}, record.Record{AtMS: 2,
		Body: record.Halt{Reason: "canaryOPERATOR canaryOPERATORtwo"}})
	of.Load = func() (*configs.Config, configs.Problems, error) {
		return nil, configs.Problems{{What: "mode is wrong"}}, nil
	}
	var packed bytes.Buffer
	if err := Collect(t.Context(), of, data).Pack(&packed); err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, &packed)
	if !strings.Contains(files["check.json"], "mode is wrong") || !strings.Contains(files["journal-demo.jsonl"],
		`"[redacted] [redacted]"`) || files["config.yaml"] != "" {
		t.Errorf("want the problem and the journal, have %v", files)
	}
}

// TestABundleHasTheNewestRecords writes two records more than a bundle contains.
func TestABundleHasTheNewestRecords(t *testing.T) {
	t.Parallel()
	_, data := patient(t)
	records := []record.Record{}
	for n := range int64(1_002) {
		records = append(records, record.Record{AtMS: n + 1, Body: record.Boot{Epoch: n + 1}})
	}
	stores(t, data, "demo", "", records...)
	b := &Bundle{}
	b.journal(t.Context(), nil, "demo", filepath.Join(data, "demo", journal.FileName))
	b.journal(t.Context(), nil, "paper", filepath.Join(data, "paper", journal.FileName)) // there is none
	var packed bytes.Buffer
	if err := b.Pack(&packed); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(unpacked(t, &packed)["journal-demo.jsonl"], "\n"), "\n")
	if len(lines) != 1_000 || !strings.Contains(lines[0], `"epoch":3`) || !strings.Contains(lines[999], `"epoch":1002`) || len(b.Gaps) > 0 {
		t.Errorf("want 1,000 lines from epoch 3 to 1002, have %d from %s; %v", len(lines), lines[0], b.Gaps)
	}
}

// TestTheFormsOfASecret covers a secret with characters that JSON and addresses escape.
func TestTheFormsOfASecret(t *testing.T) {
	t.Parallel()
	have := Encodings(`a"b/c`)
	want := []string{`a"b/c`, `a\"b/c`, "a%22b%2Fc", "6122622f63", "YSJiL2M=", "YSJiL2M"}
	if !slices.Equal(have, want) {
		t.Errorf("want %q, have %q", want, have)
	}
	if have := Encodings(""); len(have) != 0 {
		t.Errorf("of nothing: want none, have %q", have)
	}
	b := &Bundle{Secrets: []string{"longer-secret", "secret"}}
	if have := b.Redact("a longer-secret, a secret and a secret"); have != "a [redacted], a [redacted] and a [redacted]" || b.Redacted != 3 {
		t.Errorf("want three removed, have %q, %d", have, b.Redacted)
	}
}

// TestThePasswordOfAJournalIsASecret has journals in a file, in a database, and at an address that is none.
func TestThePasswordOfAJournalIsASecret(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"": "[]", "postgres://botd:canaryDATABASE@127.0.0.1/botd": "[canaryDATABASE]",
		"postgres://botd@127.0.0.1/botd": "[]", "postgres://127.0.0.1/botd": "[]", "%zz": "[]"} {
		secrets := slices.DeleteFunc(configuredSecrets(&configs.Config{Journal: address}), func(secret string) bool { return secret == "" })
		if have := fmt.Sprint(secrets); have != want {
			t.Errorf("%q: want %s, have %s", address, want, have)
		}
	}
}

// TestMetricsThatAreRefusedAreReported uses a daemon that answers everything else.
func TestMetricsThatAreRefusedAreReported(t *testing.T) {
	t.Parallel()
	daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprint(w, "{}")
	}))
	defer daemon.Close()
	_, data := patient(t)
	b := &Bundle{}
	b.running(t.Context(), doctor.Patient{Daemon: func(ctx context.Context) (*client.Daemon, error) {
		return client.Search{Address: daemon.URL, TokenFile: filepath.Join(data, "live", "token")}.Find(ctx)
	}})
	if len(b.Files) != len(asked) || len(b.Gaps) != 1 || b.Gaps[0] != "daemon's metrics: status 403" {
		t.Errorf("want %d documents and the metrics missing, have %d, %q", len(asked), len(b.Files), b.Gaps)
	}
}

// full is a disk with room for so many bytes.
type full int

func (f *full) Write(text []byte) (int, error) {
	if *f -= full(len(text)); *f < 0 {
		return 0, errors.New("no space")
	}
	return len(text), nil
}

// TestABundleThatDoesNotFitIsAnError uses a disk that is full at each point.
func TestABundleThatDoesNotFitIsAnError(t *testing.T) {
	t.Parallel()
	b := &Bundle{}
	noise := make([]byte, 200_000) // more than the compressor holds back
	for i := range noise {
		noise[i] = byte(i * i * 7919 >> 8)
	}
	b.Add("a", noise)
	b.Add("b", noise)
	var packed bytes.Buffer
	if err := b.Pack(&packed); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 100, packed.Len() / 2, packed.Len() - 1} {
		disk := full(room)
		if err := b.Pack(&disk); err == nil {
			t.Errorf("%d bytes of %d: want an error", room, packed.Len())
		}
	}
}
