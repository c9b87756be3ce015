package crash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"botd/exchange"
	"botd/internal/chaos/crash"
	"botd/reconcile/record"
	"botd/runtime"
)

// printedVenue prints the requests that reach the exchange, so that the parent sees how far the process came.
type printedVenue struct{}

func (printedVenue) Do(context.Context, exchange.Request) (exchange.Answer, error) {
	fmt.Println("called")
	return exchange.Answer{}, nil
}

func (v printedVenue) DoBefore(ctx context.Context, request exchange.Request, _ exchange.SendLimit) (exchange.Answer, error) {
	return v.Do(ctx, request)
}

type printedJournal struct{ runtime.ReservingJournal }

func (printedJournal) Append(context.Context, []record.Record) error {
	fmt.Println("written")
	return nil
}

// TestTheProcessEndsAtThePoint runs this test again as a process for each point. The
// process appends twice and calls twice.
func TestTheProcessEndsAtThePoint(t *testing.T) {
	if os.Getenv("CRASH_CHILD") != "" {
		journal, venue := crash.Journal(printedJournal{}), crash.Venue(printedVenue{})
		for range 2 {
			_ = journal.Append(t.Context(), []record.Record{{Body: record.Boot{Epoch: 1}}})
			_, _ = venue.Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace})
		}
		fmt.Println("done")
		return
	}
	t.Parallel()
	for point, want := range map[string]string{
		"before journal boot 1":       "",
		"after journal boot 1":        "written",
		"before call futures_place 1": "written",
		"after call futures_place 1":  "written called",
		"before journal boot 2":       "written called",
		"after call futures_place 2":  "written called written called",
		"after call futures_place 3":  "written called written called done",
		"":                            "written called written called done",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			command := exec.Command(os.Args[0], "-test.run=^TestTheProcessEndsAtThePoint$")
			command.Env = append(os.Environ(), "CRASH_CHILD=1", crash.Variable+"="+point)
			output, err := command.Output()
			var exit *exec.ExitError
			killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
			have, _, _ := strings.Cut(strings.Join(strings.Fields(string(output)), " "), " PASS")
			if have != want || killed == strings.HasSuffix(want, "done") {
				t.Errorf("want %q, have %q, killed %t (%v)", want, have, killed, err)
			}
		})
	}
}
