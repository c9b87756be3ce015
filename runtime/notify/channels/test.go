package channels

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"botd/configs"
	"botd/runtime/api"
	"botd/runtime/notify"
)

// testWithin limits the time for one test message.
const testWithin = 20 * time.Second

// Test sends a test message through every channel at once, and waits for each.
func Test(ctx context.Context, config *configs.Config, open []Channel) []api.ChannelResult {
	host, _ := os.Hostname() // without a host name the message is still sent
	subject := Title(config) + ": test message"
	text := fmt.Sprintf("%s\ntest message from %s at %s: this channel works", Title(config), host, time.Now().UTC().Format(time.DateTime+" UTC"))
	all := make([]api.ChannelResult, len(open))
	var group sync.WaitGroup
	for i := range open {
		group.Go(func() { all[i] = send(ctx, &open[i], subject, text) })
	}
	group.Wait()
	return all
}

func send(ctx context.Context, to *Channel, subject, text string) api.ChannelResult {
	began, err := time.Now(), to.Err
	if err == nil {
		done := make(chan error, 1)
		go func() { done <- to.Sender.Send(subject, text) }()
		select {
		case err = <-done:
		case <-time.After(testWithin):
			err = fmt.Errorf("no answer within %s", testWithin)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	result := api.ChannelResult{Channel: to.Name, Result: notify.Sent, TookMS: time.Since(began).Milliseconds()}
	if err != nil {
		result.Result, result.Reason = notify.Failed, err.Error()
	}
	return result
}

// Channels tests the channels of a daemon on request.
type Channels struct{ Config *configs.Config }

// Names returns the names of the configured channels.
func (c *Channels) Names() (names []string) {
	for i := range c.Config.Notify.Channels {
		names = append(names, c.Config.Notify.Channels[i].Name)
	}
	return names
}

// Test sends a test message through the named channels.
func (c *Channels) Test(ctx context.Context, names []string) []api.ChannelResult {
	open := slices.DeleteFunc(OpenAll(c.Config), func(o Channel) bool { return !slices.Contains(names, o.Name) })
	return Test(ctx, c.Config, open)
}
