"""Compiled modules that share an extension: found as if each had a file of its own."""

import importlib
import sys

import pytest

from gradspec.support.extension import SharedExtensions

FOLDERS = ["gradspec.generated.kernels", "gradspec.generated.functions", "gradspec.generated.variable_type"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_offered_module_is_what_its_extension_holds(folder):
    import gradspec  # noqa: F401

    offered = {name: file for name, file in SharedExtensions.files.items() if name.rpartition(".")[0] == folder}
    assert len(offered) > 10 and len(set(offered.values())) == 1
    for name, file in offered.items():
        module = importlib.import_module(name)
        assert module.__name__ == name == module.__spec__.name and module.__file__ == file


def test_a_name_that_is_not_offered_is_no_module():
    with pytest.raises(ModuleNotFoundError, match="No module named 'gradspec.generated.kernels.nothere'"):
        importlib.import_module("gradspec.generated.kernels.nothere")


def test_a_folder_without_an_extension_says_so(tmp_path, monkeypatch):
    (tmp_path / "unbuilt").mkdir()
    (tmp_path / "unbuilt/__init__.py").write_text("from gradspec.support.extension import offer\noffer(__name__)\n")
    (tmp_path / "unbuilt/modules.txt").write_text("a\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="unbuilt.modules is not there"):
        importlib.import_module("unbuilt")
    assert "unbuilt.a" not in SharedExtensions.files and sys.meta_path.count(SharedExtensions) == 1
