"""`make bench`: every measurement that needs no model of anybody's, printed as Markdown."""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as the command does


def main() -> None:
    from benchmarks import cache, machine, memory, training

    measurements = {"training": training.run, "cache": cache.run, "memory": memory.run}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="*", choices=[*measurements, []], help="all if not given")
    which = parser.parse_args().which or list(measurements)
    print(machine.describe())
    for name in which:
        print(f"\n## {name}\n", flush=True)
        for line in measurements[name]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
