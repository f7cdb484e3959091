"""What the notebooks share to check papers: it imports rfcore, never the other way."""

from companion.citations import cite
