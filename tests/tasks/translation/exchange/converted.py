"""A process that opens models one after the other, each at the same moment as the other processes.

Run as `python converted.py MODELS READY PROCESSES`: the folder of the models, a folder in which
each process says that it stands before a model, and how many processes there are.
"""

import os
import sys
import time
from pathlib import Path

from heedful.tasks.translation.using import Translator


def main(models: Path, ready: Path, processes: int) -> None:
    """Open each model when all processes are about to, and print what it translates."""
    for model in sorted(models.iterdir()):
        (ready / f"{model.name}.{os.getpid()}").touch()
        while len(list(ready.glob(f"{model.name}.*"))) < processes:
            time.sleep(0.001)
        translator = Translator.load(model)
        found = translator.translate(["The dog sees the cat."], max_length=20)
        print(translator.engine.name, ascii(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
