"""Configuration: print versions, the processor, and the library behind each elementary function.

`show_config` prints it; NumPy and `kernels.fusion_engine.vectors` provide the facts.
"""

from typing import Any

import numpy as np

from ..kernels.fusion_engine.vectors import chosen, chosen_of_two
from ..kernels.loops.threads import get_num_threads


def show_config() -> None:
    """Print versions, BLAS, features of the processor, and which library's loops compute each elementary function.

    Notes
    -----
    With ``GRADSPEC_ELEMENTARY=numpy`` in the environment, NumPy computes all elementary functions.  With ``=gradspec`` it computes
    none where gradspec has a loop, and the digits are the same with and without AVX-512.
    """
    from importlib.metadata import version  # it imports some twenty modules

    facts: Any = np.show_config(mode="dicts")
    blas = facts.get("Build Dependencies", {}).get("blas", {})
    print(f"gradspec {version('gradspec')}, threads: {get_num_threads()}")
    print(f"NumPy {np.__version__}, BLAS: {blas.get('name', 'unknown')} {blas.get('version', '')}".rstrip())
    print(f"processor: {' '.join(facts.get('SIMD Extensions', {}).get('found', ())) or 'unknown'}")
    rows = chosen() | chosen_of_two()
    for dtype in ("float32", "float64"):
        for owner in ("gradspec", "NumPy"):
            names = [name for name, owners in rows.items() if owners[dtype] == owner]
            print(f"elementary functions of {dtype} by {owner}: {', '.join(names) or 'none'}")
