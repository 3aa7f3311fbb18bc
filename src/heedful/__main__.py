"""`python -m heedful`, which is how torchrun starts it."""

from heedful.cli.main import run

if __name__ == "__main__":
    run()
