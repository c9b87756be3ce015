"""A program that takes a position and then misbehaves as its argument says. It is for tests."""
import json
import os
import socket
import struct
import sys
import time


def read():
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        sys.exit(0)
    return json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))


def write(message):
    text = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(text)) + text)
    sys.stdout.buffer.flush()


def reach():
    """Tries what no strategy may do, and returns what succeeded."""
    reached = []
    try:
        socket.socket().close()
        reached.append("a socket")
    except OSError:
        pass
    for path in ("../botd.yaml", "/etc/passwd", "../../data"):
        try:
            os.listdir(path) if os.path.isdir(path) else open(path).read()
            reached.append(path)
        except OSError:
            pass
    try:
        with open("written", "w") as file:
            file.write("x" * 10_000)
        reached.append("a file to write")
    except OSError:
        pass
    try:
        os.kill(os.getppid(), 0)
        reached.append("botd's process")
    except OSError:
        pass
    return reached + [name for name in os.environ if name.startswith("BOTD")]


def misbehave(how):
    if how == "hang":
        while True:
            pass
    if how == "late":
        time.sleep(60)  # longer than a deadline, and what a start may take
    if how == "memory":
        text = "a text"
        while True:
            text += text
    if how == "garbage":
        print("Traceback (most recent call last): it looks like an answer", flush=True)
    if how == "stdout":
        while True:
            sys.stdout.buffer.write(struct.pack(">I", 1 << 20) + b" " * (1 << 20))
    if how == "stderr":
        while True:
            sys.stderr.write("x" * 1000 + "\n")
    if how == "exit":
        sys.exit("it has had enough")
    if how == "raise":
        write({"type": "error", "message": "division by zero", "trace": ["line 3 in decide"]})
        sys.exit(1)


read()
write({"type": "hello", "protocol": 1, "warmup": 0})
position = 0.0
while True:
    question = read()
    position = float(question.get("view", {}).get("position", {}).get("quantity", position))
    if question["type"] == "decide":
        if position != 0:
            misbehave(sys.argv[1])
        reason = "reached: " + ", ".join(reach()) if sys.argv[1] == "reach" else ""
        write({"type": "plan", "plan": {"target": {"quantity": "0.01"}, "reason": reason}})
