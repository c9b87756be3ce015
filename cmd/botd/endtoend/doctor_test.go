package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/runtime/doctor"
)

// diagnose writes a demo's configuration, breaks something, and runs botd doctor.
func diagnose(t *testing.T, listen string, spoil func(directory string) error) doctor.Diagnosis {
	t.Helper()
	directory := t.TempDir()
	data := filepath.Join(directory, "data")
	text := fmt.Sprintf("mode: demo\nlisten: %s\ndata_dir: %s\n", listen, data)
	if err := os.WriteFile(filepath.Join(directory, "botd.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := spoil(data); err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	execute([]string{"doctor", "-c", directory, "-o", "json"}, &out, &log)
	var d doctor.Diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), log.String())
	}
	return d
}

func TestEveryFailureOfDoctorHasARemedy(t *testing.T) {
	t.Parallel()
	another := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintln(w, `{"mode":"demo"}`)
	}))
	t.Cleanup(another.Close)
	for _, c := range []struct {
		name, listen  string
		spoil         func(data string) error
		check, remedy string
	}{
		{"a journal that is none", "off", func(data string) error {
			if err := os.MkdirAll(filepath.Join(data, "demo"), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(data, "demo", "journal.db"), bytes.Repeat([]byte("torn "), 1000), 0o600)
		}, "journal", "botd restore"},
		{"a file where the data belong", "off", func(data string) error { return os.WriteFile(data, nil, 0o600) }, "journal", "data_dir"},
		{"a file where the data belong, as the disk sees it", "off", func(data string) error { return os.WriteFile(data, nil, 0o600) }, "disk", "data_dir"},
		{"another botd at the address", another.Listener.Addr().String(), func(string) error { return nil }, "daemon", "listen"},
	} {
		d := diagnose(t, c.listen, c.spoil)
		found := false
		for _, f := range d.Findings {
			if f.State != doctor.StateOK && f.Remedy == "" {
				t.Errorf("%s: %s: %q has no remedy", c.name, f.Check, f.What)
			}
			found = found || f.Check == c.check && f.State == doctor.StateFail && strings.Contains(f.Remedy, c.remedy)
		}
		if !found || d.OK {
			t.Errorf("%s: want a failure of %s whose remedy contains %q, have %+v", c.name, c.check, c.remedy, d.Findings)
		}
	}
}

// TestDoctorReportsProfileAndUnmeasuredBounds examines a live configuration whose probe saw
// futures only.
func TestDoctorReportsProfileAndUnmeasuredBounds(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, filepath.Join(directory, "botd.yaml"), fmt.Sprintf("mode: live\nlisten: off\ndata_dir: %s\nexchange:\n  base_url: http://127.0.0.1:1\n"+
		"  key_file: %[1]s/key\n  secret_file: %[1]s/secret\n  profile:\n    null_lists: empty\n    client_order_id: "+
		"{futures_open: absent, spot_open: echoed}\n  settle: {futures: {window: 5s, visibility: 1s, staleness: 2s, measured: 2026-11-22}}\n",
		filepath.Join(directory, "data")))
	for _, market := range []string{"futures", "spot"} {
		write(t, filepath.Join(directory, "strategies", market+".yaml"), fmt.Sprintf("name: %[1]s\nstrategy: buy_and_hold\nmarket: %[1]s\nsymbol: BTC-USDT\n"+
			"interval: 1m\n", market))
	}
	var out, log bytes.Buffer
	execute([]string{"doctor", "-c", directory, "-o", "json"}, &out, &log)
	var d doctor.Diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), log.String())
	}
	for _, want := range []struct{ state, what string }{
		{doctor.StateOK, "null for a list: empty"}, {doctor.StateOK, "futures_open: client order ids absent"},
		{doctor.StateOK, "futures: measured on 2026-11-22; spot: not measured"},
		{doctor.StateFail, "exchange.settle of spot are neither measured nor set in the configuration"},
		{doctor.StateWarn, "take on spot"}, {doctor.StateWarn, "client_order_id.futures_order:"}, {doctor.StateWarn, "client_order_id.spot_history:"},
	} {
		found := false
		for _, f := range d.Findings {
			remedied := f.State == doctor.StateOK || f.Remedy != ""
			found = found || f.Check == "profile" && f.State == want.state && strings.Contains(f.What, want.what) && remedied
		}
		if !found {
			t.Errorf("want %s: %q, have %+v", want.state, want.what, d.Findings)
		}
	}
}
