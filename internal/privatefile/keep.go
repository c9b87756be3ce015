package privatefile

import "time"

// retryEvery is the delay before a failed write is tried again.
const retryEvery = 10 * time.Second

// Keep writes each text that it receives to a file atomically, until the channel is closed. It retries a failed write, at
// the end too, unless a newer text arrived; it calls failed with the first of successive failures.
func Keep(path string, texts <-chan []byte, failed func(error)) {
	var left []byte
	write := func(text []byte) {
		err := Write(path, text)
		if err != nil && left == nil {
			failed(err)
		}
		if left = nil; err != nil {
			left = text
		}
	}
	for {
		var again <-chan time.Time
		if left != nil {
			again = time.After(retryEvery)
		}
		select {
		case text, more := <-texts:
			if more {
				write(text)
				continue
			}
			if left != nil {
				write(left)
			}
			return
		case <-again:
			write(left)
		}
	}
}
