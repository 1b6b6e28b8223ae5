"""Files that survive a power failure."""

import os
import tempfile
from pathlib import Path


def write_durably(file: Path, text: str) -> None:
    """Replace a file. A power failure leaves either the previous file or the new one.

    Only the owner of the process can read the new file.
    """
    # The name of the draft is random, because replicas that share a folder can have the same
    # process id: in a container it is often 1.
    descriptor, name = tempfile.mkstemp(prefix=f"{file.name}.", suffix=".draft", dir=file.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        draft.rename(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    # Without this sync of the folder, the renaming could be lost in a power failure.
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
