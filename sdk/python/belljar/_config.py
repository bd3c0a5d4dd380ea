"""Where the service is, and the rules of a client."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Optional
from urllib.parse import urlsplit

DEFAULT_URL = "http://127.0.0.1:6000"


@dataclass(frozen=True)
class Address:
    """A unix socket, or a host and a port."""

    path: Optional[str]
    host: str
    port: int
    tls: bool
    prefix: str  # the path of the URL, if a proxy puts the service below one

    @property
    def name(self) -> str:
        """As in a message: unix:PATH or HOST:PORT."""
        return f"unix:{self.path}" if self.path else f"{self.host}:{self.port}"

    @property
    def host_header(self) -> str:
        if self.path:
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"


@dataclass(frozen=True)
class Config:
    address: Address
    key: Optional[str]
    timeout: Optional[float]
    retries: int


#: Seconds without a byte from the service. A stream has one every 15 s; a call that waits for a program has none.
PATIENCE, LONG_PATIENCE = 60.0, 900.0


def parse_url(url: str) -> Address:
    if url.startswith("unix:"):
        path = url[len("unix:"):]
        if path.startswith("//"):
            path = path[2:]
        if not path.startswith("/"):
            raise ValueError(f"the socket of {url!r} is not an absolute path; write unix:/path/belljar.sock")
        return Address(path, "localhost", 0, False, "")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{url!r} is not the address of a service; write http://HOST:PORT or unix:/path/belljar.sock")
    tls = parts.scheme == "https"
    return Address(None, parts.hostname, parts.port or (443 if tls else 80), tls, parts.path.rstrip("/"))


def configure(url: Optional[str], key: Optional[str], timeout: Optional[float], retries: int) -> Config:
    key = key or os.environ.get("BELLJAR_API_KEY") or None
    if key and not (key.isascii() and key.isprintable()):
        raise ValueError("the API key has characters that no key has")
    return Config(parse_url(url or os.environ.get("BELLJAR_URL") or DEFAULT_URL), key, timeout, retries)
