package private

import "time"

// retryEvery is how soon a file is written again that could not be.
const retryEvery = 10 * time.Second

// Keep writes a file, as a whole, whenever it receives its text, until the channel is closed. A text that could not be written is tried
// again, at the end too, unless a newer one came; failed is called with the first of several failures.
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
