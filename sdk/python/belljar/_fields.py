"""Arguments of methods as fields of requests."""

from __future__ import annotations

import base64
from typing import Any, Dict, Mapping, Union


def fields(given: Mapping[str, Any], **more: Any) -> Dict[str, Any]:
    """The body of a request: None means that a field is absent, and bytes are sent as base64."""
    body = {key: value for key, value in {**given, **more}.items() if value is not None}
    if isinstance(body.get("stdin"), (bytes, bytearray)):
        body["stdin"], body["stdin_encoding"] = base64.b64encode(body["stdin"]).decode(), "base64"
    if isinstance(body.get("files"), Mapping):
        body["files"] = {name: content(value) for name, value in body["files"].items()}
    for key in ("runs", "inputs", "variants"):
        if isinstance(body.get(key), (list, tuple)):
            body[key] = [fields(item) if isinstance(item, Mapping) else item for item in body[key]]
    if isinstance(body.get("run"), Mapping):
        body["run"] = fields(body["run"])
    return body


def content(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return {"content": base64.b64encode(value).decode(), "encoding": "base64"}
    return value


def run_fields(given: Mapping[str, Any], **more: Any) -> Dict[str, Any]:
    """`timeout` in seconds is a short form of limits.wall_ms."""
    body = fields(given, **more)
    timeout = body.pop("timeout", None)
    if timeout is not None:
        body["limits"] = {**body.get("limits", {}), "wall_ms": max(1, round(timeout * 1000))}
    return body


def seconds(body: Mapping[str, Any]) -> float:
    """How long the program of a request may take, as far as the request says; at least 1."""
    if isinstance(body.get("timeout"), (int, float)):
        return max(1.0, float(body["timeout"]))
    wall = (body.get("limits") or {}).get("wall_ms")
    return max(1.0, wall / 1000) if isinstance(wall, (int, float)) else 1.0


def stdin_piece(data: Union[str, bytes], eof: bool) -> Dict[str, Any]:
    piece: Dict[str, Any] = {"eof": True} if eof else {}
    if isinstance(data, str):
        piece["data"] = data
    else:
        piece["data"], piece["encoding"] = base64.b64encode(data).decode(), "base64"
    return piece
