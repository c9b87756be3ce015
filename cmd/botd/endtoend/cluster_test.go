package endtoend

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest/cluster"
)

// natsServerOfTest is a server in a separate process, which tests kill: ADDRESS DIRECTORY.
func natsServerOfTest() {
	if _, err := cluster.Serve(cluster.Access{Serve: os.Args[1], StoreDir: os.Args[2]}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

// sweepCluster is a folder with a strategy and candles, and the processes that work in it.
type sweepCluster struct {
	t       *testing.T
	folder  string
	address string
}

const clusterStrategy = `name: trend
strategy: sma_cross
market: futures
symbol: ETH-USDT
interval: 1h
leverage: 5
size: {equity: 50%}
params: {fast: 5, slow: 30}
`

// clusterSweep is a sweep of 19 x 56 = 1,064 trials: it does not end while a test does what it must do before.
var clusterSweep = []string{"sweep", "run", "-s", "trend.yaml", "--data", "candles.csv", "--vary", "fast=2..20..1", "--vary", "slow=25..80..1", "--split",
	"70%", "-o", "json"}

func newSweepCluster(t *testing.T) *sweepCluster {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c := &sweepCluster{t: t, folder: t.TempDir(), address: listener.Addr().String()}
	if err := os.WriteFile(filepath.Join(c.folder, "trend.yaml"), []byte(clusterStrategy), 0o600); err != nil {
		t.Fatal(err)
	}
	c.must("data", "generate", "--symbol", "ETH-USDT", "--interval", "1h", "--candles", "2000", "--out", "candles.csv")
	return c
}

// process is a process under test.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
	err            error
}

func (c *sweepCluster) start(name string, arguments ...string) *process {
	c.t.Helper()
	p := &process{Cmd: exec.Command(name, arguments...), ended: make(chan struct{})}
	p.Dir, p.Stdout, p.Stderr = c.folder, &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() { p.err = p.Wait(); close(p.ended) }()
	c.t.Cleanup(func() { _ = p.Process.Kill(); <-p.ended })
	return p
}

func (c *sweepCluster) server() *process {
	c.t.Helper()
	p := c.start("nats-server-of-test", c.address, filepath.Join(c.folder, "nats"))
	c.until("a server", func() bool {
		connection, err := net.Dial("tcp", c.address)
		if err == nil {
			connection.Close()
		}
		return err == nil
	})
	return p
}

func (c *sweepCluster) worker(number int) *process {
	return c.start("botd", "worker", "--on", "nats://"+c.address, "--slots", "1", "--cache", fmt.Sprint("cache", number))
}

func (c *sweepCluster) must(arguments ...string) string {
	c.t.Helper()
	p := c.start("botd", arguments...)
	<-p.ended
	if p.err != nil {
		c.t.Fatalf("botd %v: %v\n%s", arguments, p.err, &p.stderr)
	}
	return p.stdout.String()
}

// ends waits for a process.
func (c *sweepCluster) ends(p *process, what string) {
	c.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(3 * time.Minute):
		c.t.Fatalf("%s has not ended", what)
	}
}

// until waits for a condition of another process.
func (c *sweepCluster) until(what string, holds func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); {
		if time.Now().After(deadline) {
			c.t.Fatalf("there is not: %s", what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// rows counts the rows that the coordinator has stored.
func (c *sweepCluster) rows(name string) int {
	text, _ := os.ReadFile(filepath.Join(c.folder, "data", "sweeps", name, "trials.jsonl"))
	return bytes.Count(text, []byte("\n"))
}

func (c *sweepCluster) connect() (*nats.Conn, jetstream.JetStream) {
	c.t.Helper()
	connection, err := nats.Connect("nats://"+c.address, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(connection.Close)
	js, err := jetstream.New(connection)
	if err != nil {
		c.t.Fatal(err)
	}
	return connection, js
}

type sweepResult struct {
	SHA256 string `json:"sweep_sha256"`
	Trials []struct {
		Job string `json:"job_sha256"`
	} `json:"trials"`
}

func (c *sweepCluster) result(text string) (r sweepResult) {
	c.t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.SHA256 == "" {
		c.t.Fatalf("no sweep: %v\n%s", err, text)
	}
	return r
}

// sameRows expects the rows of the workers' sweep to equal those of one core, each of them once.
func (c *sweepCluster) sameRows(far *process, name string, local sweepResult) {
	c.t.Helper()
	if far.err != nil {
		c.t.Fatalf("the sweep failed: %v\n%s", far.err, &far.stderr)
	}
	if have := c.result(far.stdout.String()); have.SHA256 != local.SHA256 || len(have.Trials) != len(local.Trials) {
		c.t.Errorf("want the %d rows of one core, %s, have %d, %s", len(local.Trials), local.SHA256, len(have.Trials), have.SHA256)
	}
	text, err := os.ReadFile(filepath.Join(c.folder, "data", "sweeps", name, "trials.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	times := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var row struct {
			Job string `json:"job_sha256"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			c.t.Fatal(err)
		}
		times[row.Job]++
	}
	for _, one := range local.Trials {
		if times[one.Job] != 1 {
			c.t.Errorf("job %s: want one row, have %d", one.Job, times[one.Job])
		}
	}
}

// TestEveryTrialHasOneRowAfterFailures submits each job twice, kills workers with kill -9, stops one for longer
// than its messages wait for it, drains one, and kills the server. The rows equal those of one core.
func TestEveryTrialHasOneRowAfterFailures(t *testing.T) {
	t.Parallel()
	c := newSweepCluster(t)
	local := c.result(c.must(clusterSweep...))
	server := c.server()
	connection, js := c.connect()
	// Each submitted job is submitted once more.
	twice := map[string]bool{}
	if _, err := connection.Subscribe("botd.jobs.*.*", func(m *nats.Msg) {
		if key := string(m.Data); !twice[key] {
			twice[key] = true
			_, _ = js.Publish(context.Background(), m.Subject, m.Data)
		}
	}); err != nil {
		t.Fatal(err)
	}
	far := c.start("botd", append(clusterSweep, "--name", "far", "--on", "nats://"+c.address)...)
	killed, stopped, drained := c.worker(1), c.worker(2), c.worker(3)
	reach := func(rows int) {
		c.until(fmt.Sprint(rows, " rows"), func() bool { return c.rows("far") >= rows })
		if have := c.rows("far"); have == len(local.Trials) {
			t.Errorf("all %d rows are there already: what happens at %d comes too late", have, rows)
		}
	}
	reach(10)
	_ = killed.Process.Kill()
	reach(30)
	_ = stopped.Process.Signal(syscall.SIGSTOP)
	_ = drained.Process.Signal(syscall.SIGTERM)
	c.worker(4)
	c.ends(drained, "a worker at SIGTERM")
	if drained.err != nil || !strings.Contains(drained.stderr.String(), "ends:") {
		t.Errorf("a worker at SIGTERM: want a good end, have %v\n%s", drained.err, &drained.stderr)
	}
	reach(60)
	_ = server.Process.Kill()
	c.ends(server, "the server")
	c.server()
	reach(100)
	_ = c.worker(5).Process.Kill() // at its start
	c.worker(6)
	c.until("nearly all rows", func() bool { return c.rows("far") >= len(local.Trials)-20 })
	_ = stopped.Process.Signal(syscall.SIGCONT)
	c.ends(far, "the sweep")
	c.sameRows(far, "far", local)
	if !strings.Contains(far.stderr.String(), "trials were run by two workers, with the same rows") {
		t.Errorf("want trials that two workers ran, have\n%s", &far.stderr)
	}
}

// TestACoordinatorThatIsKilledIsResumed kills the process that embeds the server.
func TestACoordinatorThatIsKilledIsResumed(t *testing.T) {
	t.Parallel()
	c := newSweepCluster(t)
	local := c.result(c.must(clusterSweep...))
	far := c.start("botd", append(clusterSweep, "--name", "far", "--serve", c.address)...)
	c.until("a server", func() bool { conn, err := net.Dial("tcp", c.address); return err == nil && conn.Close() == nil })
	c.worker(1)
	idle := c.start("botd", "worker", "--on", "nats://"+c.address, "--slots", "2", "--cache", "cache2", "--idle", "8s")
	c.until("40 rows", func() bool { return c.rows("far") >= 40 })
	_ = far.Process.Kill()
	c.ends(far, "the sweep")
	again := c.start("botd", append(clusterSweep, "--name", "far", "--resume", "--serve", c.address)...)
	c.ends(again, "the resumed sweep")
	c.sameRows(again, "far", local)
	c.ends(idle, "a worker without work")
	if idle.err != nil || !strings.Contains(idle.stderr.String(), "nothing to do for 8s") {
		t.Errorf("a worker without work: want a good end, have %v\n%s", idle.err, &idle.stderr)
	}
}

// TestAWorkerOfAnotherProgramIsRefused also cancels a sweep that waits for workers, from elsewhere.
func TestAWorkerOfAnotherProgramIsRefused(t *testing.T) {
	t.Parallel()
	c := newSweepCluster(t)
	far := c.start("botd", append(clusterSweep, "--name", "far", "--serve", c.address)...)
	on := []string{"--on", "nats://" + c.address}
	listed := func() string {
		p := c.start("botd", append([]string{"sweep", "list"}, on...)...)
		<-p.ended
		return p.stdout.String()
	}
	c.until("a sweep", func() bool { return strings.Contains(listed(), "running") })
	self, err := exec.LookPath("botd")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(c.folder, "botd") // differs by one byte that nothing reads
	if err := os.WriteFile(other, append(text, 0), 0o700); err != nil {
		t.Fatal(err)
	}
	refused := c.start(other, append([]string{"worker", "--cache", "cache"}, on...)...)
	c.ends(refused, "a worker of another program")
	if code := refused.ProcessState.ExitCode(); code != 78 || !strings.Contains(refused.stderr.String(), "this worker is botd") {
		t.Errorf("a worker of another program: want 78 and why, have %d\n%s", code, &refused.stderr)
	}
	c.must(append([]string{"sweep", "cancel", "far"}, on...)...)
	c.ends(far, "a canceled sweep")
	if code := far.ProcessState.ExitCode(); code != 75 || !strings.Contains(far.stderr.String(), "the sweep far was canceled") {
		t.Errorf("a canceled sweep: want 75, have %d\n%s", code, &far.stderr)
	}
}

// TestTwoWorkersThatDifferStopTheSweep answers a trial's second run with another row. The worker that answers so is
// present before the other one starts: however fast that one is, the sweep waits for second runs.
func TestTwoWorkersThatDifferStopTheSweep(t *testing.T) {
	t.Parallel()
	c := newSweepCluster(t)
	c.server()
	far := c.start("botd", append(clusterSweep, "--name", "far", "--on", "nats://"+c.address)...)
	_, js := c.connect()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	liar := wrongWorker{js: js}
	c.until("a worker that gives wrong rows", func() bool { return liar.join(ctx) == nil })
	go func() {
		for ctx.Err() == nil {
			if liar.work(ctx) != nil {
				<-time.After(20 * time.Millisecond)
			}
		}
	}()
	c.worker(1)
	c.ends(far, "the sweep")
	errors := far.stderr.String()
	if code := far.ProcessState.ExitCode(); code != 70 || !strings.Contains(errors, `liar: {"params":{"fast":"1"}}`) || strings.Count(errors, `"params"`) != 2 {
		t.Errorf("want 70 and both rows, have %d\n%s", code, errors)
	}
	if list := c.must("sweep", "list", "--on", "nats://"+c.address); !strings.Contains(list, "failed") {
		t.Errorf("want a failed sweep, have\n%s", list)
	}
}

// wrongWorker takes only the second runs of trials, and answers them with rows of its own.
type wrongWorker struct {
	js      jetstream.JetStream
	program string
}

// join announces the worker for the program of the only sweep.
func (w *wrongWorker) join(ctx context.Context) error {
	sweeps, err := w.js.KeyValue(ctx, "botd_sweeps")
	if err != nil {
		return err
	}
	keys, err := sweeps.Keys(ctx)
	if err != nil {
		return err
	}
	entry, err := sweeps.Get(ctx, keys[0])
	if err != nil {
		return err
	}
	var sweep struct{ Program string }
	if err := json.Unmarshal(entry.Value(), &sweep); err != nil {
		return err
	}
	w.program = sweep.Program
	return w.beat(ctx)
}

// beat reports that the worker is alive.
func (w *wrongWorker) beat(ctx context.Context) error {
	workers, err := w.js.KeyValue(ctx, "botd_workers")
	if err == nil {
		_, err = workers.PutString(ctx, "liar", fmt.Sprintf(`{"id":"liar","program":%q,"slots":1}`, w.program))
	}
	return err
}

// work answers one message, or waits a second for it.
func (w *wrongWorker) work(ctx context.Context) error {
	if err := w.beat(ctx); err != nil {
		return err
	}
	consumer, err := w.js.Consumer(ctx, "botd_jobs", "workers-"+w.program[:16])
	if err != nil {
		return err
	}
	batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(time.Second))
	if err != nil {
		return err
	}
	for m := range batch.Messages() {
		var request struct {
			Sweep, Not string
			Jobs       []struct{ Job string }
		}
		if err := json.Unmarshal(m.Data(), &request); err != nil {
			return err
		}
		if request.Not == "" {
			if _, err := w.js.Publish(ctx, m.Subject(), m.Data()); err != nil { // not as a second delivery
				return err
			}
		} else {
			rows, err := w.js.KeyValue(ctx, "botd_rows")
			if err != nil {
				return err
			}
			key := request.Sweep + ".check." + request.Jobs[0].Job
			if _, err := rows.Create(ctx, key, []byte(`{"worker":"liar","trial":{"params":{"fast":"1"}}}`)); err != nil {
				return err
			}
		}
		if err := m.Ack(); err != nil {
			return err
		}
	}
	return batch.Error()
}

// TestClusterRequiresToken also encrypts the traffic, with certificates of both sides.
func TestClusterRequiresToken(t *testing.T) {
	t.Parallel()
	c := newSweepCluster(t)
	code := func(p *process) int { c.ends(p, "a refused command"); return p.ProcessState.ExitCode() }
	sweep := func(more ...string) []string { return append(append([]string{}, clusterSweep...), more...) }
	for _, refused := range []struct {
		code      int
		arguments []string
	}{
		{77, sweep("--serve", "0.0.0.0:0")},
		{77, sweep("--on", "nats://192.0.2.1:4222")},
		{77, []string{"worker", "--on", "nats://192.0.2.1:4222"}},
		{64, []string{"worker", "--on", "nats://me:secret@127.0.0.1:4222"}},
		{64, []string{"worker", "--on", "http://127.0.0.1:4222"}},
		{64, []string{"worker"}},
		{64, []string{"worker", "--on", "nats://" + c.address, "--slots", "0"}},
		{64, sweep("--on", "nats://"+c.address, "--serve", c.address)},
		{69, []string{"worker", "--on", "nats://" + c.address}},
	} {
		if p := c.start("botd", refused.arguments...); code(p) != refused.code {
			t.Errorf("botd %v: want %d, have %d\n%s", refused.arguments, refused.code, p.ProcessState.ExitCode(), &p.stderr)
		}
	}
	certificate(t, c.folder)
	secured := []string{"--tls-ca", "cert.pem", "--tls-cert", "cert.pem", "--tls-key", "key.pem"}
	withToken := func(token string, arguments ...string) *process {
		p := &process{Cmd: exec.Command("botd", arguments...), ended: make(chan struct{})}
		p.Dir, p.Stdout, p.Stderr, p.Env = c.folder, &p.stdout, &p.stderr, append(os.Environ(), "BOTD_NATS_TOKEN="+token)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { p.err = p.Wait(); close(p.ended) }()
		t.Cleanup(func() { _ = p.Process.Kill(); <-p.ended })
		return p
	}
	far := withToken("right", append(sweep("--name", "far", "--serve", c.address), secured...)...)
	c.until("a server", func() bool { conn, err := net.Dial("tcp", c.address); return err == nil && conn.Close() == nil })
	worker := []string{"worker", "--cache", "cache", "--on", "tls://" + c.address}
	if p := withToken("wrong", append(worker, secured...)...); code(p) != 77 {
		t.Errorf("a wrong token: want 77, have %d\n%s", p.ProcessState.ExitCode(), &p.stderr)
	}
	if p := withToken("right", append(worker, "--tls-ca", "cert.pem")...); code(p) == 0 {
		t.Errorf("without a certificate: want a refusal\n%s", &p.stderr)
	}
	good := withToken("right", append(worker, secured...)...)
	c.ends(far, "the sweep")
	c.sameRows(far, "far", c.result(c.must(clusterSweep...)))
	if text := far.stderr.String() + good.stderr.String(); strings.Contains(text, "right") {
		t.Errorf("the token is shown:\n%s", text)
	}
}

// certificate writes cert.pem and key.pem for 127.0.0.1, self-signed.
func certificate(t *testing.T, folder string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
