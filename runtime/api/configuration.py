"""What the library runs on: versions, the processor, and who computes each elementary function.

Owns the text of `show_config`; NumPy and `kernels.fusion_engine.vectors` know the facts.
"""

from typing import Any

import numpy as np

from ..kernels.fusion_engine.vectors import chosen, chosen_of_two
from ..kernels.loops.threads import get_num_threads


def show_config() -> None:
    """Print versions, BLAS, what the processor has, and whose loops compute each elementary function.

    Notes
    -----
    With ``GRADSPEC_ELEMENTARY=numpy`` in the environment all elementary functions are NumPy's.
    """
    from importlib.metadata import version  # which brings some twenty modules along

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
