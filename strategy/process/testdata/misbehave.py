"""A program that takes a position and then misbehaves as its argument requests. It is for tests."""
import ctypes
import json
import os
import platform
import resource
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


def raw(numbers, *arguments):
    """Makes a system call that Python has no name for; numbers has it by machine."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(numbers[platform.machine()]), *arguments) != 0:
        raise OSError(ctypes.get_errno(), "refused")


def settings(process):
    """What changes the limits and the priority of a process. Each call leaves them as they are."""
    nice = os.getpriority(os.PRIO_PROCESS, process)
    attributes = struct.pack("=IIQiIQQQ", 48, os.SCHED_OTHER, 0, nice, 0, 0, 0, 0)
    return {
        "limits": lambda: resource.prlimit(process, resource.RLIMIT_NOFILE),
        "policy": lambda: os.sched_setscheduler(process, os.SCHED_OTHER, os.sched_param(0)),
        "policy's parameter": lambda: os.sched_setparam(process, os.sched_param(0)),
        "policy's attributes": lambda: raw({"x86_64": 314, "aarch64": 274}, process, attributes, 0),
        "processors": lambda: os.sched_setaffinity(process, os.sched_getaffinity(process)),
        "priority": lambda: os.setpriority(os.PRIO_PROCESS, process, nice),
        "group's priority": lambda: os.setpriority(os.PRIO_PGRP, os.getpgid(process), nice),
        "user's priority": lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_USER, 0)),
        "priority of reads": lambda: raw({"x86_64": 251, "aarch64": 30}, 1, process, 0),
    }


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
    for name, change in settings(os.getppid()).items():
        try:
            change()
            reached.append("botd's " + name)
        except OSError:
            pass
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except OSError:
        reached.append("not even its own limits")
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
if sys.argv[1] == "slow":
    time.sleep(3)  # longer than a start waits
write({"type": "hello", "protocol": 1, "warmup": 20 if sys.argv[1] == "slow" else 0})
position = 0.0
while True:
    question = read()
    position = float(question.get("view", {}).get("position", {}).get("quantity", position))
    if question["type"] == "decide":
        if position != 0:
            misbehave(sys.argv[1])
        reason = "reached: " + ", ".join(reach()) if sys.argv[1] == "reach" else ""
        write({"type": "plan", "plan": {"target": {"quantity": "0.01"}, "reason": reason}})
