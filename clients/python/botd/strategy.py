"""The program's side of `strategy: process` (docs/process.md): a class decides, botd does the rest.

    import botd

    class Cross(botd.Strategy):
        warmup = 20
        fast = botd.Parameter(5, minimum=1, help="candles of the fast average")

        def candle(self, view):
            ...

        def decide(self, view):
            return botd.Plan(target=self.size, reason="fast above slow")

    botd.run(Cross)
"""
from __future__ import annotations

import binascii
import json
import os
import struct
import sys
import traceback
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Type, Union

PROTOCOL = 1
Number = Union[int, float, str, Decimal]


class Candle(NamedTuple):
    """One closed candle. Prices and volumes are floats, or Decimals where the strategy sets `exact`."""

    time_ms: int  # when it opened
    open: Any
    high: Any
    low: Any
    close: Any
    volume: Any = None  # of the base asset; this and the following are None where the strategy sets `prices_only`
    quote_volume: Any = None
    trades: Any = None
    taker_buy_volume: Any = None
    taker_buy_quote_volume: Any = None


_PACKED, _PACKED_PRICES = struct.Struct("<q6dq2d"), struct.Struct("<q4d")  # a candle's row, and its time and prices alone


class Parameter:
    """A parameter of the strategy's file, `params: {NAME: value}`; read it as an attribute.

    The kind follows from the default: int, bool, Decimal (or float) for decimals, str for text. A parameter
    without a default must be given in the file; say its kind then ("int", "decimal", "duration", "text" or
    "bool"). A duration is a text as "90s" or "4h", and read as milliseconds.
    """

    def __init__(self, default: Any = None, *, kind: str = "", minimum: Optional[Number] = None, maximum: Optional[Number] = None,
                 one_of: Sequence[str] = (), help: str = "") -> None:
        self.default, self.minimum, self.maximum, self.one_of, self.help = default, minimum, maximum, tuple(one_of), help
        self.kind = kind or _kind_of(default)
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Optional[type] = None) -> Any:
        if instance is None:
            return self
        return instance.params[self.name]

    def describe(self) -> Dict[str, Any]:
        """The parameter as the first message declares it."""
        text: Dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.default is not None:
            text["default"] = _written(self.default)
        if self.minimum is not None:
            text["min"] = _written(self.minimum)
        if self.maximum is not None:
            text["max"] = _written(self.maximum)
        if self.one_of:
            text["one_of"] = list(self.one_of)
        if self.help:
            text["help"] = self.help
        return text

    def read(self, text: Optional[str]) -> Any:
        """The value of a text of the file, or the default."""
        if text is None:
            if self.default is None:
                raise ValueError(f"params.{self.name} is missing")
            text = _written(self.default)
        if self.kind == "int":
            return int(text)
        if self.kind == "decimal":
            return Decimal(text[:-1]) / 100 if text.endswith("%") else Decimal(text)
        if self.kind == "bool":
            return text == "true"
        if self.kind == "duration":
            return _milliseconds(text)
        return text


def _kind_of(default: Any) -> str:
    if isinstance(default, bool):
        return "bool"
    if isinstance(default, int):
        return "int"
    if isinstance(default, (float, Decimal)):
        return "decimal"
    return "text"


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value)


def _milliseconds(text: str) -> int:
    units = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
    total, digits, rest = 0, "", text
    while rest:
        if rest[0].isdigit() or rest[0] == ".":
            digits, rest = digits + rest[0], rest[1:]
            continue
        unit = next((u for u in ("ms", "s", "m", "h", "d", "w") if rest.startswith(u)), None)
        if unit is None or not digits:
            raise ValueError(f"{text!r} is not a duration")
        total, digits, rest = total + int(Decimal(digits) * units[unit]), "", rest[len(unit):]
    if digits and Decimal(digits) != 0:
        raise ValueError(f"{text!r} is not a duration")
    return total


@dataclass(frozen=True)
class Setting:
    """Where a strategy runs. The rules (price_tick, quantity_tick, min_notional) are those that botd has read last."""

    name: str
    market: str  # futures or spot
    symbol: str
    base: str
    quote: str
    price_tick: Decimal
    quantity_tick: Decimal
    min_notional: Decimal
    interval: str
    interval_ms: int
    size: Dict[str, str]  # the configured size, as a target: {"equity": "0.5"}, {"quantity": ...} or {"quote": ...}


@dataclass
class View:
    """What a strategy may know when it decides. Decimals are Decimals."""

    candle: Optional[Candle] = None  # the newest closed one
    columns: Dict[str, Optional[float]] = field(default_factory=dict)  # those of the strategy, at that candle's close
    others: Dict[str, Optional[Candle]] = field(default_factory=dict)  # of the strategy's `others`, the candle that closed with it; None for none
    now_ms: int = 0
    quantity: Decimal = Decimal(0)  # held; negative for short
    entry_price: Optional[Decimal] = None
    since_ms: int = 0
    equity: Decimal = Decimal(0)
    leverage: int = 0
    fills: Dict[str, Decimal] = field(default_factory=dict)  # by key of the plan in force
    memory: Dict[str, int] = field(default_factory=dict)
    events: List[Dict[str, Any]] = field(default_factory=list)  # where the strategy sets `watch_events`
    raw: Mapping[str, Any] = field(default_factory=dict)  # all members as botd wrote them: working, funding, pair, book, ...
    _last: Union[None, str, Number] = field(default=None, repr=False)
    _places: int = field(default=0, repr=False)  # of prices

    @property
    def last(self) -> Optional[Decimal]:
        """The last price."""
        if isinstance(self._last, float):
            return Decimal(f"{self._last:.{self._places}f}")
        return None if self._last is None else Decimal(str(self._last))

    def _take(self, raw: Mapping[str, Any]) -> None:
        """Replaces what the view before showed. Members that are absent are empty."""
        self.raw = raw
        position = raw.get("position") or {}
        self.quantity = Decimal(str(position.get("quantity") or 0))
        price = position.get("entry_price")
        self.entry_price = Decimal(str(price)) if price is not None and self.quantity else None
        self.since_ms = int(position.get("since_ms") or 0)
        self.equity = Decimal(str(raw.get("equity") or 0))
        self.leverage = int(raw.get("leverage") or 0)
        self.fills = {key: Decimal(str(value)) for key, value in (raw.get("fills") or {}).items()}
        self.memory = dict(raw.get("memory") or {})
        self.events = list(raw.get("events") or [])


def share_of_entry(share: Number) -> Dict[str, str]:
    """A stop-loss or take-profit at a share of the entry price: share_of_entry("0.02") is 2 % away."""
    return {"share": _written(share)}


def price_level(price: Number) -> Dict[str, str]:
    """A stop-loss or take-profit at a price."""
    return {"price": _written(price)}


@dataclass
class Order:
    """An order to keep in the book."""

    key: str
    side: str  # BUY or SELL
    price: Number
    quantity: Number
    post_only: bool = False
    stop_price: Optional[Number] = None

    def _message(self) -> Dict[str, Any]:
        message: Dict[str, Any] = {"key": self.key, "side": self.side, "price": _written(self.price), "quantity": _written(self.quantity)}
        if self.post_only:
            message["post_only"] = True
        if self.stop_price is not None:
            message["stop_price"] = _written(self.stop_price)
        return message


@dataclass
class Plan:
    """The whole desired state. What is None stays as it is; `orders=[]` keeps none.

    target: a quantity (negative for short, 0 for flat), or a mapping: {"equity": share}, {"quote": amount},
    {"quantity": quantity}.
    """

    target: Union[None, Number, Mapping[str, Number]] = None
    orders: Optional[Sequence[Order]] = None
    exits: Optional[Sequence[Order]] = None
    stop_loss: Optional[Mapping[str, str]] = None  # share_of_entry(...) or price_level(...)
    take_profit: Optional[Mapping[str, str]] = None
    leverage: Optional[int] = None
    signal_ms: Optional[int] = None  # when the signal was given that the target follows
    reason: str = ""
    memory: Optional[Mapping[str, int]] = None  # whole numbers, which come back in view.memory after any restart
    notify: Sequence[str] = ()  # texts for people: in the log and by the notification channels

    def _message(self) -> Dict[str, Any]:  # made at each decision of a backtest
        message: Dict[str, Any] = {}
        target = self.target
        if isinstance(target, (int, float, str, Decimal)):
            message["target"] = {"quantity": _written(target)}
        elif target is not None:
            message["target"] = {kind: value if type(value) is str else _written(value) for kind, value in target.items()}
        if self.orders is not None:
            message["orders"] = [order._message() for order in self.orders]
        if self.exits is not None:
            message["exits"] = [order._message() for order in self.exits]
        if self.stop_loss is not None:
            message["protection"] = {"stop_loss": dict(self.stop_loss)}
        if self.take_profit is not None:
            message.setdefault("protection", {})["take_profit"] = dict(self.take_profit)
        if self.leverage is not None:
            message["leverage"] = self.leverage
        if self.signal_ms is not None:
            message["signal_ms"] = self.signal_ms
        if self.memory is not None:
            message["memory"] = dict(self.memory)
        if self.reason:
            message["reason"] = self.reason
        if self.notify:
            message["notify"] = list(self.notify)
        return message


class Strategy:
    """A strategy. botd makes one for each process, and shows it all candles in order.

    Class attributes: `warmup`, how many candles it needs before the first decision (or a method of the same name that
    computes it from the parameters); `columns`, names of the configured columns that it reads; `others`, other symbols whose
    candles it reads, such as "ETH-USDT" or, of the other market, "spot ETH-USDT"; `exact`, to get Decimals instead of floats
    in candles; `prices_only`, to get candles without volumes, which halves what is read; `reentry`, what follows a stop
    ("signal", "immediate" or "never");
    `batches`, whether a backtest may ask for several decisions at once; `watch_events`, `watch_funding` and `watch_book`.
    """

    warmup: Any = 1
    columns: Sequence[str] = ()
    others: Sequence[str] = ()
    exact: bool = False
    prices_only: bool = False
    reentry: str = ""
    batches: bool = True
    watch_events = watch_funding = watch_book = False

    params: Dict[str, Any]
    setting: Setting
    size: Dict[str, str]

    def start(self) -> None:
        """Called once, when `params`, `setting` and `size` are known."""

    def candle(self, view: View) -> None:
        """Called for each closed candle, `view.candle`, once and in order, those of the warm-up too."""

    def decide(self, view: View) -> Optional[Plan]:
        """What is desired now; None leaves everything as it is. The same candles and view must give the same plan."""
        raise NotImplementedError

    def log(self, text: str, level: str = "info") -> None:
        """Writes a line to botd's log."""
        _Bridge.of_process.write({"type": "log", "level": level, "text": text})


class _Bridge:
    """Speaks with botd over standard input and output."""

    of_process: _Bridge

    def __init__(self) -> None:
        self.questions = sys.stdin.buffer
        # What the program prints goes to standard error: standard output belongs to the protocol.
        self.answers = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)

    def read(self, exact: bool = False) -> Optional[Dict[str, Any]]:
        head = self.questions.read(4)
        if len(head) < 4:
            return None  # botd no longer needs the program
        (length,) = struct.unpack(">I", head)
        text = self.questions.read(length)
        if len(text) < length:
            return None
        message: Dict[str, Any] = json.loads(text, parse_float=Decimal if exact else None)
        return message

    def write(self, message: Mapping[str, Any]) -> None:
        text = json.dumps(message, allow_nan=False, default=_encoded).encode()
        self.answers.write(struct.pack(">I", len(text)) + text)
        self.answers.flush()


def _encoded(value: Any) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    raise TypeError(f"{value!r} cannot be sent to botd")


def _parameters(kind: Type[Strategy]) -> List[Parameter]:
    found: Dict[str, Parameter] = {}
    for base in reversed(kind.__mro__):
        found.update((name, value) for name, value in vars(base).items() if isinstance(value, Parameter))
    return list(found.values())


def _other(name: str, market: Optional[str]) -> Dict[str, Optional[str]]:
    own, _, symbol = name.rpartition(" ")
    return {"market": own or market, "symbol": symbol}


def _rules(symbol: Mapping[str, Any]) -> Dict[str, Any]:
    return {"price_tick": Decimal(str(symbol["price_tick"])), "quantity_tick": Decimal(str(symbol["quantity_tick"])),
            "min_notional": Decimal(str(symbol.get("min_notional") or 0))}


def _begin(kind: Type[Strategy], hello: Mapping[str, Any]) -> tuple[Strategy, Dict[str, Any]]:
    strategy, given = kind(), hello.get("params") or {}
    parameters = _parameters(kind)
    known = {parameter.name for parameter in parameters}
    strategy.params = {p.name: p.read(given.get(p.name)) for p in parameters if p.default is not None or p.name in given}
    symbol = hello.get("symbol")
    size = hello.get("size") or {}
    strategy.size = size or {"equity": "1"}
    if symbol is not None:
        unknown = sorted(set(given) - known)
        if unknown:
            raise ValueError(f"params.{unknown[0]} is not a parameter of {kind.__name__}: it has {', '.join(sorted(known)) or 'none'}")
        missing = [p.name for p in parameters if p.name not in strategy.params]
        if missing:
            raise ValueError(f"params.{missing[0]} is missing")
        strategy.setting = Setting(
            name=hello["name"], market=hello["market"], symbol=symbol["name"], base=symbol["base"], quote=symbol["quote"],
            interval=hello["interval"], interval_ms=hello["interval_ms"], size=size, **_rules(symbol))
        strategy.start()
    answer: Dict[str, Any] = {"type": "hello", "protocol": PROTOCOL, "warmup": 1, "batches": strategy.batches, "parameters": [p.describe() for p in parameters]}
    if len(strategy.params) == len(parameters):
        answer["warmup"] = int(strategy.warmup() if callable(strategy.warmup) else strategy.warmup)
    watch = {name: True for name in ("events", "funding", "book") if getattr(strategy, "watch_" + name)}
    if watch:
        answer["watch"] = watch
    if strategy.prices_only:
        answer["prices"] = True
    if not strategy.exact:
        answer["packed"] = True
    if strategy.reentry:
        answer["reentry"] = strategy.reentry
    if strategy.columns:
        answer["columns"] = list(strategy.columns)
    if strategy.others:
        answer["others"] = [_other(name, hello.get("market")) for name in strategy.others]
    return strategy, answer


class _Session:
    """One strategy that answers botd's questions."""

    def __init__(self, kind: Type[Strategy], hello: Mapping[str, Any]) -> None:
        self.strategy, self.welcome = _begin(kind, hello)
        self.view, self.names = View(_places=(hello.get("symbol") or {}).get("price_scale") or 0), list(self.strategy.columns)
        self.setting: Optional[Setting] = getattr(self.strategy, "setting", None)  # with the rules of the hello
        self.interval_ms = hello.get("interval_ms") or 0
        self.watches_candles = kind.candle is not Strategy.candle
        self.packed = _PACKED_PRICES if self.strategy.prices_only else _PACKED
        # By open time, what has come of other symbols, under the names that the strategy gave them.
        self.others: Dict[str, Dict[int, Sequence[Any]]] = {name: {} for name in self.strategy.others}
        self.own_market = hello.get("market")
        self.before: Optional[Dict[str, Any]] = None  # the plan of the newest answer that was one

    def answer(self, question: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        """The answer to a message, or None where it has none."""
        if question["type"] == "decide_each":
            self.take_others(question)
            return {"type": "plans", "plans": self.decide_each(question)}
        self.take_others(question)
        rows, columns = self.rows(question.get("candles")), question.get("columns") or ()
        for i, row in enumerate(rows if self.watches_candles else rows[-1:]):
            self.see(row, columns[i if self.watches_candles else -1] if columns else ())
        if "view" in question:
            self.take_view(question["view"])
        if question["type"] != "decide":
            return None
        if question.get("last"):
            self.view._last = question["last"]
        self.view.now_ms = question["now_ms"]
        plan = self.decide()
        self.before = plan or self.before
        return {"type": "plan", "plan": plan}

    def rows(self, candles: Union[None, str, List[Sequence[Any]]]) -> List[Any]:
        """The rows of candles in a message: a list, or a text where they are packed."""
        if isinstance(candles, str):
            return list(self.packed.iter_unpack(binascii.a2b_base64(candles)))
        return candles or []

    def take_view(self, raw: Mapping[str, Any]) -> None:
        """Takes a view, and with it the rules of the symbol if they are not those of the hello."""
        self.view._take(raw)
        if self.setting is not None:
            symbol = raw.get("symbol")
            self.strategy.setting = self.setting if symbol is None else replace(self.setting, **_rules(symbol))

    def take_others(self, question: Mapping[str, Any]) -> None:
        for other in question.get("others") or ():
            for name in (other["symbol"], other["market"] + " " + other["symbol"]):
                if name in self.others and (" " in name or other["market"] == self.own_market):
                    self.others[name] = {row[0]: row for row in self.rows(other["candles"])}

    def see(self, row: Sequence[Any], columns: Sequence[Optional[float]]) -> None:
        self.view.candle = Candle(*row)
        self.see_others(row[0])
        if columns:
            self.view.columns = dict(zip(self.names, columns))
        if self.watches_candles:
            self.strategy.candle(self.view)

    def see_others(self, open_ms: int) -> None:
        for name, rows in self.others.items():
            self.view.others[name] = Candle(*rows[open_ms]) if open_ms in rows else None

    def decide(self) -> Optional[Dict[str, Any]]:
        plan = self.strategy.decide(self.view)
        if plan is None:
            return None
        if not isinstance(plan, Plan):
            raise TypeError(f"{type(self.strategy).__name__}.decide returned {type(plan).__name__}: "
                            "return a botd.Plan, or None to leave everything as it is")
        return plan._message()

    def decide_each(self, question: Mapping[str, Any]) -> List[Any]:
        """Decides at the close of each candle, up to and with the first decision that changes the plan."""
        rows, columns, equities = self.rows(question["candles"]), question.get("columns"), question.get("equities")
        view, plans = self.view, []  # type: View, List[Any]
        candle = self.strategy.candle if self.watches_candles else None
        for i, row in enumerate(rows):  # a backtest's whole time is here
            view.candle = Candle(*row)
            if self.others:
                self.see_others(row[0])
            if columns:
                view.columns = dict(zip(self.names, columns[i]))
            if candle is not None:
                candle(view)
            if i == 0 and "view" in question:
                self.take_view(question["view"])
            if equities:
                view.equity = Decimal(str(equities[i]))
            view.now_ms, view._last = row[0] + self.interval_ms, row[4]
            plan = self.decide()
            if plan is None:
                plans.append(None)
            elif plan == self.before and "notify" not in plan:
                plans.append(True)
            else:
                self.before = plan
                plans.append(plan)
                break
        return plans


def _serve(kind: Type[Strategy], bridge: _Bridge) -> None:
    hello = bridge.read()
    if hello is None:
        return
    if hello.get("protocol") != PROTOCOL:
        raise ValueError(f"this botd speaks version {hello.get('protocol')} of the protocol, the package botd {PROTOCOL}: install the one of that botd")
    session = _Session(kind, hello)
    bridge.write(session.welcome)
    while (question := bridge.read(session.strategy.exact)) is not None:
        answer = session.answer(question)
        if answer is not None:
            bridge.write(answer)


def run(kind: Type[Strategy]) -> None:
    """Runs a strategy class as the program of `strategy: process`, until botd no longer needs it."""
    if sys.stdin.isatty():
        sys.exit(f"{sys.argv[0]} is run by botd: name it in a strategy's file (strategy: process, command: [python3, {os.path.basename(sys.argv[0])}])")
    bridge = _Bridge.of_process = _Bridge()
    try:
        _serve(kind, bridge)
    except Exception as failure:
        bridge.write({"type": "error", "message": f"{type(failure).__name__}: {failure}", "trace": traceback.format_exc().splitlines()})
        sys.exit(1)
