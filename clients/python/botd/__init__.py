"""Strategies for botd in Python, a typed client of its API, and its results as tables.

Nothing but the standard library is needed; tables come as pandas or polars frames where asked for.
"""
from .client import ApiError, Client, Event
from .results import BotdError, Report, Sweep, read_report, read_sweep, run_backtest
from .strategy import (
    Candle,
    Order,
    Parameter,
    Plan,
    Setting,
    Strategy,
    View,
    price_level,
    run,
    share_of_entry,
)

__all__ = [
    "ApiError", "BotdError", "Candle", "Client", "Event", "Order", "Parameter", "Plan", "Report", "Setting", "Strategy", "Sweep",
    "View", "price_level", "read_report", "read_sweep", "run", "run_backtest", "share_of_entry",
]
