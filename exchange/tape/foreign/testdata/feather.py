"""Writes the feather files beside it, with pandas 3.1.1 and pyarrow 26.0.1: python3 feather.py"""

import pandas
import pyarrow
from pyarrow import feather

two = pandas.DataFrame(
    [
        ["2024-01-01 00:00", 42283.58, 42554.57, 42261.02, 42475.23, 1271.68],
        ["2024-01-01 01:00", 42475.23, 42775.00, 42431.65, 42613.56, 1196.38],
    ],
    columns=["date", "open", "high", "low", "close", "volume"],
)
two["date"] = pandas.to_datetime(two["date"], utc=True).astype("datetime64[ms, UTC]")

# As freqtrade does: freqtrade/data/history/datahandlers/featherdatahandler.py, ohlcv_store.
many = pandas.concat([two] * 400, ignore_index=True)
many["date"] = pandas.date_range("2024-01-01", periods=800, freq="h", tz="UTC").astype("datetime64[ms, UTC]")
many.reset_index(drop=True).to_feather("freqtrade.feather", compression_level=9, compression="lz4")

# All that a candle file may have beside: text, whole numbers, floats of 4 bytes, flags, dates, nothing at all, a gap.
mixed = pyarrow.table(
    {
        "symbol": pyarrow.array(["BTC, USDT", "BTC, USDT"]),
        "exchange": pyarrow.array(["Binance", None], pyarrow.large_string()),
        "final": pyarrow.array([True, False]),
        "remark": pyarrow.nulls(2),
        "open_time": pyarrow.array(two["date"], pyarrow.timestamp("ns")),
        "open": two["open"],
        "high": two["high"],
        "low": two["low"],
        "close": pyarrow.array([42475.23, None]),
        "volume": pyarrow.array([1271.68, 1196.38], pyarrow.float32()),
        "trades": pyarrow.array([47134, 46893], pyarrow.int32()),
        "day": pyarrow.array([19723, 19723], pyarrow.date32()),
        "small": pyarrow.array([-1, 1], pyarrow.int8()),
    }
)
feather.write_feather(mixed, "zstd.feather", compression="zstd")
feather.write_feather(mixed, "plain.feather", compression="uncompressed", chunksize=1)

feather.write_feather(two.assign(time=two["date"]).drop(columns="date").astype({"volume": "category"}), "categories.feather")
