"""Calls all operations of the trading interface with the client that openapi-python-client made from
docs/openapi-3.0.json, and prints a line for each: its operationId and its status. Usage: main.py URL KEY SECRET."""

import hashlib
import hmac
import importlib
import sys
import time

from generated import Client, models
from generated.models import FuturesNewOrder, FuturesNewOrderSide, OrderType, SpotNewOrder, SpotNewOrderSide

URL, KEY, SECRET = sys.argv[1:]
SYMBOL = "BTC-USDT"


def sign(request):
    """Adds the three headers to signed requests."""
    if not request.url.path.startswith(("/fhapi/", "/hapi/")):
        return
    stamp = str(int(time.time() * 1000) + ahead)
    signed = (stamp + request.method).encode() + request.url.raw_path + request.content
    request.headers["x-api-key"] = KEY
    request.headers["x-timestamp"] = stamp
    request.headers["x-signature"] = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()


client = Client(base_url=URL, httpx_args={"event_hooks": {"request": [sign]}})


def call(family, name, show=True, **arguments):
    """Calls one operation; the answer must have been decoded."""
    operation = importlib.import_module(f"generated.api.{family}.{name}")
    response = operation.sync_detailed(client=client, **arguments)
    if response.status_code // 100 != 2 or response.parsed is None:
        sys.exit(f"{name} {response.status_code} {response.content!r}")
    if show:
        print(name, int(response.status_code))
    return response.parsed


def futures_order(price):
    return FuturesNewOrder(symbol=SYMBOL, side=FuturesNewOrderSide.BUY, type_=OrderType.LIMIT, qt="0.001", price=price)


def spot_order(price):
    return SpotNewOrder(symbol=SYMBOL, side=SpotNewOrderSide.BUY, type_=OrderType.LIMIT, qt="0.001", price=price)


ahead = 0  # the exchange's clock minus this machine's, ms


def public():
    global ahead
    for name in ("health", "ping", "symbols", "tickers", "margin_levels"):
        call("futures_public", "futures_" + name)
    now = call("futures_public", "futures_time").server_time
    ahead = now - int(time.time() * 1000)
    for name in ("ticker", "depth", "trades", "funding_rate", "symbol_margin_levels"):
        call("futures_public", "futures_" + name, symbol=SYMBOL)
    call("futures_public", "futures_candles", symbol=SYMBOL, interval=models.FuturesCandlesInterval("1m"), limit=5)
    for name in ("pairs", "tickers"):
        call("spot_public", "spot_" + name)
    for name in ("ticker", "depth", "trades"):
        call("spot_public", "spot_" + name, symbol=SYMBOL)
    call("spot_public", "spot_candles", symbol=SYMBOL, interval=models.SpotCandlesInterval("1m"), start_time=now - 300_000, end_time=now)


def futures():
    family = "futures_trading"
    call(family, "futures_leverages")
    call(family, "futures_set_leverage", body=models.FuturesSetLeverageBody(symbol=SYMBOL, leverage=5))
    call(family, "futures_account")
    placed = call(family, "futures_place", body=futures_order("20000"))
    time.sleep(0.1)  # the answer only acknowledges
    order = call(family, "futures_order", order_id=placed.id)
    assert (order.status, order.quantity, order.price) == ("OPEN", "0.001", "20000"), order
    call(family, "futures_open_orders", body=models.FuturesOpenOrdersBody())
    call(family, "futures_cancel", body=models.FuturesCancelBody(id=placed.id))
    call(family, "futures_place", show=False, body=futures_order("20001"))
    call(family, "futures_cancel_all", body=models.FuturesCancelAllBody())
    call(family, "futures_open_positions", body=models.FuturesOpenPositionsBody())
    call(family, "futures_positions_history")


def spot():
    family = "spot_trading"
    placed = call(family, "spot_place", body=spot_order("20000"))
    time.sleep(0.1)
    (order,) = call(family, "spot_open_orders", symbol=SYMBOL)
    assert (order.id, order.quantity) == (placed.id, 0.001), order
    call(family, "spot_cancel", body=models.SpotCancelBody(order_id=placed.id, symbol=SYMBOL))
    call(family, "spot_place", show=False, body=spot_order("20001"))
    call(family, "spot_cancel_all", body=models.SpotCancelAllBody(symbol=SYMBOL))
    call(family, "spot_order_history", symbol=SYMBOL)
    call(family, "spot_user_trades")
    call(family, "spot_wallet")


public()
futures()
spot()
