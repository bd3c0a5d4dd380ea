"""An object that a request makes: `await opening` gives it, and `async with opening as it` ends it, too."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Generator, Generic, Optional, TypeVar

T = TypeVar("T")


class Opening(Generic[T]):
    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._make = make
        self._made: Optional[T] = None

    def __await__(self) -> Generator[Any, None, T]:
        return self._make().__await__()

    async def __aenter__(self) -> T:
        self._made = await self._make()
        return self._made

    async def __aexit__(self, *exc: Any) -> None:
        made: Any = self._made
        await made.__aexit__(*exc)
