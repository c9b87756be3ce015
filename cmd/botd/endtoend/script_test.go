package endtoend

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"botd/cmd/botd/cli"
	"botd/internal/startclock"
)

// reserved has the numbers of the ports that this process has assigned: each is a UDP socket with the same
// number.
var reserved struct {
	sync.Mutex
	sockets []net.PacketConn
}

// freeAddress returns an address on which nobody listens, below the ports that systems assign to outgoing
// connections. No other test gets it, in this process or in a concurrent one: its program may start to listen
// only seconds later.
func freeAddress() (string, error) {
	var err error
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		var socket net.PacketConn
		if socket, err = net.ListenPacket("udp", address); err != nil {
			continue
		}
		var listener net.Listener
		if listener, err = net.Listen("tcp", address); err != nil {
			_ = socket.Close()
			continue
		}
		reserved.Lock()
		reserved.sockets = append(reserved.sockets, socket)
		reserved.Unlock()
		return address, listener.Close()
	}
	return "", err
}

// listening waits until a program started by a script listens on an address.
func listening(script *testscript.TestScript, _ bool, addresses []string) {
	late, again := time.After(30*time.Second), time.NewTicker(10*time.Millisecond)
	defer again.Stop()
	for _, address := range addresses {
		for {
			connection, err := net.Dial("tcp", address)
			if err == nil {
				connection.Close()
				break
			}
			select {
			case <-again.C:
			case <-late:
				script.Fatalf("nobody listens on %s: %v", address, err)
			}
		}
	}
}

// atOnce is the number of concurrent tests, unless -parallel sets it: nearly all of them wait for programs
// that they started.
const atOnce = "8"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	testscript.Main(tidied{m}, map[string]func(){"botd": func() {
		os.Args = append(os.Args[:1], startclock.Arguments(os.Args[1:])...)
		cli.Main()
	}, "botd-with-hang": func() {
		os.Args = append(os.Args[:1], startclock.Arguments(os.Args[1:])...)
		cli.Main(hangDefinition())
	}, "nats-server-of-test": natsServerOfTest})
}

// tidied runs the tests and removes the binary.
type tidied struct{ *testing.M }

// Run runs them.
func (t tidied) Run() int {
	defer os.RemoveAll(builds)
	return t.M.Run()
}

// TestScripts drives the real binary as a person does.
func TestScripts(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs("../../../../shared")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("SHARED", shared)
			env.Setenv(startclock.Variable, startclock.Text())
			env.Setenv("BOTD_CACHE", filepath.Join(env.WorkDir, ".cache"))
			address, err := freeAddress()
			env.Setenv("ADDRESS", address)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"listening": listening,
			"journal":   written,
			"alter":     altered,
			"rewrite":   rewritten,
			"hook":      hook,
			"address":   address,
			"connected": connected,
			"logged":    loggedWithin,
			"post":      posted,
			"asked":     askedUntil,
			"expand":    expand,

			"same-sweep": sameSweep,
			"cut-rows":   cutRows,
		},
		Condition: func(condition string) (bool, error) {
			switch condition {
			case "shared":
				_, err := os.Stat(shared)
				return err == nil, nil
			}
			return false, fmt.Errorf("no condition %q", condition)
		},
		RequireUniqueNames: true,
	})
}
