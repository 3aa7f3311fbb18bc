"""POST /explain: what happens inside any model that can be traced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from starlette.responses import Response

from heedful.machine import give_memory_back
from heedful.serve.api import Api
from heedful.serve.errors import busy
from heedful.serve.guard import RequestGuard
from heedful.serve.openapi import Endpoint, answer_json, post, to_json
from heedful.serve.options import ServeOptions
from heedful.serve.requests import Keyed, check


class _Anything(Keyed, extra="allow"):
    """A request that is checked once it is known which API it is for."""


class Explainer:
    """Traces, computed one by one in a thread of their own."""

    def __init__(self, apis: Sequence[Api], guard: RequestGuard, options: ServeOptions) -> None:
        self._apis = {api: api.explained for api in apis if api.explained is not None}
        self._guard, self._options = guard, options
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="heedful-explain")
        self._traces: set[Future[bytes]] = set()

    def endpoints(self) -> list[Endpoint]:
        """Give the endpoint, where a model can be explained."""
        if not self._apis:
            return []
        summary = "See inside a model: docs/trace.md says what is in the answer."
        answer = {"type": "object", "required": ["schema"]}
        asked, keyed = [*self._apis.values()], self._options.keys is not None
        handler = partial(self._guard.admit, model=_Anything, work=self._explain)
        return [Endpoint("/explain", handler, post(summary, asked, answer, keyed))]

    def close(self) -> None:
        """Let the thread end."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _explain(self, asked: _Anything) -> Response:
        given = asked.model_extra or {}
        # A name, where one is given, leads to the model's own API; the first one needs none.
        name, apis = given.get("model"), [*self._apis]
        apis.sort(key=lambda api: name not in [one.name for one in api.models])
        work = apis[0].explain(check(self._apis[apis[0]], given))
        return answer_json(await self._trace(work))

    async def _trace(self, work: Callable[[], dict[str, Any]]) -> bytes:
        if len(self._traces) >= self._options.traces_at_once:
            raise busy(5, "too many traces are waiting")

        def trace() -> bytes:
            try:
                return to_json(work())
            finally:
                give_memory_back()

        future = self._pool.submit(trace)
        self._traces.add(future)
        future.add_done_callback(self._traces.discard)
        return await asyncio.wrap_future(future)
