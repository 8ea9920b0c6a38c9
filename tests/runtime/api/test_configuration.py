"""What `show_config` prints: versions, and each elementary function once for each dtype."""

import numpy as np

import gradspec as gs
from gradspec.kernels.fusion_engine.vectors import chosen, chosen_of_two


def test_it_names_versions_and_who_computes_what(capsys):
    gs.show_config()
    printed = capsys.readouterr().out
    assert f"gradspec {gs.__version__}" in printed and f"NumPy {np.__version__}" in printed
    for dtype in ("float32", "float64"):
        lines = [line for line in printed.splitlines() if line.startswith(f"elementary functions of {dtype}")]
        printed_names = ", ".join(line.partition(": ")[2] for line in lines).replace("none", "").strip(", ").split(", ")
        assert sorted(printed_names) == sorted(chosen() | chosen_of_two())
