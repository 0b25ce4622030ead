"""Ask the template process for a fork, and wait until it ends; see `template.py`.

Run as a script, with as few imports as possible: `from_template.py PYTHON ARGUMENTS...` does what
`PYTHON ARGUMENTS...` does.
"""

from __future__ import annotations

import json
import os
import socket
import sys


def main(python: str, arguments: list[str]) -> None:
    """Become a fork of the template, or else start the interpreter."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as template:
            template.connect(os.environ["SCURRY_TEMPLATE"])
            request = {
                "executable": python,
                "arguments": arguments,
                "environment": dict(os.environ),
                "directory": os.getcwd(),
            }
            text = json.dumps(request).encode()
            socket.send_fds(template, [len(text).to_bytes(8, "big")], [0, 1, 2])
            template.sendall(text)
            if template.recv(1) == b"+":
                ended = template.recv(1)
                os._exit(ended[0] if ended else 1)
    except (OSError, ValueError, KeyError):
        pass
    os.execv(python, [python, *arguments])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
