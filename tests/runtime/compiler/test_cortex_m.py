"""Exported modules on a Cortex-M4 that QEMU emulates, with newlib: arithmetic has the bits of the replay, sines those of newlib."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from tests.ulps import errors

from .c_modules import COMPILERS, STRICT, Module
from .test_native import kalman, pendulum

TOOLS = "arm-none-eabi-gcc", "qemu-system-arm"
missing = [tool for tool in TOOLS if shutil.which(tool) is None] or ([] if COMPILERS else ["gcc"])
pytestmark = pytest.mark.skipif(bool(missing), reason=f"{' and '.join(missing)} is not installed")
PAGE = (Path(__file__).parents[3] / "docs/native.md").read_text()
LINE = r"^arm-none-eabi-gcc (.*?) -o controller\.elf main\.c pendulum\.c vectors\.c -lm$"
RUN = r"^qemu-system-arm (.*) -kernel controller\.elf$"
MAIN = """#include "model.h"
#include <stdio.h>

{arrays}
static model_workspace work;

static void print(const void *data, size_t size) {{
    const unsigned char *bytes = data;
    while (size--) printf("%02x", *bytes++);
}}

int main(void) {{
    for (int k = 0; k < {count}; k++) {{
        model({given}, &work);
        {prints}
        printf("\\n");
    }}
    return 0;
}}
"""


def block(language, number):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[number]


def number(item):
    return float(item).hex() + ("f" if item.dtype == np.float32 else "")


def on_cortex_m(folder, main, sources):
    """What a program prints, built and run by the commands of the page."""
    (folder / "main.c").write_text(main)
    (folder / "vectors.c").write_text(block("c", 2))
    flags = re.search(LINE, PAGE, re.MULTILINE)[1].split()
    command = ["arm-none-eabi-gcc", *flags, *STRICT[1:5], "-o", "controller.elf", "main.c", *sources, "vectors.c", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if "cannot find" in done.stderr or "cannot read spec" in done.stderr:
        pytest.skip("newlib for arm-none-eabi is not installed")
    assert done.returncode == 0, done.stderr[:2000]
    command = ["qemu-system-arm", *re.search(RUN, PAGE, re.MULTILINE)[1].split(), "-kernel", "controller.elf"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60).stdout


def update(state, covariance, seen):
    """The filter's step for what it sees: arithmetic alone."""
    h = np.eye(12)[[0, 1, 2, 6, 7, 8]]
    gain = gs.linalg.solve(h @ covariance @ h.T + 1e-2 * np.eye(6), h @ covariance).T
    return state + gain @ (seen - h @ state), (np.eye(12) - gain @ h) @ covariance


def network(x, w, b, v, c):
    return gs.sigmoid(gs.tanh(x @ w + b) @ v + c)


def flight(r):
    a = r.normal(size=(12, 12)) / 4
    return r.normal(size=12) / 9, np.eye(12) / 10 + a @ a.T, 2.45 + r.normal(size=4) / 20, r.normal(size=6) / 20


@pytest.mark.parametrize("function, inputs, ulps", [
    (update, lambda r: [flight(r)[k] for k in (0, 1, 3)], 0),
    (kalman, flight, 2),
    (pendulum, lambda r: (r.normal(size=2), np.array(r.normal())), 1),
    (network, lambda r: [r.normal(size=n).astype(np.float32) for n in ((5, 8), (8, 16), 16, (16, 3), 3)], 2),
])  # fmt: skip
def test_a_function_on_a_cortex_m4(tmp_path, function, inputs, ulps):
    """Its distance from the C of this machine in units of the last digit of the largest number, and that from the replay."""
    samples = [[np.array(a, order="C") for a in inputs(np.random.default_rng(seed))] for seed in range(5)]
    compiled = gs.compile(function)
    compiled(*samples[0])
    compiled.c(tmp_path / "model")
    here = Module(tmp_path, "model", ["model"])
    arrays, given, prints = [], [], []
    for name, dtype, shape in here.table("model_arguments"):
        kind, size = {"float64": "double", "float32": "float"}[dtype], int(np.prod(shape))
        rows = [", ".join(map(number, sample[len(given)].ravel())) for sample in samples]
        arrays.append(f"static const {kind} {name}[{len(samples)}][{size}] = {{{', '.join(f'{{{row}}}' for row in rows)}}};")
        given.append(f"{name}[k]")
    results = here.table("model_results")
    for name, dtype, shape in results:
        arrays.append(f"static {'double' if dtype == 'float64' else 'float'} {name}[{int(np.prod(shape))}];")
        given.append(name)
        prints.append(f"print({name}, sizeof {name});")
    main = MAIN.format(arrays="\n".join(arrays), count=len(samples), given=", ".join(given), prints="\n        ".join(prints))
    for line, sample in zip(on_cortex_m(tmp_path, main, ["model.c"]).split(), samples, strict=True):
        data = bytes.fromhex(line)
        wanted = [np.asarray(leaf) for leaf in gs.tree_util.tree_leaves(compiled(*sample))]
        for (_, dtype, shape), x86, replayed in zip(results, here("model", *sample), wanted, strict=True):
            size = x86.nbytes
            found, data = np.frombuffer(data[:size], dtype).reshape(shape), data[size:]
            unit = np.spacing(np.abs(x86).max())
            assert np.abs(found - x86).max() <= ulps * unit and (ulps or found.tobytes() == x86.tobytes())
            assert np.abs(found - replayed).max() <= (ulps + 8) * unit
        assert not data


def test_the_program_of_the_page(tmp_path):
    space = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[:1]), space)
    folder = Path(space["folder"])
    text = on_cortex_m(folder, block("c", 1), ["pendulum.c"])
    shutil.rmtree(folder)
    state = np.array([0.5, 0.0])
    for _ in range(1000):
        state = np.asarray(space["plant"](state, np.array(0.25)))
    assert errors(np.array([float(word) for word in text.split()]), state).max() < 1000
