"""Namespaces: a new one in the spec is a module of the package, with nothing to write by hand."""

from __future__ import annotations

from codegen.write.files import render

ENTRY = """\
- op: f(x) -> y
  doc: F.
  alias: [second]
  namespace: fft
  forward: np.sin(x)
  nondifferentiable: true
  samples: one
"""


def test_a_new_namespace_is_a_module_that_is_installed_and_imported(small):
    files = render(small.analyze(ENTRY), small.root)
    module, scope = {}, {}
    text = files["namespaces/fft.py"]
    assert "from .generated.variable_type.tested import f\n" in text
    assert text.index("import gradspec  # waits for it\n") < text.index("from .")
    for line, instead in ("variable_type.tested import f\n", "f = print\n"), ("docs import fft as _docs", "_docs = 0"):
        text = text.replace(f"from .generated.{line}", instead)
    exec(text, module)
    assert module["__all__"] == ["f", "second"] and module["second"] is print
    assert "def f(" in files["namespaces/fft.pyi"]
    assert "'fft.py', 'fft.pyi'," in files["namespaces/meson.build"] and "subdir('namespaces')" in files["meson.build"]
    assert "\nfrom .variable_type import tested\n" in files["ops.py"]
    exec("namespaces = " + files["ops.py"].partition("namespaces = ")[2], scope)
    assert scope["namespaces"] == ("fft",) and not {"fft", "f"} & set(scope["__all__"])
    assert "from . import fft as fft" in files["__init__.pyi"]


def test_a_spec_without_namespaces_installs_none(small):
    files = render(small.analyze(""), small.root)
    assert [name for name in files if name.startswith("namespaces/")] == []
    assert "namespaces" not in files["meson.build"] and "namespaces = ()" in files["ops.py"]
