package tape

import "sync"

// SharedCache keeps parsed candles between commands; what is written at the end of
// one is waited for.
var SharedCache = sync.OnceValue(OpenCache)
