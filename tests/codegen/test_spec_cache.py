"""The analysed spec is kept between runs: what comes of it is what reading all of it anew gives."""

import pickle

import pytest
from conftest import HEADER, PRELUDE
from test_cache_format import plain

from codegen import spec_cache as module
from codegen.errors import ErrorList, SpecErrors
from codegen.package import Package
from codegen.rules.analyze import analyze
from codegen.spec.reader import read
from codegen.spec_cache import FILE, analysed

ENTRY = """\
- op: cubed(x) -> y
  doc: A cube.
  shape: x -> x
  forward: np.power(x, 3)
  dy/dx: 3 * x * x
  samples: one
"""
OTHER = """\
---
family: other
about: A family that calls the first.
ops:
- op: twice(x) -> y
  doc: Of two cubes.
  shape: x -> x
  composite: cubed(x) + cubed(x)
  samples: one
"""
ADD, MULTIPLY = (
    f"- op: {name}(a, b) -> y\n  doc: F.\n  operator: {method}\n  dtype: float\n  shape: a, b -> broadcast(a, b)\n"
    f"  forward: np.{name}(a, b)\n  dy/da: {a}\n  dy/db: {b}\n  samples: two\n\n"
    for name, method, a, b in [("add", "__add__", "1", "1"), ("multiply", "__mul__", "b", "a")]
)
TEXT = HEADER + ADD + ENTRY + "\n" + MULTIPLY + PRELUDE + OTHER


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout whose reading is watched: the names of the families that were read, and that were analysed."""
    (tmp_path / "build").mkdir()
    (tmp_path / "runtime" / "kernels").mkdir(parents=True)

    class Checkout:
        root, steps = tmp_path, []

        def write(self, text):
            (tmp_path / "derivatives.yaml").write_text(text)

        def spec(self, text=None, errors=None):
            """The spec, and how often each family was read or analysed."""
            if text is not None:
                self.write(text)
            self.steps.clear()
            return analysed(Package(tmp_path), errors, lambda done, total, what: self.steps.append(what))

        def anew(self):
            return analyze(read(tmp_path / "derivatives.yaml"), tmp_path)

        def refusal(self, text):
            with pytest.raises(SpecErrors) as kept:
                self.spec(text)
            kept_file = tmp_path / FILE
            kept_file.rename(tmp_path / "elsewhere")
            with pytest.raises(SpecErrors) as new:
                self.spec()
            assert not kept_file.exists()  # nothing wrong is kept
            (tmp_path / "elsewhere").rename(kept_file)
            assert str(kept.value) == str(new.value)
            return str(kept.value)

    return Checkout()


def test_what_is_kept_is_what_was_read(checkout):
    first = checkout.spec(TEXT)
    assert checkout.steps == ["tested", "prelude", "other"] * 2
    second = checkout.spec()
    assert checkout.steps == []
    assert plain(first.families) == plain(second.families) == plain(checkout.anew().families)
    assert plain(first.presets) == plain(second.presets) and first.source == second.source


@pytest.mark.parametrize("old, new, steps", [
    ("3 * x * x", "3 * x**2", ["tested", "tested"]),
    ("A cube.", "The cube,\n    on two lines.", ["tested", "tested"]),  # all below it stand one line lower
    ("cubed(x) + cubed(x)", "cubed(x) + x", ["other", "other"]),
    ("- op: sin(x)", "# A remark.\n- op: sin(x)", ["prelude", "prelude"]),
    ("cubed(x) -> y", "cubed(x, int n=1) -> y", ["tested", "tested", "other"]),  # what calls it is analysed again
])  # fmt: skip
def test_a_family_that_is_as_it_was_is_not_read_again(checkout, old, new, steps):
    checkout.spec(TEXT)
    changed = TEXT.replace(old, new)
    if "int n" in new:
        changed = changed.replace("np.power(x, 3)", "np.power(x, 3 * n)")
    found = checkout.spec(changed)
    assert checkout.steps == steps
    assert plain(found.families) == plain(checkout.anew().families)
    again = checkout.spec()
    assert checkout.steps == [] and plain(again.families) == plain(found.families)


def test_an_entry_more(checkout):
    checkout.spec(TEXT)
    more = ENTRY.replace("cubed", "cubic")
    found = checkout.spec(TEXT.replace(MULTIPLY, more + "\n" + MULTIPLY))
    assert "cubic" in found.ops and checkout.steps == ["tested", "tested"]


def test_a_family_less(checkout):
    checkout.spec(TEXT)
    found = checkout.spec(TEXT.replace(OTHER, ""))
    assert [family.name for family in found.families] == ["tested", "prelude"] and checkout.steps == []
    assert list(found.ops) == list(checkout.anew().ops)


def test_samples_beside_the_spec_are_part_of_their_family(checkout):
    checkout.spec(TEXT)
    (checkout.root / "samples").mkdir()
    (checkout.root / "samples" / "other.yaml").write_text("twice:\n  samples:\n  - f(x(7))\n")
    assert [sample.source for sample in checkout.spec().ops["twice"].samples][-1] == "f(x(7))"
    assert checkout.steps == ["other", "other"]
    (checkout.root / "samples" / "other.yaml").write_text("twice:\n  samples:\n  - f(x(8))\n")
    assert [sample.source for sample in checkout.spec().ops["twice"].samples][-1] == "f(x(8))"
    assert plain(checkout.spec().families) == plain(checkout.anew().families)


def test_presets_are_part_of_everything(checkout):
    checkout.spec(TEXT)
    checkout.spec(TEXT.replace("f(x(0, 3))", "f(x(0, 4))"))
    assert checkout.steps == ["tested", "prelude", "other"] * 2


def test_names_of_the_runtime_are_asked_again(checkout):
    kernels = checkout.root / "runtime" / "kernels" / "fast.py"
    kernels.write_text("def cube(x):\n    return x\n")
    text = TEXT.replace("np.power(x, 3)", "kernels.cube(x)")
    checkout.spec(text)
    kernels.write_text("def cube(x):\n    return x * x * x\n\n\ndef other(x):\n    return x\n")
    checkout.spec()
    assert checkout.steps == []  # there is another kernel, which nobody asked for
    kernels.write_text("def other(x):\n    return x\n")
    assert "no kernel 'cube'" in checkout.refusal(text)
    (checkout.root / "runtime" / "__init__.py").write_text("from .x import twice\n")
    assert "gradspec.twice is something else already" in checkout.refusal(text)


@pytest.mark.parametrize("old, new, part", [
    ("3 * x * x", "3 * z * x", "unknown name 'z'"),
    ("doc: A cube.", "dco: A cube.", "unknown key 'dco'"),
    ("doc: A cube.", "doc: [A cube.", "not YAML"),
    ("- op: cubed(x)", "- op: sin(x)", "'sin' has an entry already"),
    ("- op: cubed(x) -> y\n", "- op: cubed(x) -> y\n  alias: [twice]\n", "'twice' is a name of cubed already: derivatives.yaml:"),
    ("family: tested", "family: prelude", "there is a family 'prelude' already"),
    ("samples: one\n\n- op: multiply", "samples: three\n\n- op: multiply", "unknown preset 'three'"),
])  # fmt: skip
def test_refusals_are_those_of_a_whole_reading(checkout, old, new, part):
    checkout.spec(TEXT)
    assert old in TEXT
    assert part in checkout.refusal(TEXT.replace(old, new))
    assert plain(checkout.spec(TEXT).families) == plain(checkout.anew().families)


def test_what_is_refused_is_left_out_with_what_calls_it(checkout):
    errors = ErrorList("", "")
    spec = checkout.spec(TEXT.replace("3 * x * x", "3 * z * x"), errors)
    assert [str(error).splitlines()[:2] for error in errors.errors] == [
        ["derivatives.yaml:26:14: error: cubed: dy/dx: unknown name 'z'", "  dy/dx: 3 * z * x"]]  # fmt: skip
    assert "cubed" not in spec.ops and "twice" not in spec.ops and {"sin", "add"} < spec.ops.keys()


def damaged(data):
    return data[:-200] + bytes(200)


def cut(data):
    return data[: len(data) // 2]


def foreign(data):
    return b"\n".join([data.partition(b"\n")[0], b"0" * 64, pickle.dumps({"whole": "?"})])


@pytest.mark.parametrize("change", [damaged, cut, foreign, lambda data: b"", lambda data: b"\n\n\n"])
def test_a_file_that_makes_no_sense_says_nothing(checkout, change):
    checkout.spec(TEXT)
    file = checkout.root / FILE
    file.write_bytes(change(file.read_bytes()))
    found = checkout.spec()
    assert checkout.steps == ["tested", "prelude", "other"] * 2
    assert plain(found.families) == plain(checkout.anew().families)
    assert not list(file.parent.glob(f"{file.name}.*"))
    checkout.spec()
    assert checkout.steps == []


@pytest.mark.parametrize("name", ["_versions", "_own_sources"])
def test_another_generator_reads_anew(checkout, monkeypatch, name):
    checkout.spec(TEXT)
    before = list(getattr(module, name)())
    monkeypatch.setattr(module, name, lambda: [*before, "another"])
    checkout.spec()
    assert checkout.steps == ["tested", "prelude", "other"] * 2


def test_the_sources_of_the_generator_are_those_that_read_and_analyse():
    assert {"reader.py", "analyze.py", "numpy_functions.txt"} < {line.split()[0] for line in module._own_sources() if "\n" not in line}


def test_a_missing_folder_of_builds_is_made(checkout):
    (checkout.root / "build").rmdir()
    checkout.spec(TEXT)
    checkout.spec()
    assert checkout.steps == []


def test_where_no_folder_can_be_made_nothing_is_kept(checkout):
    (checkout.root / "build").rmdir()
    (checkout.root / "build").write_text("A file.")
    checkout.spec(TEXT)
    checkout.spec()
    assert checkout.steps == ["tested", "prelude", "other"] * 2


def test_reading_alone_analyses_nothing(checkout):
    checkout.write(TEXT.replace("3 * x * x", "3 * z * x"))
    assert module.read(Package(checkout.root)).ops["cubed"].doc == "A cube."


def test_further_families_are_read_beside_what_is_kept(checkout):
    more = "---\nfamily: further\nabout: Of another file.\nops:\n" + ENTRY.replace("cubed", "further").replace("3 * x * x", "3 * cubed(x) / x")
    kept = checkout.spec(TEXT)
    before = (checkout.root / FILE).read_bytes()
    checkout.steps.clear()
    spec = analysed(Package(checkout.root), progress=lambda done, total, what: checkout.steps.append(what), more=more)
    assert checkout.steps == ["further"] * 2 and (checkout.root / FILE).read_bytes() == before
    assert plain(spec.ops["cubed"]) == plain(kept.ops["cubed"]) and spec.ops["further"].family == "further"
