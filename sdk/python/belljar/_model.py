"""The common part of the generated models, and the types of requests that the document has no names for."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, ClassVar, Dict, Iterator, List, Mapping, Optional, TypeVar, Union

if TYPE_CHECKING:
    from .models import NetworkList

Self = TypeVar("Self", bound="Outcome")

#: Files by name. Text is a str, any other content is bytes; a dict has `content`, `encoding` and `executable`.
Files = Mapping[str, Union[str, bytes, Dict[str, Any]]]
#: "none", "full", or a list of hosts: {"allow": ["pypi.org:443"]}.
NetworkOption = Union[str, "NetworkList"]


class Model:
    """An answer of the service: its fields are attributes, and `raw` is the JSON. A field that the service did not
    send is None. A field that a newer service sends, and this package does not know, is an attribute, too."""

    _models: ClassVar[Dict[str, str]] = {}

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw: Dict[str, Any] = dict(raw)

    def __getattr__(self, name: str) -> Any:
        if name == "raw":  # of an object that has no __init__ behind it yet, such as in copy()
            raise AttributeError(name)
        key = name[:-1] if name.endswith("_") else name
        if key not in self.raw:
            if any(name in kind.__dict__.get("__annotations__", ()) for kind in type(self).__mro__):
                return None
            raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {', '.join(self.raw)}")
        value = self.raw[key]
        model = self._models.get(key)
        return wrap(model, value) if model else value

    def __getitem__(self, key: str) -> Any:
        return self.raw[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.raw == other.raw

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={shorten(v)}" for k, v in self.raw.items() if v not in (None, [], {}, False))
        return f"{type(self).__name__}({shown})"


def shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def wrap(name: str, value: Any) -> Any:
    """JSON as objects of the model of this name."""
    from .models import MODELS

    if isinstance(value, list):
        return [wrap(name, item) for item in value]
    return MODELS[name](value) if isinstance(value, dict) else value


class Outcome(Model):
    """The end of a run or a cell."""

    def check(self: Self) -> Self:
        """The same object if the program ended well; otherwise ProgramFailed, with the diagnosis in its message."""
        from .errors import ProgramFailed

        if self.raw.get("verdict") != "ok":
            raise ProgramFailed(self)
        return self

    def explain(self) -> str:
        """Why the program failed, in a few lines: for people, and for models. Empty if it ended well."""
        return explain(self.raw)

    @property
    def output(self) -> bytes:
        """The exact bytes of stdout."""
        return exact(self.raw, "stdout")

    @property
    def errors(self) -> bytes:
        """The exact bytes of stderr."""
        return exact(self.raw, "stderr")

    @property
    def images(self) -> List[bytes]:
        """The PNG images among its displays."""
        bundles = [d.get("data") or {} for d in self.raw.get("displays") or []] + [self.raw.get("result") or {}]
        return [base64.b64decode(b["image/png"]) for b in bundles if isinstance(b, dict) and "image/png" in b]

    @property
    def text(self) -> Optional[str]:
        """The value of the last expression of a cell, as text."""
        result = self.raw.get("result")
        return result.get("text/plain") if isinstance(result, dict) else None


class Happening(Model):
    """An event of a run or a cell."""

    @property
    def text(self) -> str:
        """The output in an event `stdout` or `stderr`; empty for other events."""
        return self.bytes.decode("utf-8", "replace")

    @property
    def bytes(self) -> bytes:
        """The same, exactly."""
        return exact(self.raw, "data") if self.raw.get("event") in ("stdout", "stderr") else b""


def exact(raw: Mapping[str, Any], key: str) -> bytes:
    """Text of an answer as bytes. If they are not UTF-8, the answer has them in base64."""
    if key + "_base64" in raw:
        return base64.b64decode(raw[key + "_base64"])
    return str(raw.get(key) or "").encode()


def explain(raw: Mapping[str, Any]) -> str:
    verdict = raw.get("verdict")
    if verdict == "ok":
        return ""
    found = raw.get("diagnosis")
    if not found:
        reason = raw.get("error")
        if isinstance(reason, dict):
            reason = f"{reason.get('name')}: {reason.get('message')}"
        word = verdict or raw.get("state")  # a run that died with the service has no verdict
        return f"{word}: {reason}" if reason else f"{word}, with exit code {raw.get('exit_code')}"
    kind = f"{found['type']}: " if found["type"] and found["type"] != verdict else ""
    place = found["location"]
    where = f" ({place['file']}, line {place['line']})" if place and place["line"] else ""
    lines = [f"{verdict}: {kind}{found['message']}{where}"]
    for row in found["excerpt"]:
        lines.append(f"{row['line']:>6} | {row['text']}")
        if row.get("caret"):
            start, end = row["caret"]
            lines.append(" " * 6 + " | " + " " * (start - 1) + "^" * max(1, end - start))
    for suggestion in found["suggestions"]:
        lines.append(f"  - {suggestion['text']}")
        if suggestion.get("replacement"):
            lines.append(f"      {suggestion['replacement']}")
    return "\n".join(lines)
