"""Random numbers under NumPy's names: gradspec.random.

Defines the generator of users.  The distributions are operators of the spec; with a key they are functions of it, as in JAX.
"""

import functools
from collections.abc import Callable
from typing import Any

import gradspec  # noqa: F401 (waits for it)

from .. import _random
from .._random import *  # noqa: F403
from ..support.devices import device as Device
from ..support.generator import Holder, numpy_random
from ..support.generator import manual_seed as manual_seed
from ..support.lazy_import import answer
from . import draws, keys
from .draws import *  # noqa: F403
from .keys import *  # noqa: F403

__all__ = sorted({"Generator", "default_rng", "manual_seed", "seed", *_random.__all__, *draws.__all__, *keys.__all__})
answer(__name__)
seed = manual_seed


class Generator(Holder):
    """Every distribution of this module as a method, drawn from one stream of numbers.

    Parameters
    ----------
    generator : numpy.random.Generator or numpy.random.BitGenerator, optional
        Source of the numbers, which is the attribute `generator`.  By default a new one, seeded by the operating system.
    device : str, optional
        "cpu", also in the place of `generator`, as in PyTorch.
    """

    def __init__(self, generator: Any = None, *, device: Any = None) -> None:
        if isinstance(generator, (str, Device)):
            generator, device = None, generator
        self.device = Device("cpu" if device is None else device)
        super().__init__(numpy_random().default_rng(generator))

    def manual_seed(self, seed: Any) -> "Generator":
        """Restart from a seed, as `torch.Generator` does.

        Parameters
        ----------
        seed : int
            As for `numpy.random.default_rng`.

        Returns
        -------
        Generator
            The generator itself.
        """
        self.generator = numpy_random().default_rng(seed)
        return self

    def seed(self) -> int:
        """Restart from a seed of the operating system.

        Returns
        -------
        int
            The seed.
        """
        self.generator = numpy_random().default_rng()
        return self.initial_seed()

    def initial_seed(self) -> int:
        """The seed of the first numbers.

        Returns
        -------
        int
        """
        return self.generator.bit_generator.seed_seq.entropy

    def get_state(self) -> dict[str, Any]:
        """The position in the stream of numbers, for `set_state`.

        Returns
        -------
        dict
            The state of NumPy's bit generator, a copy.
        """
        return self.generator.bit_generator.state

    def set_state(self, state: dict[str, Any]) -> "Generator":
        """Restore a position in the stream.

        Parameters
        ----------
        state : dict
            A result of `get_state`.

        Returns
        -------
        Generator
            The generator itself.
        """
        self.generator.bit_generator.state = state
        return self

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in _random.__all__:
            return functools.partial(getattr(_random, name), generator=self.generator)
        raise AttributeError(f"'Generator' object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_random.__all__]

    def __repr__(self) -> str:
        return f"gradspec.random.Generator({self.generator.bit_generator!r})"


def default_rng(seed: Any = None) -> Generator:
    """A generator of its own, seeded as `numpy.random.default_rng` seeds it: equal seeds draw equal numbers.

    Parameters
    ----------
    seed : int, sequence of int, numpy.random.BitGenerator, numpy.random.Generator or None
        None takes one from the operating system.

    Returns
    -------
    Generator
    """
    return Generator(numpy_random().default_rng(seed.generator if isinstance(seed, Holder) else seed))
