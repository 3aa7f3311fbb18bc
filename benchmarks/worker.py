"""The process of one contender: reads questions from its standard input, answers on its output.

`make` has it make ready (a trainer, a decoder, ...), `run` does the work once and says how long it
took and how much memory the process has held at most. Joey NMT's process has no Heedful to import,
so nothing here does.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from typing import Any


def answer(peer: Any, state: dict[str, Any], what: str, options: dict[str, Any]) -> dict[str, Any]:
    """Do what is asked for; give what there is to say."""
    if what == "make":
        made = state["made"] = getattr(peer, options.pop("make"))(**options)
        return dict(getattr(made, "facts", {}))
    begun = time.perf_counter()
    result = state["made"](**options)
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "peak": peak, "result": result}


def main() -> None:
    """Answer until there are no more questions."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not be taken for an answer
    peer, state = None, {}
    for line in sys.stdin:
        try:
            peer = peer or importlib.import_module(f"benchmarks.peers.{sys.argv[1]}")
            found = answer(peer, state, *json.loads(line))
        except ModuleNotFoundError as error:
            found = {"error": f"not installed: {error.name}"}
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        out.write(json.dumps(found) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
