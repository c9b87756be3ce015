# Derived by go test ./runtime/api -run Derived -update from docs/api.yaml.
"""The operations of botd's API, and what they answer (docs/api.md)."""
from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Account(TypedDict):
    """The balances of both wallets, as last fetched."""

    schema: Literal[1]
    at_ms: int  # When the balances were fetched; 0 if not yet.
    wallet: str
    unrealized: str
    available: str
    margin_used: str
    maintenance_margin: str
    equity: str  # The equity of the futures account.
    total_equity: Optional[str]  # Null while unknown.
    balances: List[Balance]  # The balances of the spot wallet.


class AccountEvent(TypedDict):
    """The account's equity at a time."""

    at_ms: int
    equity: str
    wallet: str
    unrealized: str


Audit = TypedDict("Audit", {
    "id": "str",
    "at_ms": "int",
    "kind": "str",  # Audit for a request; halt, breach, adopted, boot, ... for its consequences, or for botd's own actions.
    "actor": "str",
    "role": "NotRequired[str]",
    "from": "NotRequired[str]",
    "action": "str",
    "target": "NotRequired[str]",
    "detail": "NotRequired[str]",
    "request_id": "NotRequired[str]",
})


class AuditList(TypedDict):
    schema: Literal[1]
    items: List[Audit]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


Backtest = TypedDict("Backtest", {
    "id": "str",  # The name of its directory.
    "at": "str",  # When it was written.
    "name": "str",
    "strategy": "str",
    "market": "str",
    "symbol": "str",
    "interval": "str",
    "from": "str",
    "to": "str",
    "candles": "int",
    "round_trips": "int",
    "wins": "int",
    "initial_equity": "str",
    "final_equity": "str",
    "total_fees": "str",
    "total_funding": "str",
    "max_drawdown_pct": "Optional[float]",
    "sharpe": "Optional[float]",
    "sortino": "Optional[float]",
    "calmar": "Optional[float]",
    "cagr_pct": "Optional[float]",
    "profit_factor": "Optional[float]",
    "expectancy": "Optional[str]",
    "exposure_pct": "Optional[float]",
    "warnings": "List[str]",
    "page": "bool",  # Whether the report has a page.
    "data_sha256": "str",
    "config_sha256": "str",
    "result_sha256": "str",
})


class BacktestChoices(TypedDict):
    """The permitted parameters of a backtest."""

    schema: Literal[1]
    strategies: List[RunnableStrategy]
    files: List[CandleFile]  # The files of candles that the daemon recorded, or that are in data_dir/candles.
    max_candles: int  # The maximum number of candles of one run.


class BacktestList(TypedDict):
    schema: Literal[1]
    items: List[Backtest]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


BacktestRequest = TypedDict("BacktestRequest", {
    "strategy": "str",  # The name of a configured strategy.
    "params": "NotRequired[Dict[str, str]]",  # The parameters that differ from the configured ones.
    "file": "NotRequired[str]",  # One of the choices; without it a synthetic market is generated.
    "seed": "NotRequired[int]",  # The seed of the synthetic market.
    "candles": "NotRequired[int]",  # The number of candles of the synthetic market.
    "from": "NotRequired[str]",  # The start of the part of the file that is used: a date or RFC 3339, in UTC.
    "to": "NotRequired[str]",
    "study": "NotRequired[bool]",  # Whether it also runs again under worse conditions.
    "name": "NotRequired[str]",  # The name of the report.
    "dry_run": "NotRequired[bool]",
})


class BacktestRun(TypedDict):
    """A backtest that was started here, and its progress."""

    id: str  # The id of its report.
    strategy: str
    data: str
    state: Literal["running", "done", "failed", "canceled"]
    phase: str  # The phase of a running one: reading, running, study, writing.
    share: float  # The completed share of the run.
    error: NotRequired[str]
    started_by: str
    started_ms: int
    ended_ms: int  # 0 while it runs.
    by: str  # Use started_by.


class BacktestRunList(TypedDict):
    schema: Literal[1]
    items: List[BacktestRun]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class BacktestStart(TypedDict):
    """The answer to a backtest to run."""

    schema: Literal[1]
    dry_run: bool
    id: str
    effects: List[str]
    run: Optional[BacktestRun]  # Null when nothing was started.
    does: List[str]  # Use effects.


class Backup(TypedDict):
    """A verified copy of the journal."""

    at: str
    file: str
    bytes: int
    sha256: str
    records: int
    hash: str  # The hash of the last record.


class BackupAnswer(TypedDict):
    """The answer to a request for a backup."""

    schema: Literal[1]
    dry_run: bool
    effects: List[str]
    backup: Optional[Backup]  # Null for a dry run.
    does: List[str]  # Use effects.


class Balance(TypedDict):
    """One asset of the spot wallet."""

    asset: str
    free: str
    frozen: str


class Block(TypedDict):
    """One thing that blocks a strategy."""

    what: str
    remedy: str
    way_out: str  # Use remedy.


class Bracket(TypedDict):
    """One margin level of a futures symbol."""

    max_notional: str
    margin_ratio: str
    max_leverage: int


class CancelRequest(TypedDict):
    """A selection of opening orders to cancel: those that match all given fields."""

    strategy: NotRequired[str]
    market: NotRequired[Literal["futures", "spot"]]
    symbol: NotRequired[str]
    reason: NotRequired[str]  # The reason that the journal records; required unless it is a dry run.
    dry_run: NotRequired[bool]  # Whether to answer with the effects, and do nothing.


class CandleEvent(TypedDict):
    """A closed candle that the engine has processed."""

    market: str
    symbol: str
    strategy: NotRequired[str]
    open_ms: int
    open: str
    high: str
    low: str
    close: str
    volume: float


class CandleFile(TypedDict):
    """A file of candles. Market, symbol and interval are empty if its path does not name them."""

    file: str
    market: str
    symbol: str
    interval: str
    bytes: int


class Candles(TypedDict):
    """Candles in columns, oldest first."""

    schema: Literal[1]
    market: str
    symbol: str
    interval: str
    open_ms: List[int]
    open: List[str]
    high: List[str]
    low: List[str]
    close: List[str]
    volume: List[float]
    gaps: int  # The number of candles missing between the first and the last.


class Change(TypedDict):
    """The answer to a change that sends nothing to the exchange."""

    schema: Literal[1]
    dry_run: bool  # Whether nothing was done.
    effects: List[str]  # The effects in words.
    does: List[str]  # Use effects.


class ChannelAnswer(TypedDict):
    """The results of a test."""

    schema: Literal[1]
    dry_run: bool
    effects: List[str]
    items: List[ChannelResult]
    does: List[str]  # Use effects.


class ChannelRequest(TypedDict):
    """Which channels to test."""

    channel: NotRequired[str]  # The only channel to test.
    dry_run: NotRequired[bool]


class ChannelResult(TypedDict):
    """The result of a test message."""

    channel: str
    result: Literal["sent", "failed", "not_sent"]  # The last for a dry run.
    reason: NotRequired[str]
    took_ms: int
    why: NotRequired[str]  # Use reason.


class Check(TypedDict):
    """One readiness check."""

    name: str
    ok: bool
    detail: NotRequired[str]


class ClosedPosition(TypedDict):
    """A closed position, whether botd opened it or not: of a strategy, a round trip from flat to flat."""

    id: str
    position_id: NotRequired[int]  # Only on futures.
    strategy: str  # Empty if no strategy opened it.
    market: str
    symbol: str
    side: Literal["LONG", "SHORT"]
    quantity: str
    entry_price: str  # The mean price.
    exit_price: str
    opened_ms: int
    closed_ms: int
    asset: str  # The asset of the amounts of money.
    realized: str  # The result of the price difference, before fees and funding.
    fees: str
    funding: str  # The funding that was paid.
    pnl: str  # The result less fees and funding.
    derived: bool  # Whether fees and funding follow from the wallet, not from a report of the exchange.
    complete: bool  # False if a part of the money is unknown.
    liquidated: bool
    exit_purpose: str  # The purpose of the order that ended it: exit, exit_order, stop_loss, take_profit; liquidation; manual.
    close_price: str  # Use exit_price.
    entered_ms: int  # Use opened_ms.
    from_ms: int  # Use opened_ms.
    left_ms: int  # Use closed_ms.
    until_ms: int  # Use closed_ms.
    realised: str  # Use realized.
    whole: bool  # Use complete.


class ClosedPositionList(TypedDict):
    schema: Literal[1]
    items: List[ClosedPosition]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class Condition(TypedDict):
    """One condition that a strategy decides by."""

    name: str
    value: str
    requires: NotRequired[str]  # The value that it is compared with.
    met: bool
    wants: NotRequired[str]  # Use requires.
    holds: bool  # Use met.


class Configuration(TypedDict):
    """The configuration in force, and where each value comes from."""

    schema: Literal[1]
    directory: str
    files: List[str]
    hash: str
    yaml: str  # The effective configuration, without secrets.
    settings: List[Setting]


class Day(TypedDict):
    """The account's result since midnight UTC, and its drawdown."""

    start: Optional[str]  # Null while unknown.
    start_equity: str
    change: Optional[str]  # Null while the equity is unknown.
    change_ratio: Optional[float]  # Null while the equity is unknown.
    peak: str
    drawdown_ratio: Optional[float]  # A share from 0 to 1; null while the equity is unknown.


class Decision(TypedDict):
    """One change of a strategy's plan."""

    id: str
    at_ms: int
    strategy: str
    market: str
    symbol: str
    target: str  # The target in words.
    side: str  # The side of the target: long, short or flat; empty without a target.
    reason: str
    last_price: str
    position: str
    wish: str  # Use target.


class DecisionList(TypedDict):
    schema: Literal[1]
    items: List[Decision]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class Degraded(TypedDict):
    """One declared state that blocks openings."""

    state: str  # Blind, breaker, halted, limit, quarantined, contradicted, unprotected, foreign, stale, ...
    scope: Literal["account", "market", "strategy", "symbol"]
    strategy: NotRequired[str]
    market: NotRequired[str]
    symbol: NotRequired[str]
    cause: str
    since: str
    until: NotRequired[str]  # When it clears automatically.
    remedy: str
    blind: NotRequired[List[str]]  # What a halt cannot read or act on, one line each.
    under_way: NotRequired[bool]  # Whether the exchange has accepted all orders that close the rest of a halt.
    doing: NotRequired[str]  # The orders and positions that a halt still has to cancel or close, and the cause of the delay.
    way_out: str  # Use remedy.


class DesiredOrder(TypedDict):
    """One order that a strategy keeps in the book."""

    key: str
    side: str
    price: str
    stop_price: NotRequired[str]
    quantity: str
    post_only: bool


class Difference(TypedDict):
    """One difference between exchange and journal, and how it was resolved."""

    id: str
    at_ms: int
    kind: Literal["quarantine", "adopted", "ignored", "found", "unexplained"]
    market: str
    symbol: NotRequired[str]
    quantity: NotRequired[str]  # The quantity, with its sign, that was adopted or left to its owner.
    amount: NotRequired[str]  # The increase of the asset's balance that is unexplained.
    asset: NotRequired[str]
    client_order_id: NotRequired[str]
    order_id: NotRequired[int]
    text: str
    open: bool  # Whether it is a quarantine that waits for a person.
    ended_ms: NotRequired[int]  # When it was resolved.


class DifferenceList(TypedDict):
    schema: Literal[1]
    items: List[Difference]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class EquitySeries(TypedDict):
    """The account's equity in columns."""

    schema: Literal[1]
    step_ms: int
    time_ms: List[int]
    equity: List[str]
    wallet: List[str]
    unrealized: List[str]
    marks: List[Audit]  # Starts, halts, breakers and limits, oldest first.


class Execution(TypedDict):
    """One order's fill at one time, by the exchange or by a backtest."""

    at_ms: int
    order: NotRequired[str]  # The client order id, of a live one.
    buy: bool
    quantity: float
    price: float  # 0 if unknown.
    purpose: str


class Fill(TypedDict):
    """The quantity of an order that was filled between two polls."""

    id: str
    at_ms: int  # When it was polled.
    client_order_id: str
    order_id: int
    strategy: str
    purpose: str
    market: str
    symbol: str
    side: str
    quantity: str
    price: str  # The mean price of the order so far; 0 while it is not known.
    fee: NotRequired[str]  # Empty while it is not known.
    fee_asset: NotRequired[str]  # The asset of the fee.
    derived: NotRequired[bool]  # Whether price and fee follow from readings of position and wallet, because the exchange reports none.


class FillList(TypedDict):
    schema: Literal[1]
    items: List[Fill]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class ForeignOrder(TypedDict):
    """An open order that the journal does not know."""

    order_id: int
    client_order_id: str
    side: str
    type: str
    quantity: str
    filled: str
    price: str
    stop_price: str


class Funding(TypedDict):
    """A futures symbol's funding; null on spot."""

    rate: str
    next_ms: int


class Gap(TypedDict):
    """A report that events were missed: the resources that they changed must be read again."""

    after_id: str
    last_id: str
    reason: str
    why: str  # Use reason.


class Halt(TypedDict):
    """One halt in force."""

    scope: Literal["account", "strategy", "symbol"]
    strategy: NotRequired[str]
    market: NotRequired[str]
    symbol: NotRequired[str]
    level: Literal["pause", "cancel", "flatten"]
    reason: str
    since: str
    why: str  # Use reason.


class HaltAnswer(TypedDict):
    """The list of effects of a halt, a rearm, or another manual order."""

    schema: Literal[1]
    dry_run: bool
    level: str
    scope: str
    reason: str
    effects: List[str]  # The effects in words.
    steps: List[HaltStep]  # The requests, in order.
    blind: List[str]  # What a halt cannot read or act on now, one line each.
    still_blocking: List[Degraded]  # The states that still block trading after a rearm.
    does: List[str]  # Use effects.
    still: List[Degraded]  # Use still_blocking.


class HaltRequest(TypedDict):
    """A halt of the account, or of a part of it."""

    level: Literal["pause", "cancel", "flatten"]
    strategy: NotRequired[str]  # The strategy to which it is limited.
    market: NotRequired[Literal["futures", "spot"]]  # Required where both markets trade the symbol.
    symbol: NotRequired[str]  # The symbol to which it is limited.
    reason: NotRequired[str]  # The reason that the journal records; required unless it is a dry run.
    dry_run: NotRequired[bool]  # Whether to answer with the effects, and do nothing.


class HaltStep(TypedDict):
    """One request that a halt sends."""

    strategy: str
    market: str
    symbol: str
    action: Literal["cancel", "exit"]
    side: NotRequired[str]
    type: NotRequired[str]
    quantity: NotRequired[str]
    price: NotRequired[str]
    stop_price: NotRequired[str]
    reduce_only: NotRequired[bool]
    close_position: NotRequired[bool]
    client_order_id: NotRequired[str]  # The order that a cancel cancels.
    order_id: NotRequired[int]
    later: NotRequired[bool]  # Whether it is sent only once the cancels before it are confirmed.
    text: str  # The step in words.


class Health(TypedDict):
    """Every check."""

    schema: Literal[1]
    alive: bool
    ready: bool
    checks: List[Check]


class Hello(TypedDict):
    """The first event of every stream."""

    epoch: str
    version: str
    oldest_id: str  # The oldest id after which a stream can resume.
    last_id: str


class Holding(TypedDict):
    """A quantity of an asset."""

    asset: str
    quantity: str


class Incident(TypedDict):
    """One malfunction, from start to end."""

    id: str
    state: Literal["open", "closed"]
    in_force: bool  # False when the state has ended, or after a start is not known yet; the incident closes unless it returns.
    kind: str  # The declared state: blind, unprotected, quarantined, journal, clock, ...
    severity: str
    scope: Literal["account", "market", "strategy", "symbol"]
    strategy: NotRequired[str]
    market: NotRequired[str]
    symbol: NotRequired[str]
    cause: str  # The newest cause.
    remedy: str
    runbook: str  # The section of docs/operations.md.
    since: str  # When the state began.
    opened: str
    updated: str
    times: int  # How often the state has begun.
    reminders: int
    escalated: NotRequired[str]
    closed: NotRequired[str]
    way_out: str  # Use remedy.


class IncidentList(TypedDict):
    schema: Literal[1]
    items: List[Incident]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class Intent(TypedDict):
    """One change that botd derived from a plan, and its outcome."""

    id: str
    at_ms: int
    strategy: str
    purpose: str  # Entry, exit, order, exit_order, stop_loss, take_profit, cancel, leverage.
    market: str
    symbol: str
    side: NotRequired[str]
    type: NotRequired[str]
    quantity: NotRequired[str]
    quote_amount: NotRequired[str]  # The amount of a spot purchase at market, which has no quantity.
    price: NotRequired[str]
    stop_price: NotRequired[str]
    last_price: NotRequired[str]  # The last price when the intent was derived.
    reason: NotRequired[str]
    outcome: str  # Derived, refused, approved, placed, acknowledged, refused_by_exchange, uncertain, or a placement's final state.
    rule: NotRequired[str]
    detail: NotRequired[str]
    client_order_id: NotRequired[str]
    order_id: NotRequired[int]


class IntentList(TypedDict):
    schema: Literal[1]
    items: List[Intent]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class JournalHead(TypedDict):
    """The journal's newest record. A copy of its hash elsewhere proves later that no record up to it was changed."""

    records: int
    hash: str
    at: str
    keyed: bool  # Whether the chain is authenticated by the key of journal_key_file.


class LaneUse(TypedDict):
    """The last use of the kill switch's lane, while the engine did not answer in time."""

    since: str  # The time of the first halt.
    requested_by: str
    level: str
    cause: str  # Why the engine was not waited for.
    orders: int  # The number of orders that were sent.
    active: bool  # Whether the engine has not taken over yet.
    done_after_ms: NotRequired[int]  # The time until nothing was left to cancel or close.
    took_ms: NotRequired[int]  # The time until the engine had taken over.
    by: str  # Use requested_by.


class Level(TypedDict):
    """One level of the kill switch."""

    level: Literal["pause", "cancel", "flatten"]
    effect: str
    does: str  # Use effect.


class LevelRequest(TypedDict):
    """The level to write from."""

    level: Literal["debug", "info", "warn", "error"]


class Limit(TypedDict):
    """One limit and its utilization."""

    scope: str  # Account, account futures, account spot, symbol ..., strategy ...
    strategy: NotRequired[str]
    rule: str
    value: str  # The utilization.
    limit: str
    headroom: str
    ratio: float  # The utilization as a share of the limit; 1 is the limit.
    state: Literal["ok", "near", "full", "breached", "unknown"]
    reason: NotRequired[str]
    remedy: NotRequired[str]
    since: NotRequired[str]  # When the breach began.
    until: NotRequired[str]  # When a breach clears automatically.
    set: NotRequired[SetLimit]  # The value that a person set, tighter than the configuration's.
    near: Literal["", "shown", "alerts"]
    title: NotRequired[str]  # The title of its figure on the overview page.
    use: str  # Use value.
    why: NotRequired[str]  # Use reason.
    way_out: NotRequired[str]  # Use remedy.


class LimitList(TypedDict):
    schema: Literal[1]
    items: List[Limit]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class LimitsRequest(TypedDict):
    """Which limits to set."""

    strategy: NotRequired[str]  # Empty for a limit of the account.
    limits: Dict[str, Optional[str]]  # For each rule, a value tighter than the configuration's, or null to return to that.
    reason: NotRequired[str]  # The reason that the journal records; required unless it is a dry run.
    dry_run: NotRequired[bool]  # Whether to answer with the effects, and do nothing.


class Line(TypedDict):
    """One output of an indicator; a missing value is null."""

    name: str  # The indicator with its parameters, such as sma 10.
    own: bool  # Whether it is drawn below the price, on its own scale.
    values: List[Optional[float]]


class Link(TypedDict):
    """A one-time code that logs an operator in."""

    schema: Literal[1]
    code: str
    address: str  # The address of the dashboard, with a name of this botd's own if possible; empty when it is not served.
    plain: str  # The same without such a name, for clients that do not resolve names below localhost to this machine.
    path: str  # The path behind the address; the code is a fragment, which browsers do not send.
    ends: str


class Liquidation(TypedDict):
    """The nearest price at which a position is liquidated."""

    symbol: str
    price: str
    distance_ratio: float


class ListedSymbol(TypedDict):
    """One symbol of the venue."""

    market: str
    symbol: str
    price_tick: str
    quantity_tick: str
    min_notional: str
    max_notional: str
    tradable: bool
    max_leverage: int  # 0 on spot.
    strategy: str  # The strategy that trades it; empty for none.


class ListedSymbolList(TypedDict):
    schema: Literal[1]
    items: List[ListedSymbol]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class LogLevel(TypedDict):
    """The level below which nothing is written."""

    schema: Literal[1]
    level: Literal["debug", "info", "warn", "error"]
    levels: List[Literal["debug", "info", "warn", "error"]]


class LogLine(TypedDict):
    """One line of the log, as the API shows it."""

    id: str
    time: str
    level: Literal["debug", "info", "warn", "error"]
    event: str
    msg: str
    strategy: NotRequired[str]
    market: NotRequired[str]
    symbol: NotRequired[str]
    client_order_id: NotRequired[str]
    fields: NotRequired[Dict[str, Any]]  # All others.


class LogLineList(TypedDict):
    schema: Literal[1]
    items: List[LogLine]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class LoginRequest(TypedDict):
    """A token, or the code of a one-time link."""

    token: NotRequired[str]
    code: NotRequired[str]  # The code of a one-time link.


class MemoryVariable(TypedDict):
    """One value that a strategy stores in the journal."""

    key: str
    value: int


class NamedToken(TypedDict):
    """A named token as the API lists it."""

    name: str
    role: Literal["viewer", "operator"]
    created: str
    ends: Optional[str]  # Null if it never expires.
    ended: bool
    made: str  # Use created.


class NamedTokenList(TypedDict):
    schema: Literal[1]
    items: List[NamedToken]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class NewToken(TypedDict):
    """A token that was made."""

    schema: Literal[1]
    name: str
    role: Literal["viewer", "operator"]
    ends: Optional[str]
    token: str  # The token, which is shown only once.


class Notice(TypedDict):
    """Something a person may want to know."""

    id: str
    at_ms: int
    kind: str  # Gap, fetch_failed, latch, quarantine, contradicted, foreign, adopted, halt, missed, blind, journal, ...
    severity: Literal["info", "warning", "error"]
    strategy: NotRequired[str]
    market: NotRequired[str]
    symbol: NotRequired[str]
    ended: bool  # Whether what it reports has ended.
    count: NotRequired[int]
    text: str
    over: bool  # Use ended.


class NoticeList(TypedDict):
    schema: Literal[1]
    items: List[Notice]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


OneBacktest = TypedDict("OneBacktest", {
    "schema": "Literal[1]",
    "id": "str",  # The name of its directory.
    "at": "str",  # When it was written.
    "name": "str",
    "strategy": "str",
    "market": "str",
    "symbol": "str",
    "interval": "str",
    "from": "str",
    "to": "str",
    "candles": "int",
    "round_trips": "int",
    "wins": "int",
    "initial_equity": "str",
    "final_equity": "str",
    "total_fees": "str",
    "total_funding": "str",
    "max_drawdown_pct": "Optional[float]",
    "sharpe": "Optional[float]",
    "sortino": "Optional[float]",
    "calmar": "Optional[float]",
    "cagr_pct": "Optional[float]",
    "profit_factor": "Optional[float]",
    "expectancy": "Optional[str]",
    "exposure_pct": "Optional[float]",
    "warnings": "List[str]",
    "page": "bool",  # Whether the report has a page.
    "data_sha256": "str",
    "config_sha256": "str",
    "result_sha256": "str",
    "assumptions": "List[str]",
    "config": "List[str]",  # The effective configuration of each strategy, as YAML.
    "time_ms": "List[int]",  # The times of the curve's points, at most a thousand.
    "equity": "List[str]",
})


class OneIntent(TypedDict):
    """The whole life of an intent."""

    schema: Literal[1]
    id: str
    at_ms: int
    strategy: str
    purpose: str  # Entry, exit, order, exit_order, stop_loss, take_profit, cancel, leverage.
    market: str
    symbol: str
    side: NotRequired[str]
    type: NotRequired[str]
    quantity: NotRequired[str]
    quote_amount: NotRequired[str]  # The amount of a spot purchase at market, which has no quantity.
    price: NotRequired[str]
    stop_price: NotRequired[str]
    last_price: NotRequired[str]  # The last price when the intent was derived.
    reason: NotRequired[str]
    outcome: str  # Derived, refused, approved, placed, acknowledged, refused_by_exchange, uncertain, or a placement's final state.
    rule: NotRequired[str]
    detail: NotRequired[str]
    client_order_id: NotRequired[str]
    order_id: NotRequired[int]
    checks: List[Verdict]  # One for each rule.
    steps: List[Step]
    order: Optional[Order]  # Null if it has no order.


class OneMarket(TypedDict):
    """A symbol's market now."""

    schema: Literal[1]
    market: str
    symbol: str
    price_tick: str
    quantity_tick: str
    min_notional: str
    max_notional: str
    tradable: bool
    max_leverage: int  # 0 on spot.
    strategy: str  # The strategy that trades it; empty for none.
    time_ms: int
    last_price: str
    open_24h: str
    high_24h: str
    low_24h: str
    volume_24h: float
    change_percent_24h: float
    bids: List[List[str]]  # Price and quantity, best first.
    asks: List[List[str]]
    trades: List[Trade]  # Newest first.
    funding: Optional[Funding]
    brackets: List[Bracket]


class OneOrder(TypedDict):
    """An order with its steps."""

    schema: Literal[1]
    client_order_id: str
    order_id: int  # 0 until acknowledged.
    strategy: str
    purpose: str
    key: NotRequired[str]  # The key of the order in the plan.
    market: str
    symbol: str
    side: str
    type: str
    state: str
    live: bool  # Whether it is in no final state.
    price: str
    stop_price: str
    quantity: str
    quote_amount: NotRequired[str]
    reduce_only: bool
    close_position: bool
    post_only: bool
    filled: str
    mean_price: str  # The mean price of the filled quantity; 0 when unknown.
    sent_ms: int
    ended_ms: NotRequired[int]
    reason: NotRequired[str]  # Why the order was refused or is uncertain.
    evidence: NotRequired[str]  # The evidence of the final state.
    why: NotRequired[str]  # Use reason.
    steps: List[Step]


class OneStrategy(TypedDict):
    """A strategy with its plan, its limits and its orders."""

    schema: Literal[1]
    name: str
    kind: str
    market: str
    symbol: str
    interval: str
    state: Literal["running", "warming_up", "halted", "quarantined", "contradicted", "unprotected", "refused", "latched", "failed", "hung"]
    state_reason: NotRequired[str]
    reason: NotRequired[str]  # The reason of the plan in force.
    target: str
    position: str
    entry_price: str
    liq_price: str
    last_price: str
    last_price_ms: int
    candle_close_ms: int  # The close time of the newest candle.
    unrealized: str  # The price difference of the position.
    realized: str  # The result since the strategy began, less fees and funding, by the ledger.
    profit: str  # The strategy's net result: realized and unrealized together.
    unrealized_ratio: float  # The unrealized profit as a share of the position's value at entry, without leverage.
    since_ms: NotRequired[int]  # The first fill of the position, or when it was first seen.
    equity: Optional[str]  # The equity attributed to the strategy; null while the value of its position is unknown.
    settled: bool
    protected: bool  # Whether a working stop covers the position.
    last_tick_ms: int
    next_tick_ms: int
    why: NotRequired[str]  # Use state_reason.
    plan: Plan  # The plan in force.
    latch: NotRequired[Literal["long", "short"]]
    limits: List[Limit]  # The strategy's own limits.
    degraded: List[Degraded]  # The declared states that apply to the strategy.
    config: str  # The effective configuration, as YAML.
    decisions: List[Decision]
    orders: List[Order]  # The live orders.


class OneTickPreview(TypedDict):
    """The preview of one strategy."""

    schema: Literal[1]
    strategy: str
    kind: str
    market: str
    symbol: str
    interval: str
    at_ms: int
    next_tick_ms: int  # 0 for none.
    data: PreviewData
    conditions: List[Condition]
    plan_in_force: Plan
    plan: Plan  # The plan after the tick.
    changes: bool  # Whether the tick would change the plan.
    latch: NotRequired[Literal["long", "short"]]
    steps: List[PreviewedIntent]
    blocks: List[Block]


class Order(TypedDict):
    """One placement."""

    client_order_id: str
    order_id: int  # 0 until acknowledged.
    strategy: str
    purpose: str
    key: NotRequired[str]  # The key of the order in the plan.
    market: str
    symbol: str
    side: str
    type: str
    state: str
    live: bool  # Whether it is in no final state.
    price: str
    stop_price: str
    quantity: str
    quote_amount: NotRequired[str]
    reduce_only: bool
    close_position: bool
    post_only: bool
    filled: str
    mean_price: str  # The mean price of the filled quantity; 0 when unknown.
    sent_ms: int
    ended_ms: NotRequired[int]
    reason: NotRequired[str]  # Why the order was refused or is uncertain.
    evidence: NotRequired[str]  # The evidence of the final state.
    why: NotRequired[str]  # Use reason.


class OrderList(TypedDict):
    schema: Literal[1]
    items: List[Order]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class Pair(TypedDict):
    """An order of one side and its match on the other, or nil without a match."""

    live: Optional[Execution]
    backtest: Optional[Execution]
    later_ms: int  # How much later the live order filled.
    slippage_pct: float  # In percent of the price; above 0 if the live price was worse.
    slippage_usdt: float  # The slippage of the live quantity.
    slippage_is_known: bool  # Whether both prices are known.


class Parity(TypedDict):
    """Parity compares a strategy's live trading with the backtest of the same time."""

    schema: Literal[1]
    strategy: str
    from_ms: int
    to_ms: int  # The end of the recorded candles.
    later: int  # The number of live orders after it, which are omitted.
    sentence: str
    pairs: List[Pair]
    matched: int
    live_only: int
    backtest_only: int
    slippage_pct: Optional[float]  # The mean of the pairs whose prices are known, weighted by quantity times price.
    slippage_usdt: float
    live_pnl: float  # The net result of the round trips that ended in the period.
    backtest_pnl: float  # The net result of the same round trips in the backtest.
    live_fees: float  # The fees of the live round trips.
    backtest_fees: float  # The fees of those in the backtest.
    cash: float  # The initial cash of both: the value of the market's wallet at the start.
    live_curve: ProfitCurve
    backtest_curve: ProfitCurve


class Plan(TypedDict):
    """The desired state of a strategy."""

    target: NotRequired[str]  # The target in words, such as "0.01 BTC-USDT" or "50 % of equity"; empty for none.
    leverage: NotRequired[int]
    orders: List[DesiredOrder]
    exits: List[DesiredOrder]
    stop_loss: NotRequired[str]
    take_profit: NotRequired[str]
    reason: NotRequired[str]
    memory: List[MemoryVariable]


class Plots(TypedDict):
    """The indicators that a strategy reads, over the candles it decides on."""

    schema: Literal[1]
    strategy: str
    interval: str
    open_ms: List[int]
    lines: List[Line]


class Position(TypedDict):
    """A position as the exchange reports it, and as the journal explains it. While the list is contradicted, the journal's position is shown."""

    strategy: str
    market: str
    symbol: str
    quantity: NotRequired[str]  # The quantity that botd acts on, with its sign; absent while the rules of its symbol are unknown.
    reported: NotRequired[str]  # The quantity that the exchange reports, if botd does not trust it.
    journal: NotRequired[str]  # The quantity that the journal explains, spot fees included.
    difference: str
    ignored: str  # The part of the position that is left to its owner.
    settled: bool
    quarantine: NotRequired[str]
    unread: NotRequired[Degraded]  # The state because of which the position is not read and its quantity is unknown.
    contradiction: NotRequired[Degraded]  # The state contradicted of its symbol: its cause, since when, and what ends it.
    entry_price: str
    last_price: str
    mark_price: NotRequired[str]
    liq_price: str
    liquidation_distance_ratio: Optional[float]  # Null when no price liquidates.
    notional: str
    unrealized: str  # The price difference of the position, at the last price.
    profit: str  # The net profit: unrealized, with the position's realized profit, fees and funding since it was opened.
    profit_ratio: Optional[float]  # The profit as a share of the value at entry, without leverage; null while that is unknown.
    leverage: int
    since_ms: NotRequired[int]
    protected: bool  # Whether a working stop covers it.
    unprotected_since_ms: NotRequired[int]  # Since when it has been without the stop of its plan.
    unprotected_ms: int  # The time unprotected since the start, at most.
    protection: List[Protection]
    stop_price: NotRequired[str]  # The price of the nearest working stop.
    stop_distance_ratio: Optional[float]  # The distance of the nearest working stop from the last price; null without one.
    reducing: str  # The sum of the quantities of open reduceOnly orders.


class PositionChange(TypedDict):
    """The event of a changed position."""

    at_ms: int
    strategy: str
    market: str
    symbol: str
    quantity: str
    entry_price: str
    last_price: str


class PositionList(TypedDict):
    schema: Literal[1]
    items: List[Position]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class PreviewData(TypedDict):
    """The data that the strategy decides on."""

    candles: int  # The number of processed candles.
    warmup: int
    open: NotRequired[str]  # The open of the newest closed candle.
    high: NotRequired[str]
    low: NotRequired[str]
    close: NotRequired[str]
    candle_close_ms: int
    last_price: str
    last_price_ms: int
    position: str
    entry_price: str
    equity: str  # The equity of the market's account.


class PreviewedIntent(TypedDict):
    """One intent that would be derived."""

    purpose: str
    side: NotRequired[str]
    type: NotRequired[str]
    quantity: NotRequired[str]
    quote_amount: NotRequired[str]  # The USDT to spend, on spot.
    price: NotRequired[str]
    stop_price: NotRequired[str]
    order_id: NotRequired[int]  # The order that a cancel cancels.
    reason: NotRequired[str]
    refused_by: NotRequired[str]  # The exchange's newest refusal of the same intent, and the time of the next try.
    outcome: Literal["approved", "refused", "waits"]
    rule: NotRequired[str]
    checks: List[Verdict]


class Problem(TypedDict):
    """The answer to every request that failed (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: Literal["host", "cross_origin", "credentials", "role", "login_delay", "rate_limit", "parameter", "body", "too_large", "not_found", "method", "not_quarantined", "not_possible", "idempotency_key", "exchange", "stopped", "unwritten", "stream", "internal"]  # The kind of failure, for programs.
    request_id: str


class ProfitCurve(TypedDict):
    """A strategy's profit since the beginning, at the close of candles, open positions included."""

    time_ms: List[int]
    profit: List[float]  # The net profit in USDT.


class Protection(TypedDict):
    """One stop or take-profit that is working on the exchange."""

    purpose: str
    state: str
    stop_price: str
    quantity: str  # Empty for the whole position.
    client_order_id: str


class Quarantine(TypedDict):
    """A symbol that waits for a person, with the evidence."""

    market: str
    symbol: str
    strategy: NotRequired[str]
    cause: str
    since: str
    position: str  # The position that the exchange reports.
    explained: str  # The position that botd's own fills and adopted quantities explain.
    ignored: str  # The part that is left to its owner.
    difference: str  # The unexplained quantity.
    unknown: List[Order]  # Placements whose outcome is uncertain.
    orders: List[ForeignOrder]  # Open orders that the journal does not know.
    adopt: List[str]  # The changes of --adopt.
    ignore: List[str]
    blocked: NotRequired[str]  # Why the quarantine cannot be resolved now.


class QuarantineList(TypedDict):
    schema: Literal[1]
    items: List[Quarantine]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class RearmRequest(TypedDict):
    """RearmRequest names the halt to end; empty means the account's."""

    strategy: NotRequired[str]  # The strategy to which it is limited.
    market: NotRequired[Literal["futures", "spot"]]  # Required where both markets trade the symbol.
    symbol: NotRequired[str]  # The symbol to which it is limited.
    reason: NotRequired[str]  # The reason that the journal records; required unless it is a dry run.
    dry_run: NotRequired[bool]  # Whether to answer with the effects, and do nothing.


class ReasonRequest(TypedDict):
    """The group of fields of every change: its reason, and whether it is a dry run."""

    reason: NotRequired[str]  # The reason that the journal records; required unless it is a dry run.
    dry_run: NotRequired[bool]  # Whether to answer with the effects, and do nothing.


class Reconcile(TypedDict):
    """The state of the reconciler."""

    schema: Literal[1]
    last_ms: int  # The end of the last complete round.
    failed: int  # The number of rounds in a row that failed.
    blind: bool
    rounds: List[Round]  # The last ones, newest first.
    quarantines: List[Quarantine]  # Symbols on which exchange and journal differ.
    unknown: List[Order]  # Placements whose outcome is uncertain.
    events: List[Notice]  # Adopted, found, stale, quarantine and contradicted, newest first.


class ReconcileSummary(TypedDict):
    """The result of the last rounds."""

    last_ms: int  # The end of the last complete round.
    failed: int  # The number of rounds in a row that failed.
    differences: int


class Refusal(TypedDict):
    """An intent that a rule refused. A refusal that repeats word for word is listed once."""

    id: str
    at_ms: int
    rule: str
    value: str
    limit: str
    hint: str
    strategy: str
    market: str
    symbol: str
    purpose: str
    side: NotRequired[str]
    type: NotRequired[str]
    quantity: NotRequired[str]
    price: NotRequired[str]
    stop_price: NotRequired[str]
    detail: str  # The refusal in words.
    intent: str  # The id of the intent, which GET /api/v1/intents/{id} returns with the verdict of every rule.


class RefusalList(TypedDict):
    schema: Literal[1]
    items: List[Refusal]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class Rejections(TypedDict):
    """The refusals of one rule since the start."""

    rule: str
    count: int
    last_ms: int
    strategy: str  # The strategy of the last refusal.
    symbol: str
    value: str
    limit: str
    hint: str


class ResolveAnswer(TypedDict):
    """The list of changes that the end of a quarantine makes."""

    schema: Literal[1]
    dry_run: bool
    market: str
    symbol: str
    decision: Literal["adopt", "ignore"]
    reason: str
    cause: str  # The cause of the quarantine.
    changes: List[str]  # The changes of botd's state; nothing is sent.


class ResolveRequest(TypedDict):
    """How a quarantine is to end."""

    market: NotRequired[str]  # Required where the symbol is quarantined in both markets.
    symbol: str
    decision: Literal["adopt", "ignore"]
    reason: NotRequired[str]  # The reason that the journal records; required unless it is a dry run.
    dry_run: NotRequired[bool]  # Whether to answer with the effects, and do nothing.


class Risk(TypedDict):
    """Everything the risk page shows."""

    schema: Literal[1]
    halts: List[Halt]
    levels: List[Level]
    limits: List[Limit]
    rejections: List[Rejections]  # The refusals of every rule.
    degraded: List[Degraded]
    history: List[Notice]  # Halts, breakers and limits, newest first.


class Round(TypedDict):
    """One round of the reconciler."""

    id: str
    at_ms: int
    complete: bool
    duration_ms: int
    acted: int  # The number of intents that were sent.


class RoundList(TypedDict):
    schema: Literal[1]
    items: List[Round]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class RunnableStrategy(TypedDict):
    """A configured strategy, with the parameters that a run may change."""

    name: str
    strategy: str
    market: str
    symbol: str
    interval: str
    params: List[StrategyParameter]


class Session(TypedDict):
    """The description of the sender and its permissions."""

    schema: Literal[1]
    role: Literal["viewer", "operator"]
    credential: Literal["socket", "token", "session"]
    ends: Optional[str]  # When a session that is not used ends; null for a token.
    mode: str
    instance: str
    makes_tokens: bool  # Whether the sender may create named tokens.
    by: Literal["socket", "token", "session"]  # Use credential.


class SetLimit(TypedDict):
    """The value that a person set for a limit."""

    value: str  # The value in the form of the configuration.
    set_by: str
    at: str
    reason: str
    by: str  # Use set_by.
    why: str  # Use reason.


class Setting(TypedDict):
    """One value of the configuration."""

    key: str  # The path of a value, such as risk.max_leverage or strategies.trend.params.fast.
    value: str
    origin: str  # Where the value comes from: file:line, default, or command line.


class Status(TypedDict):
    """Everything that an overview shows."""

    schema: Literal[1]
    version: str
    mode: str
    instance: str
    started: str
    uptime_s: int
    unclean_start: NotRequired[bool]  # Whether the run before this one ended without a clean stop.
    time: str  # The exchange's time.
    ready: bool
    checks: List[Check]
    event_id: str  # The event after which the stream continues this answer.
    equity: Optional[str]  # The equity of all markets that are traded; null while unknown.
    uncounted: List[Holding]  # Holdings of the spot wallet that do not count as equity, because botd did not buy them.
    futures_equity: str
    wallet: str
    available: str
    unrealized: str
    margin_used: str
    today: Day
    halted: NotRequired[str]  # The level of the account's halt.
    reason: NotRequired[str]
    blind: bool
    degraded: List[Degraded]  # The declared states in force.
    incidents: List[Incident]  # The open incidents, newest first.
    open_orders: int
    unsettled: int
    unsettled_since_ms: NotRequired[int]
    positions: int
    nearest_liquidation: Optional[Liquidation]
    reconcile: ReconcileSummary
    journal_head: Optional[JournalHead]  # Null without a journal.
    out_of_band_halt: Optional[LaneUse]  # The last halt without the engine; null for none since the start.
    strategies: List[Strategy]
    why: NotRequired[str]  # Use reason.
    kill_switch_beside_engine: Optional[LaneUse]  # Use out_of_band_halt.


class Step(TypedDict):
    """One step of an intent's life."""

    at_ms: int
    step: str  # Derived, checked, refused, journalled, sent, acknowledged, uncertain, fetched, withdrawn, settled.
    text: NotRequired[str]


class Strategy(TypedDict):
    """One strategy at a glance."""

    name: str
    kind: str
    market: str
    symbol: str
    interval: str
    state: Literal["running", "warming_up", "halted", "quarantined", "contradicted", "unprotected", "refused", "latched", "failed", "hung"]
    state_reason: NotRequired[str]
    reason: NotRequired[str]  # The reason of the plan in force.
    target: str
    position: str
    entry_price: str
    liq_price: str
    last_price: str
    last_price_ms: int
    candle_close_ms: int  # The close time of the newest candle.
    unrealized: str  # The price difference of the position.
    realized: str  # The result since the strategy began, less fees and funding, by the ledger.
    profit: str  # The strategy's net result: realized and unrealized together.
    unrealized_ratio: float  # The unrealized profit as a share of the position's value at entry, without leverage.
    since_ms: NotRequired[int]  # The first fill of the position, or when it was first seen.
    equity: Optional[str]  # The equity attributed to the strategy; null while the value of its position is unknown.
    settled: bool
    protected: bool  # Whether a working stop covers the position.
    last_tick_ms: int
    next_tick_ms: int
    why: NotRequired[str]  # Use state_reason.


class StrategyHaltRequest(TypedDict):
    """A halt of the strategy that the path names."""

    level: Literal["pause", "cancel", "flatten"]
    reason: NotRequired[str]  # The reason that the journal records; required unless it is a dry run.
    dry_run: NotRequired[bool]  # Whether to answer with the effects, and do nothing.


class StrategyList(TypedDict):
    schema: Literal[1]
    items: List[Strategy]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class StrategyParameter(TypedDict):
    """A parameter as it is configured."""

    name: str
    value: str
    help: str


class Sweep(TypedDict):
    """A sweep with a name; botd sweep show NAME prints all of it. The results of its trials are empty until some have ended and the sweep has ended or was interrupted."""

    name: str
    at: str  # When it was started, or, without a folder, when it was written.
    state: Literal["running", "interrupted", "done"]
    done: int  # The number of choices that have ended or were refused.
    total: int  # The number of choices, missing ones included; 0 if unknown.
    vary: List[str]  # The ranges, in the form of botd sweep run --vary.
    search: str
    sort: str
    page: bool  # Whether the sweep has a page.
    verdict: str
    strategy: str
    symbol: str
    interval: str
    candles: int
    split: Optional[str]  # The time before which the data chose the best; null without one.
    expected_max_sharpe: Optional[float]  # The Sharpe ratio of the best of as many trials by luck alone.
    trials: int
    refused: int  # The number of trials whose parameters the strategy does not accept.
    best: Dict[str, str]  # The parameters of the best.
    sharpe: Optional[float]  # The Sharpe ratio of the best, over the data that chose it.
    out_of_sample_sharpe: Optional[float]
    data_sha256: str
    sharpe_by_luck: Optional[float]  # Use expected_max_sharpe.
    unseen_sharpe: Optional[float]  # Use out_of_sample_sharpe.


class SweepList(TypedDict):
    schema: Literal[1]
    items: List[Sweep]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


SweepRequest = TypedDict("SweepRequest", {
    "strategy": "str",  # The name of a configured strategy.
    "vary": "List[str]",  # NAME=VALUE,VALUE or NAME=FROM..TO..STEP of a parameter, or of a key of the strategy's file.
    "where": "NotRequired[str]",  # A condition of the parameters, such as "fast < slow".
    "search": "NotRequired[str]",  # Grid, random or tpe; grid by default.
    "trials": "NotRequired[int]",  # The maximum number of trials.
    "seed": "NotRequired[int]",  # The seed of random and tpe; 1 by default.
    "sort": "NotRequired[str]",  # The figure to sort by; sharpe by default.
    "require": "NotRequired[str]",  # A condition of the results, such as "trades >= 30".
    "split": "NotRequired[str]",  # The share of the data that chooses the best, such as "70%"; the rest only validates.
    "file": "str",  # One of the choices of backtests.
    "from": "NotRequired[str]",  # A date or RFC 3339, in UTC.
    "to": "NotRequired[str]",
    "name": "NotRequired[str]",
    "dry_run": "NotRequired[bool]",
})


class SweepRun(TypedDict):
    """A process that was started here for a sweep, with its outcome."""

    sweep: str
    kind: Literal["run", "resume", "report"]
    job: NotRequired[str]  # The trial of a report.
    report: NotRequired[str]  # The name of the report among those of backtests.
    state: Literal["running", "done", "failed", "canceled"]
    error: NotRequired[str]
    started_by: str
    started_ms: int
    ended_ms: int  # 0 while it runs.
    by: str  # Use started_by.


class SweepRunList(TypedDict):
    schema: Literal[1]
    items: List[SweepRun]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class SweepStart(TypedDict):
    """The answer to a request that runs a sweep or a trial's report."""

    schema: Literal[1]
    dry_run: bool
    id: str  # The name of the sweep, or of the report of a trial.
    effects: List[str]
    run: Optional[SweepRun]  # Null when nothing was started.
    does: List[str]  # Use effects.


class TickPreview(TypedDict):
    """A preview of a strategy's next tick and of the round after it, by the present data, with the reasons. It changes nothing."""

    strategy: str
    kind: str
    market: str
    symbol: str
    interval: str
    at_ms: int
    next_tick_ms: int  # 0 for none.
    data: PreviewData
    conditions: List[Condition]
    plan_in_force: Plan
    plan: Plan  # The plan after the tick.
    changes: bool  # Whether the tick would change the plan.
    latch: NotRequired[Literal["long", "short"]]
    steps: List[PreviewedIntent]
    blocks: List[Block]


class TickPreviewList(TypedDict):
    schema: Literal[1]
    items: List[TickPreview]
    next: Optional[str]  # The value of `after` for the next page; null when there is nothing older.


class TokenRequest(TypedDict):
    """A request for a named token."""

    name: str
    role: Literal["viewer", "operator"]
    ends: NotRequired[str]


class Trade(TypedDict):
    """One public trade."""

    time_ms: int
    side: str  # The side of the taker.
    price: str
    quantity: str


class TransferRequest(TypedDict):
    """Money that came into a wallet from outside, or went out."""

    market: Literal["futures", "spot"]
    asset: str  # USDT, or the base asset of a spot strategy.
    amount: str  # Negative for a withdrawal.
    note: NotRequired[str]  # A note that the journal stores.
    strategy: NotRequired[str]  # On futures, the strategy whose result included it, if several trade.
    dry_run: NotRequired[bool]


class Verdict(TypedDict):
    """The verdict of one rule on an intent."""

    rule: str
    scope: NotRequired[str]  # The scope of a limit: account, account futures, symbol ..., strategy ...
    verdict: Literal["passed", "refused", "not_reached"]
    value: NotRequired[str]
    limit: NotRequired[str]
    hint: NotRequired[str]


class Version(TypedDict):
    """The version of the running botd."""

    schema: Literal[1]
    version: str
    revision: str
    go: str
    mode: str
    instance: str
    epoch: str  # Identifies this start.


class Operations:
    """Every operation of the API."""

    def _request(self, method: str, path: str, query: Mapping[str, Any], body: Optional[Mapping[str, Any]] = None, *,
                 key: Optional[str] = None, text: bool = False) -> Any:
        raise NotImplementedError

    def status(self) -> Status:
        """Everything an overview shows."""
        answer: Status = self._request("GET", "/api/v1/status", {})
        return answer

    def health(self) -> Health:
        """Every check that readiness depends on."""
        answer: Health = self._request("GET", "/api/v1/health", {})
        return answer

    def version(self) -> Version:
        """The version of botd that runs."""
        answer: Version = self._request("GET", "/api/v1/version", {})
        return answer

    def document(self) -> Dict[str, Any]:
        """This document."""
        answer: Dict[str, Any] = self._request("GET", "/api/v1/openapi.json", {})
        return answer

    def strategies(self) -> StrategyList:
        """All strategies at a glance."""
        answer: StrategyList = self._request("GET", "/api/v1/strategies", {})
        return answer

    def strategy(self, name: str) -> OneStrategy:
        """One strategy: its plan in force, limits, last decisions, live orders and configuration."""
        answer: OneStrategy = self._request("GET", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}", {})
        return answer

    def decisions(self, name: str, *, limit: Optional[int] = None, after: Optional[str] = None) -> DecisionList:
        """The decisions of a strategy, newest first, for as long as `retention.decisions` stores them. A page may be short even though there is a `next`, since it reads only a few of the stored files.

        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: DecisionList = self._request("GET", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}/decisions", {"limit": limit, "after": after})
        return answer

    def plots(self, name: str, *, from_: Optional[int] = None, to: Optional[int] = None, limit: Optional[int] = None) -> Plots:
        """The indicators that a built-in strategy reads, or that rules or a script call on the closing price, over the candles it decides on; none for kinds that read only prices.

        from_: First open time, milliseconds.
        to: Open times before this, milliseconds; now by default.
        limit: Maximum number of candles.
        """
        answer: Plots = self._request("GET", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}/plots", {"from": from_, "to": to, "limit": limit})
        return answer

    def parity(self, name: str, *, from_: Optional[int] = None, to: Optional[int] = None) -> Parity:
        """Compares a running strategy with a backtest over the candles recorded meanwhile, with its present configuration and the equity that its market's wallet had: each order next to its counterpart in the backtest, and both profits. It runs in this process, in parallel with trading, and is recomputed at most once in 15 seconds.

        from_: Milliseconds; the first fill by default.
        to: Milliseconds, exclusive; now by default.
        """
        answer: Parity = self._request("GET", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}/parity", {"from": from_, "to": to})
        return answer

    def explain(self, name: str) -> OneTickPreview:
        """Why a strategy trades or does not: data, conditions, plan, intents rule by rule with their figures, and what blocks it."""
        answer: OneTickPreview = self._request("GET", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}/explain", {})
        return answer

    def plan(self) -> TickPreviewList:
        """What the next tick of each strategy, and the round after it, would do, based on what is known now. Nothing is sent."""
        answer: TickPreviewList = self._request("GET", "/api/v1/plan", {})
        return answer

    def orders(self, *, state: Optional[str] = None, strategy: Optional[str] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> OrderList:
        """Placements, newest first; only live ones by default.

        state: live (default), ended, all, or one state such as filled.
        strategy: Only of this strategy.
        market: Only of this market.
        symbol: Only of this symbol.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: OrderList = self._request("GET", "/api/v1/orders", {"state": state, "strategy": strategy, "market": market, "symbol": symbol, "limit": limit, "after": after})
        return answer

    def order(self, id: str) -> OneOrder:
        """One placement with its steps, by client order id or order id."""
        answer: OneOrder = self._request("GET", f"/api/v1/orders/{urllib.parse.quote(id, safe='')}", {})
        return answer

    def fills(self, *, strategy: Optional[str] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, order: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> FillList:
        """Fills, newest first, including those of earlier runs.

        strategy: Only of this strategy.
        market: Only of this market.
        symbol: Only of this symbol.
        order: Only fills of this client order id.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: FillList = self._request("GET", "/api/v1/fills", {"strategy": strategy, "market": market, "symbol": symbol, "order": order, "limit": limit, "after": after})
        return answer

    def cancel_orders(self, body: Optional[CancelRequest] = None, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """Cancels the opening orders that match (all of them without a filter), and pauses their strategies so that none is placed again. The answer lists exactly what is sent; with dry_run nothing is sent. Orders that reduce or protect stay. Each order is a separate change in the journal.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", "/api/v1/orders/cancel", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def cancel_order(self, id: str, body: Optional[ReasonRequest] = None, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """Cancels one opening order, and pauses its strategy so that it is not placed again. The answer lists exactly what is sent; with dry_run nothing is sent. An order that reduces or protects is refused (409): no halt blocks those.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", f"/api/v1/orders/{urllib.parse.quote(id, safe='')}/cancel", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def close_position(self, market: str, symbol: str, body: Optional[ReasonRequest] = None, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """Closes the position of one symbol at market, reduceOnly, and halts its strategy at level flatten so that it is not opened again. The answer lists exactly what is sent, and what the strategy does afterwards; with dry_run nothing is done.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", f"/api/v1/positions/{urllib.parse.quote(market, safe='')}/{urllib.parse.quote(symbol, safe='')}/close", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def intents(self, *, strategy: Optional[str] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, outcome: Optional[str] = None, purpose: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> IntentList:
        """The intents derived since the start, newest first, each with its outcome.

        strategy: Only of this strategy.
        market: Only of this market.
        symbol: Only of this symbol.
        outcome: Only with this outcome.
        purpose: Only with this purpose.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: IntentList = self._request("GET", "/api/v1/intents", {"strategy": strategy, "market": market, "symbol": symbol, "outcome": outcome, "purpose": purpose, "limit": limit, "after": after})
        return answer

    def intent(self, id: str) -> OneIntent:
        """The life of one intent: every rule with its figures, and every step. By its id in the list, or by a client order id, including those of earlier runs."""
        answer: OneIntent = self._request("GET", f"/api/v1/intents/{urllib.parse.quote(id, safe='')}", {})
        return answer

    def refusals(self, *, rule: Optional[str] = None, strategy: Optional[str] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> RefusalList:
        """Intents that a rule refused in this run, newest first. Identical refusals are listed once.

        rule: Only refusals by this rule.
        strategy: Only of this strategy.
        market: Only of this market.
        symbol: Only of this symbol.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: RefusalList = self._request("GET", "/api/v1/risk/rejections", {"rule": rule, "strategy": strategy, "market": market, "symbol": symbol, "limit": limit, "after": after})
        return answer

    def positions(self) -> PositionList:
        """Open positions as the exchange reports them, with what the journal explains and what protects them."""
        answer: PositionList = self._request("GET", "/api/v1/positions", {})
        return answer

    def closed_positions(self, *, strategy: Optional[str] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> ClosedPositionList:
        """Closed positions, newest first, whoever opened them, including those of earlier runs. On spot, the quantities that a strategy bought and sold again.

        strategy: Only of this strategy.
        market: Only of this market.
        symbol: Only of this symbol.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: ClosedPositionList = self._request("GET", "/api/v1/positions/history", {"strategy": strategy, "market": market, "symbol": symbol, "limit": limit, "after": after})
        return answer

    def trades(self, *, strategy: Optional[str] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> ClosedPositionList:
        """Round trips of strategies, from flat to flat, net of fees and funding, newest first, including those of earlier runs. A trip is listed once its amounts are booked.

        strategy: Only of this strategy.
        market: Only of this market.
        symbol: Only of this symbol.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: ClosedPositionList = self._request("GET", "/api/v1/trades", {"strategy": strategy, "market": market, "symbol": symbol, "limit": limit, "after": after})
        return answer

    def account(self) -> Account:
        """The balances of both wallets."""
        answer: Account = self._request("GET", "/api/v1/account", {})
        return answer

    def equity(self, *, from_: Optional[int] = None, to: Optional[int] = None, step: Optional[int] = None) -> EquitySeries:
        """Equity over time, in columns: one point per minute for the last week, one per hour before that, with starts, halts and limits as marks.

        from_: Milliseconds, inclusive.
        to: Milliseconds, exclusive.
        step: Milliseconds between points; increased if the answer would have more than 5000.
        """
        answer: EquitySeries = self._request("GET", "/api/v1/equity", {"from": from_, "to": to, "step": step})
        return answer

    def candles(self, *, symbol: str, market: Optional[Literal["futures", "spot"]] = None, interval: str, from_: Optional[int] = None, to: Optional[int] = None, limit: Optional[int] = None) -> Candles:
        """Candles in columns, oldest first: the last `limit` before `to`, or those from `from`. The exchange records them; final ones are cached.

        symbol: The symbol.
        market: futures by default.
        interval: 1m, 5m, 1h, 1d, ...
        from_: First open time, milliseconds.
        to: Open times before this, milliseconds; now by default.
        limit: Maximum number of candles.
        """
        answer: Candles = self._request("GET", "/api/v1/candles", {"symbol": symbol, "market": market, "interval": interval, "from": from_, "to": to, "limit": limit})
        return answer

    def symbols(self, *, market: Optional[Literal["futures", "spot"]] = None) -> ListedSymbolList:
        """The symbols that the exchange lists, and which strategy trades each.

        market: Only of this market.
        """
        answer: ListedSymbolList = self._request("GET", "/api/v1/market/symbols", {"market": market})
        return answer

    def market(self, market: str, symbol: str) -> OneMarket:
        """A symbol's market now: ticker, book, trades, funding, margin brackets."""
        answer: OneMarket = self._request("GET", f"/api/v1/market/{urllib.parse.quote(market, safe='')}/{urllib.parse.quote(symbol, safe='')}", {})
        return answer

    def risk(self) -> Risk:
        """Halts, limits with their utilization, refusals by rule, and the history of halts and breaches."""
        answer: Risk = self._request("GET", "/api/v1/risk", {})
        return answer

    def limits(self) -> LimitList:
        """Every limit with its utilization."""
        answer: LimitList = self._request("GET", "/api/v1/risk/limits", {})
        return answer

    def set_limits(self, body: LimitsRequest, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Change:
        """Sets limits of the account or of a strategy tighter than the configuration does, never looser. They survive restarts, and end when they are reset or the configuration is as tight.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: Change = self._request("PUT", "/api/v1/risk/limits", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def halt(self, body: HaltRequest, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """The kill switch, for the account or a part of it. The answer lists exactly what is sent; with dry_run nothing is sent.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", "/api/v1/risk/halt", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def rearm(self, body: Optional[RearmRequest] = None, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """Ends a halt. The answer lists what ends, and what still blocks trading.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", "/api/v1/risk/rearm", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def pause_strategy(self, name: str, body: Optional[ReasonRequest] = None, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """Nothing opens for this strategy; exits and stops continue.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}/pause", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def stop_strategy(self, name: str, body: Optional[ReasonRequest] = None, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """Nothing opens for this strategy, and its resting opening orders are canceled; exits and stops continue.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}/stop", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def flatten_strategy(self, name: str, body: Optional[ReasonRequest] = None, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """Nothing opens for this strategy, its opening orders are canceled and its position is closed at market.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}/flatten", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def resume_strategy(self, name: str, body: Optional[ReasonRequest] = None, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """Ends the halt of this strategy, and releases its latch.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}/resume", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def halt_strategy(self, name: str, body: StrategyHaltRequest, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> HaltAnswer:
        """The kill switch for only this strategy.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: HaltAnswer = self._request("POST", f"/api/v1/strategies/{urllib.parse.quote(name, safe='')}/halt", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def reconcile(self) -> Reconcile:
        """The latest rounds, and all unexplained differences."""
        answer: Reconcile = self._request("GET", "/api/v1/reconcile", {})
        return answer

    def round(self, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Change:
        """Begins a round now.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: Change = self._request("POST", "/api/v1/reconcile", {"dry_run": dry_run}, key=idempotency_key or "")
        return answer

    def rounds(self, *, complete: Optional[bool] = None, limit: Optional[int] = None, after: Optional[str] = None) -> RoundList:
        """The last rounds of this run, newest first.

        complete: Only rounds that read everything, or only the others.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: RoundList = self._request("GET", "/api/v1/reconcile/runs", {"complete": complete, "limit": limit, "after": after})
        return answer

    def differences(self, *, kind: Optional[Literal["quarantine", "adopted", "ignored", "found", "unexplained"]] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, open: Optional[bool] = None, limit: Optional[int] = None, after: Optional[str] = None) -> DifferenceList:
        """Each difference between exchange and journal, and how it was resolved: newest first, including those of earlier runs.

        kind: Only of this kind.
        market: Only of this market.
        symbol: Only of this symbol.
        open: Only quarantines that wait for a person, or only all others.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: DifferenceList = self._request("GET", "/api/v1/reconcile/differences", {"kind": kind, "market": market, "symbol": symbol, "open": open, "limit": limit, "after": after})
        return answer

    def quarantines(self) -> QuarantineList:
        """Symbols that wait for a person, with the evidence and what each decision would change."""
        answer: QuarantineList = self._request("GET", "/api/v1/reconcile/quarantines", {})
        return answer

    def resolve(self, body: ResolveRequest, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> ResolveAnswer:
        """Ends a quarantine, by a person's decision.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: ResolveAnswer = self._request("POST", "/api/v1/reconcile/resolve", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def transfer(self, body: TransferRequest, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Change:
        """Books a deposit, or (negative) a withdrawal, that botd did not recognize: neither a gain nor a loss.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: Change = self._request("POST", "/api/v1/ledger/transfer", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def notices(self, *, kind: Optional[str] = None, severity: Optional[Literal["info", "warning", "error"]] = None, strategy: Optional[str] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> NoticeList:
        """Notices for people, newest first, since the start.

        kind: Only of this kind.
        severity: Only of this severity.
        strategy: Only of this strategy.
        market: Only of this market.
        symbol: Only of this symbol.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: NoticeList = self._request("GET", "/api/v1/notices", {"kind": kind, "severity": severity, "strategy": strategy, "market": market, "symbol": symbol, "limit": limit, "after": after})
        return answer

    def incidents(self, *, state: Optional[Literal["open", "closed"]] = None, kind: Optional[str] = None, severity: Optional[Literal["warning", "critical"]] = None, strategy: Optional[str] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> IncidentList:
        """Incidents, one per cause, newest first, across restarts: the open ones and those that have ended.

        state: Only open or only closed ones.
        kind: Only of this kind.
        severity: Only of this severity.
        strategy: Only of this strategy.
        market: Only of this market.
        symbol: Only of this symbol.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: IncidentList = self._request("GET", "/api/v1/incidents", {"state": state, "kind": kind, "severity": severity, "strategy": strategy, "market": market, "symbol": symbol, "limit": limit, "after": after})
        return answer

    def audit(self, *, kind: Optional[str] = None, actor: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> AuditList:
        """Who changed what, newest first, from the journal: requests of people and botd's own actions.

        kind: Only of this kind.
        actor: Only by this actor.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: AuditList = self._request("GET", "/api/v1/audit", {"kind": kind, "actor": actor, "limit": limit, "after": after})
        return answer

    def backtests(self) -> BacktestList:
        """Reports of backtests in `data_dir/backtests`, newest first, at most 500."""
        answer: BacktestList = self._request("GET", "/api/v1/backtests", {})
        return answer

    def start_backtest(self, body: BacktestRequest, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> BacktestStart:
        """Runs a backtest in this process, in parallel with trading: one at a time, on at most half a core, within an hour, of at most `max_candles` candles and 200000 fills. The topic `backtest` reports its progress; its report is added to those in `data_dir/backtests`.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: BacktestStart = self._request("POST", "/api/v1/backtests", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def backtest(self, id: str) -> OneBacktest:
        """One report, with its assumptions, its configuration and its equity curve."""
        answer: OneBacktest = self._request("GET", f"/api/v1/backtests/{urllib.parse.quote(id, safe='')}", {})
        return answer

    def backtest_page(self, id: str) -> str:
        """The page of a report, in a sandbox: its scripts run, but it has no origin, so that it can reach neither the API nor a cookie."""
        answer: str = self._request("GET", f"/api/v1/backtests/{urllib.parse.quote(id, safe='')}/report", {}, text=True)
        return answer

    def backtest_choices(self) -> BacktestChoices:
        """The possible inputs of a backtest: the configured strategies, and the files of candles: those that the daemon recorded (`recorded/...`) and those in `data_dir/candles` (`candles/...`)."""
        answer: BacktestChoices = self._request("GET", "/api/v1/backtests/choices", {})
        return answer

    def backtest_runs(self) -> BacktestRunList:
        """The backtests started here since botd started, newest first, at most 20."""
        answer: BacktestRunList = self._request("GET", "/api/v1/backtests/runs", {})
        return answer

    def cancel_backtest(self, id: str, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Change:
        """Cancels a backtest that is running. It leaves no report.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: Change = self._request("POST", f"/api/v1/backtests/runs/{urllib.parse.quote(id, safe='')}/cancel", {"dry_run": dry_run}, key=idempotency_key or "")
        return answer

    def sweeps(self) -> SweepList:
        """Named sweeps in `data_dir/sweeps`, from `botd sweep run --name NAME` and started here, newest first, at most 100."""
        answer: SweepList = self._request("GET", "/api/v1/sweeps", {})
        return answer

    def start_sweep(self, body: SweepRequest, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> SweepStart:
        """Starts a sweep of a configured strategy, as `botd sweep run` in a process of its own: with the lowest priority, on half of botd's processors at most and each of them half of the time, with a bound on its memory. One process at a time, for a day at most, and at most 10000 trials.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: SweepStart = self._request("POST", "/api/v1/sweeps", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def sweep_runs(self) -> SweepRunList:
        """The sweeps and reports of trials that were started here since botd started, newest first, at most 20."""
        answer: SweepRunList = self._request("GET", "/api/v1/sweeps/runs", {})
        return answer

    def sweep_page(self, id: str) -> str:
        """The page of a sweep that has ended or was interrupted, in a sandbox like the page of a report; only the dashboard may show it in a frame."""
        answer: str = self._request("GET", f"/api/v1/sweeps/{urllib.parse.quote(id, safe='')}/report", {}, text=True)
        return answer

    def resume_sweep(self, id: str, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> SweepStart:
        """Runs the missing trials of a sweep, under the same bounds as a sweep that is started here.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: SweepStart = self._request("POST", f"/api/v1/sweeps/{urllib.parse.quote(id, safe='')}/resume", {"dry_run": dry_run}, key=idempotency_key or "")
        return answer

    def cancel_sweep(self, id: str, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Change:
        """Cancels a running sweep, started here or on the command line of this machine. Finished trials are saved, and resume runs the rest.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: Change = self._request("POST", f"/api/v1/sweeps/{urllib.parse.quote(id, safe='')}/cancel", {"dry_run": dry_run}, key=idempotency_key or "")
        return answer

    def report_trial(self, id: str, job: str, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> SweepStart:
        """Runs one trial of a sweep again over all the candles, in a process of its own as a sweep, and adds its report to those in `data_dir/backtests`. A report that already exists is answered at once. `job` is the trial's `job_sha256`.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: SweepStart = self._request("POST", f"/api/v1/sweeps/{urllib.parse.quote(id, safe='')}/trials/{urllib.parse.quote(job, safe='')}/report", {"dry_run": dry_run}, key=idempotency_key or "")
        return answer

    def config(self) -> Configuration:
        """The configuration in force, without secrets, and where each value comes from."""
        answer: Configuration = self._request("GET", "/api/v1/config", {})
        return answer

    def reload(self, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Change:
        """Reads the configuration again and applies all of its changes or none, as SIGHUP does. A dry run returns the changes, or the errors.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: Change = self._request("POST", "/api/v1/config/reload", {"dry_run": dry_run}, key=idempotency_key or "")
        return answer

    def backup(self, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> BackupAnswer:
        """Copies the journal into a new file in data_dir/MODE/backups, while it is written, and verifies the whole copy. The newest 7 such copies are stored. The request ends when the backup is made; if the client disconnects, the backup is abandoned.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: BackupAnswer = self._request("POST", "/api/v1/backup", {"dry_run": dry_run}, key=idempotency_key or "")
        return answer

    def test_channels(self, body: Optional[ChannelRequest] = None, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> ChannelAnswer:
        """Sends a test message through every channel of notify.channels, or through one, and returns the result of each, within 20 s.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: ChannelAnswer = self._request("POST", "/api/v1/notifications/test", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def logs(self, *, level: Optional[Literal["debug", "info", "warn", "error"]] = None, event: Optional[str] = None, text: Optional[str] = None, strategy: Optional[str] = None, market: Optional[Literal["futures", "spot"]] = None, symbol: Optional[str] = None, limit: Optional[int] = None, after: Optional[str] = None) -> LogLineList:
        """Searches the newest 4,000 log lines, which the daemon holds in memory; newest first.

        level: This level and more severe ones.
        event: This event; if it ends in a dot, all that begin with it.
        text: Lines whose message contains this, ignoring case.
        strategy: Only of this strategy.
        market: Only of this market.
        symbol: Only of this symbol.
        limit: Maximum number of items.
        after: The `next` value of the previous page: only older items.
        """
        answer: LogLineList = self._request("GET", "/api/v1/logs", {"level": level, "event": event, "text": text, "strategy": strategy, "market": market, "symbol": symbol, "limit": limit, "after": after})
        return answer

    def log_level(self) -> LogLevel:
        """The level below which nothing is written."""
        answer: LogLevel = self._request("GET", "/api/v1/log-level", {})
        return answer

    def set_log_level(self, body: LevelRequest, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Change:
        """Changes the level while botd runs.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: Change = self._request("PUT", "/api/v1/log-level", {"dry_run": dry_run}, body, key=idempotency_key or "")
        return answer

    def session(self) -> Session:
        """The caller's name and role."""
        answer: Session = self._request("GET", "/api/v1/session", {})
        return answer

    def tokens(self) -> NamedTokenList:
        """The named tokens, in the order of their creation. The tokens themselves are not stored."""
        answer: NamedTokenList = self._request("GET", "/api/v1/tokens", {})
        return answer

    def create_token(self, body: TokenRequest) -> NewToken:
        """Creates a token with a name, a role and an expiry, and shows it this once. Over the unix socket, and in a session that the link of `botd login` opened (ends is then required, within 366 days): a token cannot create others."""
        answer: NewToken = self._request("POST", "/api/v1/tokens", {}, body)
        return answer

    def revoke_token(self, name: str, *, dry_run: Optional[bool] = None, idempotency_key: Optional[str] = None) -> Change:
        """Revokes a named token, and ends the sessions that it opened.

        dry_run: Returns exactly what would be done, and does nothing.
        """
        answer: Change = self._request("DELETE", f"/api/v1/tokens/{urllib.parse.quote(name, safe='')}", {"dry_run": dry_run}, key=idempotency_key or "")
        return answer
