"""Write scipy_names.md: which public names of SciPy gs.scipy has, and how.  Run `python docs/scipy_names.py`."""

import importlib
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUBMODULES = (
    "special", "linalg", "fft", "integrate", "interpolate", "optimize", "signal", "signal.windows", "ndimage", "stats", "sparse",
    "sparse.linalg", "sparse.csgraph", "spatial", "spatial.distance", "spatial.transform", "cluster.vq", "cluster.hierarchy",
    "differentiate", "odr",
)  # fmt: skip
KINDS = {"derivatives": "with derivatives", "value": "a value, its derivative refused", "refused": "refused", "tool": "SciPy's own tool",
         "absent": "absent"}  # fmt: skip
HEAD = """\
# Which of SciPy's names

Each public function and class of SciPy {version}, beside `gs.scipy`. `python docs/scipy_names.py` writes this page from the
namespaces, and a test compares them. The reasons are in `library/scipy/tables.py`, and in the messages.

- **With derivatives**: in at least one argument; [scipy.md](scipy.md) and the pages beside it have the details.
- **A value, its derivative refused**: SciPy's value; a backward pass through it is an error with the reason. If the value is an
  object of SciPy's, arguments that require grad are refused.
- **Refused**: a call is an error with the reason and a replacement.
- **SciPy's own tool**: classes of arguments and results, and switches, as SciPy has them.

`scipy.constants`, `scipy.datasets` and `scipy.io` have no functions of arrays to differentiate, and are not counted.
"""


def names(submodule):
    """The public functions and classes of a submodule of SciPy."""
    module = importlib.import_module(f"scipy.{submodule}")
    found = {name: getattr(module, name, None) for name in module.__all__ if not name.startswith("_")}
    return sorted(name for name, value in found.items() if callable(value) and not _is_error(value))


def _is_error(value):
    return inspect.isclass(value) and issubclass(value, (Exception, Warning))


def kinds(submodule):
    """Name -> its kind and the reason, empty for names with derivatives."""
    here = importlib.import_module(f"gradspec.scipy.{submodule}")
    result = {}
    for name in names(submodule):
        found = getattr(here, name, None)
        held = vars(found) if hasattr(found, "__dict__") else {}
        kind = "absent" if found is None else held["kind"] if held.get("kind") in KINDS else "derivatives"
        result[name] = kind, held["why"] if kind in ("value", "refused", "tool") else ""
    return result


def page():
    """The text of scipy_names.md."""
    import scipy

    found = {submodule: kinds(submodule) for submodule in SUBMODULES}
    counts = {sub: [sum(kind == one for kind, _ in rows.values()) for one in KINDS] for sub, rows in found.items()}
    counts["all"] = [sum(column) for column in zip(*counts.values())]
    columns = ["submodule", "names", *KINDS.values()]
    lines = [HEAD.format(version=version(scipy.__version__)), f"| {' | '.join(columns)} |", "|---|" + "--:|" * (len(columns) - 1)]
    lines += [f"| {sub} | {sum(row)} | {' | '.join(map(str, row))} |" for sub, row in counts.items()]
    for sub, rows in found.items():
        lines += [f"\n## {sub}\n", "| kind | names |", "|---|---|"]
        reasons = {}
        for name, (kind, why) in rows.items():
            reasons.setdefault((list(KINDS).index(kind), why), []).append(name)
        for (kind, why), those in sorted(reasons.items()):
            words = list(KINDS.values())[kind] + (f": {why}" if why else "")
            lines.append(f"| {words.replace('|', chr(92) + '|')} | `{' '.join(those)}` |")
    return "\n".join(lines) + "\n"


def version(text):
    """The first two numbers of a version."""
    return re.match(r"\d+\.\d+", text)[0]


if __name__ == "__main__":
    (ROOT / "docs/scipy_names.md").write_text(page())
