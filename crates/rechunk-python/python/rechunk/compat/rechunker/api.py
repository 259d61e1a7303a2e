"""Module `rechunker.api`: what programs import from there."""

from __future__ import annotations

from rechunk.rechunking import Rechunked, rechunk

__all__ = ["Rechunked", "rechunk"]
