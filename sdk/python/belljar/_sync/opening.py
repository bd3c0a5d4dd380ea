"""An object that a request makes. Without asyncio there is nothing to await."""

from __future__ import annotations

from typing import Callable, TypeVar

T = TypeVar("T")


def Opening(make: Callable[[], T]) -> T:
    return make()
