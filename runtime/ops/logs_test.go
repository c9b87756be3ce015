package ops

import (
	"fmt"
	"runtime"
	"testing"
)

// mostLineBytes is the maximum memory of a stored line, for the lines of a busy account.
const mostLineBytes = 500

func TestStoredLinesAreSmall(t *testing.T) {
	logs := NewLogs()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range maxLogLines {
		line := `{"level":"info","time":"2026-11-23T12:26:51.028Z","event":"position.changed","strategy":"solspot","market":"spot",` +
			`"symbol":"SOL-USDT","client_order_id":"main-%d","msg":"position  solspot SOL-USDT flat"}`
		if _, err := fmt.Fprintf(logs, line, i); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(logs)
	have := int64(after.HeapAlloc-before.HeapAlloc) / maxLogLines
	t.Logf("%d bytes a line", have)
	if have > mostLineBytes {
		t.Errorf("want at most %d bytes a line, have %d", mostLineBytes, have)
	}
}
