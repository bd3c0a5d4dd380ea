"""The displays of a program that runs without a session: see display.py."""
import base64
import json
import os
import sys
import threading
import time
import tokenize

import belljar_bundles as bundles
import belljar_errors as errors
import belljar_session
from belljar_channel import CLEAR, CUT, DATA, DISPLAY, DISPLAY_ID, METADATA, MIME, PRIVATE_BUILTINS, RESULT, UPDATE, WAIT

__builtins__ = PRIVATE_BUILTINS

REPORT = ".belljar-report.json"
REPORT_BYTES_MAX = 2900 << 10  # reports.h has a little more
DISPLAYS_MAX = 256
JSON_DEPTH_MAX = 16
WRITE_EVERY_S = 0.25  # so a program that is killed has most of its displays
INTERRUPTED = 130


def depth_of(value):
    deepest, level = 0, [value]
    while level and deepest <= JSON_DEPTH_MAX:
        deepest += 1
        level = [item for one in level if isinstance(one, (dict, list)) for item in (one.values() if isinstance(one, dict) else one)]
    return deepest


class Displays:
    """In place of a channel: the displays as they are to be shown at the end."""

    def __init__(self):
        self.path = os.path.join(os.getcwd(), REPORT)
        self.items, self.sizes, self.cut, self.clearing, self.written = [], [], False, False, 0.0

    def send(self, kind, _request, fields):
        if kind == CLEAR:
            self.clearing = True
            if not any(tag == WAIT for tag, _ in fields):
                self.clear()
        elif kind in (DISPLAY, RESULT, UPDATE):
            self.add(self.item(fields), kind == UPDATE)

    def wait_until_taken(self):
        pass

    def clear(self):
        self.items, self.sizes, self.cut, self.clearing = [], [], False, False

    @staticmethod
    def item(fields):
        data, item, mime = {}, {}, None
        for tag, value in fields:
            if tag == MIME:
                mime = value
            elif tag == DATA:
                if bundles.is_json(mime):
                    parsed = json.loads(value)
                    if depth_of(parsed) > JSON_DEPTH_MAX:
                        item["cut"] = True
                        continue
                    data[mime] = parsed
                elif bundles.is_binary(mime):
                    data[mime] = base64.b64encode(value).decode()
                else:
                    data[mime] = value.decode("utf-8", "replace")
            elif tag == DISPLAY_ID:
                item["display_id"] = value
            elif tag == METADATA:
                item["metadata"] = json.loads(value)
            elif tag == CUT:
                item["cut"] = True
        item["data"] = data
        return item

    def add(self, item, update):
        if self.clearing:
            self.clear()
        text = json.dumps(item)
        if update:
            for at, known in enumerate(self.items):
                if known.get("display_id") == item.get("display_id"):
                    if sum(self.sizes) - self.sizes[at] + len(text) <= REPORT_BYTES_MAX:
                        self.items[at], self.sizes[at] = item, len(text)
            return
        if len(self.items) >= DISPLAYS_MAX or sum(self.sizes) + len(text) > REPORT_BYTES_MAX:
            if not self.cut:
                self.cut = True
                text = f"[displays were left out: a run has at most {DISPLAYS_MAX} of together {REPORT_BYTES_MAX:,} bytes]"
                item = {"data": {"text/plain": text}, "cut": True}
                self.items[DISPLAYS_MAX - 1:] = [item]
                self.sizes[DISPLAYS_MAX - 1:] = [len(text)]
            return
        self.items.append(item)
        self.sizes.append(len(text))
        if time.monotonic() - self.written > WRITE_EVERY_S:
            self.write()

    def write(self):
        try:
            with open(self.path + ".new", "w", encoding="utf-8") as f:
                json.dump({"displays": self.items}, f)
            os.replace(self.path + ".new", self.path)
        except (OSError, ValueError) as e:
            print(f"the displays cannot be written: {e}", file=sys.stderr)
        self.written = time.monotonic()


def status_of(error):
    """As the interpreter ends for this error, which is printed."""
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            return (error.code or 0) & 0xff
        print(error.code, file=sys.stderr)
        return 1
    print(errors.text_of(type(error), error, error.__traceback__), file=sys.stderr)
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def run(argv):
    belljar_session.set_environment()
    path = os.path.abspath(argv[0])
    with tokenize.open(path) as f:
        code = f.read()
    session = getattr(belljar_session, "made", None) or belljar_session.make()
    session.prepare(Displays())
    session.request = 1
    sys.argv[:] = argv
    sys.path.insert(0, os.path.dirname(path))
    shell = session.shell
    shell.user_ns["__file__"] = path
    shell.compile.file = path
    try:
        outcome = shell.run_cell(code, store_history=True)
        error = outcome.error_before_exec or outcome.error_in_exec
    except BaseException as e:
        error = e
    status = status_of(error)
    session.channel.write()
    try:
        threading._shutdown()
    except BaseException:
        status = INTERRUPTED
    session.end(status)
