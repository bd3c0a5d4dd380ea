"""Displays as MIME bundles: pairs of a MIME type and bytes, bounded."""
import base64
import binascii
import json

from belljar_channel import CUT, DATA, METADATA, MIME, PRIVATE_BUILTINS, SENT_MAX

__builtins__ = PRIVATE_BUILTINS

BUNDLE_MAX = SENT_MAX - (64 << 10)  # leaves room for names and metadata
METADATA_MAX = 32 << 10
MIME_MAX = 200


def is_binary(mime):
    return (mime.startswith(("image/", "audio/", "video/")) and mime != "image/svg+xml") or mime == "application/pdf"


def is_json(mime):
    return mime == "application/json" or mime.endswith("+json") and not mime.startswith("image/")


def to_json(value):
    return json.dumps(value, ensure_ascii=False, default=repr)


def to_bytes(mime, value):
    """The bytes of one representation, or None for a value that has none."""
    if is_json(mime):
        return to_json(value).encode("utf-8", "replace")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, (list, tuple)) and all(isinstance(line, str) for line in value):
        value = "".join(value)
    if not isinstance(value, str):
        return None if value is None else to_json(value).encode("utf-8", "replace")
    if is_binary(mime):
        try:
            return base64.b64decode(value, validate=False)
        except (binascii.Error, ValueError):
            return None
    return value.encode("utf-8", "replace")


def cut_text(data, room):
    """Text that is too long, with a mark where it was cut."""
    mark = f"\n[{len(data) - room:,} more bytes were left out]".encode()
    return data[:max(0, room - len(mark))].decode("utf-8", "ignore").encode() + mark


def fields_of(bundle, metadata=None):
    """The fields of a bundle: as much of it as a message holds, the plain text first."""
    fields, left_out, room = [], [], BUNDLE_MAX
    order = sorted((mime for mime in bundle if isinstance(mime, str)), key=lambda mime: mime != "text/plain")
    for mime in order:
        data = to_bytes(mime, bundle[mime]) if len(mime) <= MIME_MAX else None
        if data is None:
            continue
        # Plain text is of use when it is cut, and must leave room for the others.
        share = room // 2 if mime == "text/plain" and len(order) > 1 else room
        if len(data) > share:
            left_out.append(f"{mime} of {len(data):,} bytes")
            if mime != "text/plain":
                continue
            data = cut_text(data, share)
        fields += [(MIME, mime), (DATA, data)]
        room -= len(data)
    if not fields:
        fields = [(MIME, "text/plain"), (DATA, b"[the display was left out]")]
    if left_out:
        fields.append((CUT, f"left out, whole or in part: {', '.join(left_out)}; a display holds at most {BUNDLE_MAX:,} bytes"))
    if metadata:
        text = to_json(metadata)
        if len(text) <= METADATA_MAX:
            fields.append((METADATA, text))
    return fields
