package shell

import "time"

// Second writes a time to the second.
func Second(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateTime) }
