"""SciPy and scikit-learn on tensors: each row is right, its gradient against differences, or says that it is not."""

import json
import os
import subprocess
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest

for library, least in (("scipy", (1, 15)), ("scikit-learn", (1, 6))):
    try:
        version = metadata.version(library)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{library} is not installed", allow_module_level=True)
    if tuple(map(int, version.split(".")[:2])) < least:
        pytest.skip(f"{library} {version} does not ask for the array API of tensors", allow_module_level=True)
HERE = Path(__file__).parent
# Announced, and not ours to mend: the scaler divides 0 by 0 and masks it afterwards, of which any reverse mode makes NaN.
UNDEFINED = {"preprocessing.StandardScaler().fit_transform(x)"}
RIGHT_AT_LEAST = {"scipy": 87, "sklearn": 24}


@pytest.mark.slow
@pytest.mark.parametrize("library", RIGHT_AT_LEAST)
def test_right_or_said(library, capsys):
    done = subprocess.run([sys.executable, "-W", "ignore", str(HERE / "scipy_worker.py"), library], cwd=HERE, text=True,
                          capture_output=True, env={**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": str(HERE.parent)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = Counter(kind for _, kind, _ in rows)
    with capsys.disabled():
        print(f"\n{library} on tensors: {kinds['right']} of {len(rows)} right ({dict(kinds)})")
        for call, kind, words in rows:
            print(f"  {kind:9} {call}{': ' + words.splitlines()[0][:80] if words else ''}")
    assert {kind for _, kind, _ in rows} <= {"right", "refused", "warned", "undefined"}, [r for r in rows if r[1] in ("wrong", "detached", "broken")]
    assert {call for call, kind, _ in rows if kind == "undefined"} <= UNDEFINED
    assert kinds["right"] >= RIGHT_AT_LEAST[library]
