package rest

// Candles a page (interface, Limits).
const FuturesCandlesPage, SpotCandlesPage = 1500, 500
