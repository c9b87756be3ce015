package conformance

import (
	"slices"
	"strings"

	"botd/exchange"
)

// record is a resource of the interface: its fields, copied from the document, and the
// operations that return it.
type record struct {
	name       string
	fields     string
	states     string // the possible values of its status
	operations []exchange.Operation
}

var records = []record{
	{"health, ping", "status", "", []exchange.Operation{exchange.FuturesHealth, exchange.FuturesPing, exchange.FuturesSetLeverage}},
	{"time", "serverTime", "", []exchange.Operation{exchange.FuturesTime}},
	{"futures symbol", "symbol baseAsset quoteAsset quantityTick priceTick minNotional maxNotional isTrade isReduceOnly " +
		"isCancelOrder adjustedFundingRateCap adjustedFundingRateFloor fundingIntervalHours",
		"", []exchange.Operation{exchange.FuturesSymbols}},
	{"futures ticker", "symbol priceChange priceChangePercent lastPrice bidPrice askPrice openPrice highPrice lowPrice " +
		"volume quoteVolume openTime closeTime count",
		"", []exchange.Operation{exchange.FuturesTickers, exchange.FuturesTicker}},
	{"futures depth", "lastUpdateId bids asks", "", []exchange.Operation{exchange.FuturesDepth}},
	{"futures public trade", "id price qty time isBuyerMaker", "", []exchange.Operation{exchange.FuturesTrades}},
	{"futures candle", "[0] [1] [2] [3] [4] [5] [6] [7] [8] [9] [10]", "", []exchange.Operation{exchange.FuturesCandles}},
	{"funding rate", "symbol fundingRate fundingTime nextFundingTime", "", []exchange.Operation{exchange.FuturesFundingRate}},
	{"margin level bracket", "symbol min max marginRatio marginAmount maxLeverage", "",
		[]exchange.Operation{exchange.FuturesMarginLevels, exchange.FuturesSymbolMarginLevels}},
	{"futures order", "id client_order_id symbol side type price stopPrice quantity filled status workingType " +
		"closePosition closePositionId createdAt postOnly",
		"CREATED NEW OPEN FILLED CANCELED REJECTED PRE_CANCELED",
		[]exchange.Operation{exchange.FuturesPlace, exchange.FuturesOrder, exchange.FuturesOpenOrders, exchange.FuturesCancel, exchange.FuturesCancelAll}},
	{"futures position", "id symbol side entryPrice quantity remainingQty leverage unrealizedPNL realizedPNL liqPrice " +
		"status lastUpdatePrice closePrice createdAt updatedAt",
		"OPEN CLOSED LIQUIDATED", []exchange.Operation{exchange.FuturesOpenPositions, exchange.FuturesPositionsHistory}},
	{"leverage setting", "symbol leverage", "", []exchange.Operation{exchange.FuturesLeverages}},
	{"futures margin account", "accountStatus totalMaintMargin totalWalletBalance totalMarginUsed orderMarginUsd " +
		"positionMarginUsd totalUnrealizedPnl availableBalance totalBonus testStatus accountIsDemo " +
		"positions",
		"", []exchange.Operation{exchange.FuturesAccount}},
	{"spot pair", "symbol base quote priceTick quantityTick minNotional maxNotional orderTypes isTrade isCancelOrder", "",
		[]exchange.Operation{exchange.SpotPairs}},
	{"spot ticker", "symbol lastPrice openPrice highPrice lowPrice volume quoteVolume priceChange priceChangePercent " +
		"weightedAvgPrice updateTime",
		"", []exchange.Operation{exchange.SpotTickers, exchange.SpotTicker}},
	{"spot order book", "id bids asks", "", []exchange.Operation{exchange.SpotDepth}},
	{"spot public trade", "id price qty quoteQty time isBuyerMaker", "", []exchange.Operation{exchange.SpotTrades}},
	{"spot candle", "[0] [1] [2] [3] [4] [5] [6] [7] [8] [9] [10]", "", []exchange.Operation{exchange.SpotCandles}},
	{"spot order", "id symbol side type quantity price filled avgPrice status clientOrderId createdAt", "CREATED NEW FILLED CANCELED",
		[]exchange.Operation{exchange.SpotPlace, exchange.SpotCancel, exchange.SpotCancelAll, exchange.SpotOpenOrders, exchange.SpotOrderHistory}},
	{"spot user trade", "id symbol order_id price qty fee fee_asset role time", "", []exchange.Operation{exchange.SpotUserTrades}},
	{"spot wallet entry", "asset balance frozen", "", []exchange.Operation{exchange.SpotWallet}},
}

func recordOf(operation exchange.Operation) *record {
	for i := range records {
		if slices.Contains(records[i].operations, operation) {
			return &records[i]
		}
	}
	return &record{}
}

// field returns the record's field that an expectation checks: the first one in its path. A list of names, as the function keys returns, checks no field.
func (r *record) field(w *want) string {
	fields := strings.Fields(r.fields)
	for i, part := range w.path {
		candle := slices.Contains(fields, "[0]") && i == 1 && w.path[0][0] == '['
		if (part[0] != '[' || candle) && slices.Contains(fields, part) {
			return part
		}
		if name, _, selects := strings.Cut(strings.Trim(part, "[]"), "="); selects && i == len(w.path)-1 && slices.Contains(fields, name) {
			return name
		}
	}
	return ""
}
