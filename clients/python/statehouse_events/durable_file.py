"""Files that survive a power failure."""

import os
from pathlib import Path


def write_durably(file: Path, text: str, mode: int) -> None:
    """Replace a file. A power failure leaves either the previous file or the new one."""
    draft = Path(f"{file}.{os.getpid()}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    draft.rename(file)
    # Without this sync of the folder, the renaming could be lost in a power failure.
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
