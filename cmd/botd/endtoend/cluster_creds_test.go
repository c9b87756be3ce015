package endtoend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// issuer is a signing key with its self-signed claim.
type issuer struct {
	key  nkeys.KeyPair
	name string
}

func newIssuer(t *testing.T, create func() (nkeys.KeyPair, error)) issuer {
	t.Helper()
	key, err := create()
	if err != nil {
		t.Fatal(err)
	}
	name, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return issuer{key, name}
}

// creds writes a credentials file for a new user of an account, as nsc does.
func creds(t *testing.T, account issuer, path string) {
	t.Helper()
	user := newIssuer(t, nkeys.CreateUser)
	token, err := jwt.NewUserClaims(user.name).Encode(account.key)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// operated is a server in operator mode with one account, which has JetStream.
func operated(t *testing.T, directory string) (address string, account issuer) {
	t.Helper()
	operator := newIssuer(t, nkeys.CreateOperator)
	account = newIssuer(t, nkeys.CreateAccount)
	system := newIssuer(t, nkeys.CreateAccount)
	resolver := &server.MemAccResolver{}
	for _, one := range []struct {
		issuer
		stored bool
	}{{account, true}, {system, false}} {
		claims := jwt.NewAccountClaims(one.name)
		if one.stored {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit,
				Consumer: jwt.NoLimit}
		}
		token, err := claims.Encode(operator.key)
		if err == nil {
			err = resolver.Store(one.name, token)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: directory, SyncAlways: true,
		TrustedKeys: []string{operator.name}, SystemAccount: system.name, AccountResolver: resolver, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	return s.Addr().String(), account
}

// TestSweepUsesCredentialsOfServer has coordinator, worker and list use a user's credentials on a server in operator mode,
// which accepts nobody else: not without them, not of another account, and not with a token.
func TestSweepUsesCredentialsOfServer(t *testing.T) {
	t.Parallel()
	c := newSweepCluster(t)
	address, account := operated(t, filepath.Join(c.folder, "nats"))
	c.address = address
	creds(t, account, filepath.Join(c.folder, "user.creds"))
	creds(t, newIssuer(t, nkeys.CreateAccount), filepath.Join(c.folder, "foreign.creds"))
	on := []string{"--on", "nats://" + address}
	for _, refused := range [][]string{{}, {"--creds", "foreign.creds"}} {
		p := c.start("botd", append(append([]string{"worker", "--cache", "cache"}, on...), refused...)...)
		c.ends(p, "a refused worker")
		if code := p.ProcessState.ExitCode(); code != 77 {
			t.Errorf("%v: want 77, have %d\n%s", refused, code, &p.stderr)
		}
	}
	p := c.start("botd", append([]string{"worker", "--cache", "cache", "--creds", "missing.creds"}, on...)...)
	if c.ends(p, "a worker without its file"); p.ProcessState.ExitCode() == 0 || !strings.Contains(p.stderr.String(), "missing.creds") {
		t.Errorf("want the file that is missing, have %d\n%s", p.ProcessState.ExitCode(), &p.stderr)
	}
	on = append(on, "--creds", "user.creds")
	short := []string{"sweep", "run", "-s", "trend.yaml", "--data", "candles.csv", "--vary", "fast=2..10..1", "--vary", "slow=25,40", "-o", "json"}
	far := c.start("botd", append(append(short, "--name", "far"), on...)...)
	c.start("botd", append([]string{"worker", "--slots", "1", "--cache", "cache"}, on...)...)
	c.ends(far, "the sweep")
	c.sameRows(far, "far", c.result(c.must(short...)))
	if list := c.must(append([]string{"sweep", "list"}, on...)...); !strings.Contains(list, "done") {
		t.Errorf("want a sweep that is done, have\n%s", list)
	}
}
