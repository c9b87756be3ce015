package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The constants name the environment variables of the kill test: the first makes this binary an exchange, the
// second sets how often it is killed.
const (
	childVariable = "BOTD_TEST_EXCHANGE_STATE"
	killsVariable = "BOTD_TEST_KILLS"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		if err := serveChild(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// serveChild serves until it is killed. Its state file is rewritten every few changes, so that a
// kill also hits that.
func serveChild(path string) error {
	s, err := New(Config{Build: buildStill, StatePath: path, Control: true, Accounts: []Account{{Key: testKey, Secret: testSecret}}})
	if err != nil {
		return err
	}
	s.state.minRewrite = 2_000
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return s.Serve(context.Background(), listener)
}

// startChild starts an exchange in its own process.
func startChild(t *testing.T, path string) (*trader, *exec.Cmd) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+path)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(client.CloseIdleConnections)
	return &trader{t, client, "http://" + strings.TrimSpace(address), testKey, testSecret, func() int64 { return time.Now().UnixMilli() }}, command
}

// TestAcknowledgedOrdersSurviveKill kills a real exchange again and again while several callers place orders.
// Each acknowledged order must exist afterwards.
func TestAcknowledgedOrdersSurviveKill(t *testing.T) {
	t.Parallel()
	kills := 5
	if text := os.Getenv(killsVariable); text != "" {
		kills, _ = strconv.Atoi(text)
	}
	path := filepath.Join(t.TempDir(), "state")
	var mu sync.Mutex
	answered := map[int64]string{} // client order ids by order id
	for kill := range kills {
		c, child := startChild(t, path)
		checkAnswered(t, c, answered)
		var group sync.WaitGroup
		for caller := range 3 {
			group.Go(func() {
				for i := 0; ; i++ {
					name := fmt.Sprintf("%d-%d-%d", kill, caller, i)
					a := c.call("POST", "/fhapi/v1/order", `{"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","qt":"0.001",`+
						`"price":"40000","client_order_id":"`+name+`"}`)
					if a.err != nil {
						return // the kill
					}
					var placed struct{ ID int64 }
					if err := json.Unmarshal([]byte(a.body), &placed); a.status != 201 || err != nil {
						t.Errorf("want an order, have %d %s %v", a.status, a.body, err)
						return
					}
					mu.Lock()
					answered[placed.ID] = name
					enough := len(answered) > (kill+1)*40+kill*7
					mu.Unlock()
					if enough {
						_ = child.Process.Kill()
					}
					if i%2 == 0 {
						c.call("POST", "/fhapi/v1/order/cancel", fmt.Sprintf(`{"id":%d}`, placed.ID))
					}
				}
			})
		}
		group.Wait()
		_ = child.Wait() // it was killed
	}
	c, _ := startChild(t, path)
	checkAnswered(t, c, answered)
	t.Logf("%d acknowledged orders after %d kills", len(answered), kills)
}

func checkAnswered(t *testing.T, c *trader, answered map[int64]string) {
	t.Helper()
	known := map[int64]string{}
	for _, order := range c.state().Orders {
		if known[order.ID] != "" {
			t.Errorf("order %d is there twice", order.ID)
		}
		known[order.ID] = order.ClientOrderID
	}
	for id, name := range answered {
		if known[id] != name {
			t.Errorf("order %d: want %q, have %q", id, name, known[id])
		}
	}
}
