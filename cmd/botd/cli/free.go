package cli

// leastFree is what is left free for the journal: nothing else is written below it.
const leastFree = 64 << 20
