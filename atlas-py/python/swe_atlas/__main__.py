"""The command `atlas`: `python -m swe_atlas`, and the script of this name."""

import signal
import sys

from swe_atlas._swe_atlas import _command_line


def main() -> None:
    """Runs the command with the words of this process; ends it with the command's exit code."""
    # Python's own answer to Ctrl-C would come after the command's.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_command_line(["atlas", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
