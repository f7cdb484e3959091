"""Which pages are in the short form (issue 15 converts the others; this file goes with the last of them)."""


def is_converted(source):
    """Whether a notebook's source closes without seeds by hand, as pages do that draw their keys by name."""
    return "ledger.close()" in source.read_text()
