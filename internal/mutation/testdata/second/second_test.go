package second

import (
	"os/exec"
	"testing"
)

func TestHalf(t *testing.T) {
	t.Parallel()
	if have := Half(6); have != 3 {
		t.Errorf("want 3, have %d", have)
	}
}

// The program that it starts needs more than five seconds of processor time.
func TestOfAProgram(t *testing.T) {
	t.Parallel()
	command := exec.Command("sh", "-c", `limit=$(ulimit -t); [ "$limit" = unlimited ] || [ "$limit" -gt 5 ]`)
	if output, err := command.CombinedOutput(); err != nil || Half(6) != 3 {
		t.Errorf("%v: %s", err, output)
	}
}
