"""HTTP/1.1 as far as the service speaks it: heads of requests, heads of answers. Strict, and without any waiting."""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional
from urllib.parse import quote

from ._config import Config
from .errors import ProtocolError

HEAD_MAX = 64 << 10
LINE_MAX = 1 << 10  # of the size of a chunk
PIECE = 256 << 10  # a long body is read in such pieces
#: A larger body waits until the service has seen the head: if it refuses, no byte is sent for nothing.
LARGE_BODY = 1 << 20


class Head(NamedTuple):
    status: int
    headers: Dict[str, str]
    length: Optional[int]  # None: in chunks
    keeps: bool  # the connection stays


def request_head(config: Config, method: str, target: str, accept: str, length: Optional[int], kind: str) -> bytes:
    address = config.address
    lines = [f"{method} {address.prefix}{target} HTTP/1.1", f"Host: {address.host_header}", f"Accept: {accept}"]
    if config.key:
        lines.append(f"Authorization: Bearer {config.key}")
    if length is not None:
        lines += [f"Content-Type: {kind}", f"Content-Length: {length}"]
        if length > LARGE_BODY:
            lines.append("Expect: 100-continue")
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n"


def parse_head(text: bytes, method: str) -> Head:
    first, *lines = text.decode("latin-1").split("\r\n")
    if not first.startswith("HTTP/1.1 ") or not first[9:12].isdigit():
        raise ProtocolError(f"the answer begins with {first[:40]!r} and not with HTTP/1.1; is a belljar service there?")
    status = int(first[9:12])
    headers: Dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise ProtocolError(f"the answer has a line {line[:40]!r} that is no header")
        headers[name.lower()] = value.strip()
    keeps = headers.get("connection", "").lower() != "close"
    if status < 200 or status in (204, 304) or method == "HEAD":
        return Head(status, headers, 0, keeps)
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None and (coding.lower() != "chunked" or length is not None):
        raise ProtocolError(f"the answer has Transfer-Encoding {coding!r}, which is not understood")
    if coding is None and not (length or "").isdigit():
        raise ProtocolError("the answer has no length")
    return Head(status, headers, None if coding else int(length or 0), keeps)


def chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 8 or digits.strip(b"0123456789abcdefABCDEF"):
        raise ProtocolError(f"the answer has a chunk of size {line[:20]!r}")
    return int(digits, 16)


def part(value: object) -> str:
    """One part of a path: an id, a name. A slash is not special there."""
    return quote(str(value), safe="")


def path_of(name: str) -> str:
    """The path of a file, whose slashes stay."""
    return quote(name.lstrip("/"), safe="/")
