"""The gallery: every script runs and checks its result, and its cells are those of a notebook."""

import ast
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "examples/gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs(path, tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib")
    begun = time.perf_counter()
    surroundings = os.environ | {"MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=surroundings, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr  # a page shows warnings
    print(f"{path.stem}: {time.perf_counter() - begun:.1f} s\n{done.stdout}")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_tells_checks_and_draws(path):
    text = path.read_text()
    tree = ast.parse(text)
    title, line, about = ast.get_docstring(tree).split("\n", 2)
    assert re.fullmatch("=+", line) and len(line) == len(title) and about.strip()
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), "an example checks its result"
    assert text.count("\n# %%\n# ") >= 4, "text beside the code"
    assert text.endswith("plt.show()\n") and "requests" not in text and "urllib" not in text


def test_the_gallery_is_whole():
    names = {path.stem for path in SCRIPTS}
    assert names >= {"digits", "gaussian_process", "lotka_volterra", "kepler", "cloth", "deblurring", "gpt"}
    assert names >= {"hamiltonian_monte_carlo", "neural_field", "topology", "optimal_control", "kalman_filter"}


def test_notebooks_are_valid():
    """As `make docs` writes them; the code is that of the script."""
    pytest.importorskip("sphinx_gallery")
    nbformat = pytest.importorskip("nbformat")
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    for path in SCRIPTS:
        blocks = split_code_and_text_blocks(str(path))[1]
        book = jupyter_notebook(blocks, DEFAULT_GALLERY_CONF, str(GALLERY))
        nbformat.validate(book)
        code = "\n".join("".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code")
        assert ast.dump(ast.parse(code)) == ast.dump(ast.Module(ast.parse(path.read_text()).body[1:], [])), path.name
        words = "".join("".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "markdown")
        assert words.lstrip().startswith("# ") and not re.search(":(math|func|class):|^\\.\\. ", words, re.MULTILINE), path.name
