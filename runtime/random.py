"""Random numbers: gradspec.random."""

from .generator import manual_seed

__all__ = ["manual_seed"]
