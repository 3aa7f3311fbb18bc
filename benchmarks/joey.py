"""Joey NMT in a virtual environment of its own, made when it is first asked for.

It asks for versions that nothing else here could live with, so it is installed without its
requirements, with the few packages that its model and its search import. torch and numpy are
those of the environment this runs in: a second copy would be gigabytes, and another version
another contest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "build" / "joeynmt-venv"
PACKAGES = (
    "joeynmt==2.3.0",
    "sentencepiece==0.2.0",
    "subword-nmt==0.3.8",
    "importlib-metadata==8.7.0",
    "zipp",
    "matplotlib",
    "contourpy",
    "cycler",
    "fonttools",
    "kiwisolver",
    "pillow",
    "pyparsing",
    "python-dateutil",
    "six",
    "pyyaml",
    "packaging",
)
NO_INSTALL = "HEEDFUL_BENCH_NO_INSTALL"
"""Set where nothing may be downloaded, as in the tests."""


def python() -> Path | None:
    """Give the interpreter, making its environment first; None where that is not possible."""
    found = FOLDER / "bin" / "python"
    ready = FOLDER / ".ready"
    wanted = "\n".join(PACKAGES)
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return found
    if os.environ.get(NO_INSTALL):
        return None
    try:
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True, capture_output=True)
        ask = [found, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        home = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
        # Looked into after its own packages.
        (Path(home) / "main.pth").write_text(sysconfig.get_path("purelib") + "\n")
        install = [found, "-m", "pip", "install", "--quiet", "--no-deps", *PACKAGES]
        subprocess.run(install, check=True, capture_output=True)
    except (subprocess.CalledProcessError, OSError):
        return None
    ready.write_text(wanted, encoding="utf-8")
    return found
