"""`nextbatch` and `python -m nextbatch`: the server's command where the server is installed, else that of a bench."""

import sys
from importlib.metadata import entry_points


def main() -> None:
    """Run the command, or say what to install."""
    scripts = entry_points(group="console_scripts", name="nextbatch")
    server = next((script for script in scripts if script.dist and script.dist.name == "nextbatch-server"), None)
    if server is not None:
        server.load()()
        return
    try:
        from .commands import make_command, run  # noqa: PLC0415 - the library itself needs only httpx
    except ModuleNotFoundError:
        sys.exit("nextbatch: the command needs more than the library. Install it: pip install 'nextbatch[cli]'")
    run(make_command("nextbatch"))


if __name__ == "__main__":
    main()
