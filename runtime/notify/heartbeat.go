package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Heartbeat sends requests to an address at intervals while botd works. The service behind it raises the
// alarm when the requests stop: no program on this machine can report that the machine is down.
type Heartbeat struct {
	URL   string
	Every time.Duration
	Fault func() string            // why botd does not work, so that nothing is sent; empty while it works
	Count func(result string)      // sent, failed, withheld
	Log   func(event, text string) // when requests begin to fail or to be withheld, and when they work again

	Transport http.RoundTripper // nil: the system's network
}

// Withheld is a result of a heartbeat, in addition to Sent and Failed.
const Withheld = "withheld" // botd does not work as it should

const (
	beatWithin       = 10 * time.Second // one request
	failuresReported = 3                // failures in a row before a line is logged
)

// Run sends until the context ends.
func (h *Heartbeat) Run(ctx context.Context) {
	client := &http.Client{Timeout: beatWithin, Transport: h.Transport}
	ticker := time.NewTicker(h.Every)
	defer ticker.Stop()
	fault := ""
	for missed := 0; ; {
		before := fault
		if fault = h.Fault(); fault != "" && before == "" {
			h.Log("heartbeat.withheld", "none is sent: "+fault)
		} else if fault == "" && before != "" {
			h.Log("heartbeat.works", "it is sent again")
		}
		var err error
		if fault == "" {
			err = h.beat(ctx, client)
		}
		switch {
		case ctx.Err() != nil:
			return
		case fault != "":
			h.Count(Withheld)
		case err != nil:
			h.Count(Failed)
			if missed++; missed == failuresReported {
				h.Log("heartbeat.failed", fmt.Sprintf("%d requests in a row failed, the newest: %v", missed, err))
			}
		default:
			h.Count(Sent)
			if missed >= failuresReported {
				h.Log("heartbeat.works", "the service answers again")
			}
			missed = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// beat sends one request. Its address is a secret that no error repeats.
func (h *Heartbeat) beat(ctx context.Context, client *http.Client) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL, nil)
	if err != nil {
		return errors.New("its address is invalid")
	}
	response, err := client.Do(request)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		return (&service{secrets: SecretParts(h.URL)}).hide(failed.Err)
	}
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("it answers with status %d", response.StatusCode)
	}
	return nil
}
