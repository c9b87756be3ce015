"""A strategy for botd in Python, with nothing but the standard library (docs/process.md).

Long while the fast average of closes is above the slow one, flat otherwise.
"""
import json
import os
import struct
import sys
import traceback

# What the program prints goes to stderr: stdout belongs to the protocol.
questions = sys.stdin.buffer
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)


def read():
    head = questions.read(4)
    if len(head) < 4:
        sys.exit(0)  # botd no longer needs the program
    (length,) = struct.unpack(">I", head)
    return json.loads(questions.read(length))


def write(message):
    text = json.dumps(message).encode()
    answers.write(struct.pack(">I", len(text)) + text)
    answers.flush()


class Cross:
    parameters = [
        {"name": "fast", "kind": "int", "default": "5", "min": "1", "help": "candles of the fast average"},
        {"name": "slow", "kind": "int", "default": "20", "min": "2", "help": "candles of the slow average"},
    ]

    def __init__(self, hello):
        values = hello.get("params") or {}
        self.fast = int(values.get("fast", 5))
        self.slow = int(values.get("slow", 20))
        self.size = hello.get("size") or {"equity": "1"}
        self.closes = []
        self.view = {}

    def candle(self, row):
        self.closes = (self.closes + [row[4]])[-self.slow:]

    def decide(self, now_ms, last):
        if len(self.closes) < self.slow:
            return {"target": {"quantity": "0"}, "reason": "too few candles"}
        fast = sum(self.closes[-self.fast:]) / self.fast
        slow = sum(self.closes) / self.slow
        if fast > slow:
            return {"target": self.size, "reason": "fast above slow"}
        return {"target": {"quantity": "0"}, "reason": "fast below slow"}


def main():
    hello = read()
    strategy = Cross(hello)
    write({"type": "hello", "protocol": 1, "warmup": strategy.slow, "parameters": Cross.parameters})
    while True:
        question = read()
        for row in question.get("candles") or []:
            strategy.candle(row)
        if "view" in question:
            strategy.view = question["view"]
        if question["type"] == "decide":
            write({"type": "plan", "plan": strategy.decide(question["now_ms"], question.get("last"))})


try:
    main()
except Exception as failure:
    write({"type": "error", "message": str(failure), "trace": traceback.format_exc().splitlines()})
    sys.exit(1)
