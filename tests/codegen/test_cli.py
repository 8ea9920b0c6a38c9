"""The command line: exit codes, streams, and the texts that people read."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codegen import build
from codegen.__main__ import UNPROVED, main
from codegen.package import Package
from codegen.progress import Progress
from codegen.rules.analyze import analyze
from codegen.skeleton import FORMS, skeleton
from codegen.spec.reader import read_text
from codegen.spec_cache import analysed

ROOT = Path(__file__).resolve().parents[2]
SPEC = """\
---
presets:
  one:
  - f(x(3, 4))
  two:
  - f(x(3), x(3))
---
family: small
about: A family of four.
defaults: {variants: [method], dtype: real -> given, shape: _, samples: one}
ops:
- op: add(a, b) -> y
  doc: Sum.
  forward: np.add(a, b)
  linear: [a, b]
  vjp:
    a: grad
    b: grad
  samples: two
  examples:
    f(1.0, 2.0): 3

- op: cube(x) -> y
  doc: Third power.
  alias: [third]
  forward: x * x * x
  dy/dx: 3 * square(x)
  examples:
    f(2.0): 8

- op: multiply(a, b) -> y
  doc: Product.
  forward: np.multiply(a, b)
  dy/da: b
  dy/db: a
  samples: two
  examples:
    f(2.0, 3.0): 6

- op: square(x) -> y
  doc: Square.
  forward: np.square(x)
  dy/dx: 2 * x
  examples:
    f(3.0): 9
"""


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "runtime" / "kernels").mkdir(parents=True)
    (tmp_path / "derivatives.yaml").write_text(SPEC)
    return tmp_path


@pytest.fixture
def run(checkout, capsys):
    def run(*arguments):
        code = main(["--root", str(checkout), *arguments])
        return code, *capsys.readouterr()

    return run


def test_check(run):
    code, out, err = run("check")
    assert code == 0 and out == ""
    assert err.splitlines()[-1] == "checked 4 operators"


def test_check_without_built_kernels_says_what_is_unproved(run, checkout):
    spec = SPEC.replace("forward: np.square(x)", "forward: kernels.squared(x)")
    (checkout / "derivatives.yaml").write_text(spec)
    (checkout / "runtime" / "kernels" / "fast.pyx").write_text("def squared(x):\n    return x * x\n")
    code, out, err = run("check")
    assert code == UNPROVED == 3
    assert out.splitlines()[0].startswith("unproved until their kernels are built")
    assert out.splitlines()[1:] == ["  cube", "  square"]
    assert err.endswith("checked 4 operators, 2 of them unproved\n")
    assert run("check", "add")[0] == 0  # it rests on none of these
    code, out, err = run("check", "--built")
    assert (code, out) == (1, "")
    assert err.endswith("error: gradspec.kernels does not export what these operators need: cube, square\n")


def test_several_errors_in_one_run(run, checkout):
    broken = SPEC.replace("2 * x\n", "2 * z\n").replace("3 * square(x)", "3 * sqare(x)")
    (checkout / "derivatives.yaml").write_text(broken)
    code, out, err = run("check")
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "derivatives.yaml:27:14: error: cube: dy/dx: unknown function 'sqare'; did you mean 'square'?",
        "  dy/dx: 3 * sqare(x)",
        "             ^",
        "derivatives.yaml:43:14: error: square: dy/dx: unknown name 'z'",
        "  dy/dx: 2 * z",
        "             ^",
        "2 errors",
    ]


def test_no_stage_hides_what_the_next_one_finds(run, checkout):
    """A misspelt key, an input that is none, a missing kernel, a rule that is wrong and an example that does not hold."""
    spec = SPEC.replace("doc: Third power.", "dco: Third power.").replace("linear: [a, b]", "linear: [a, c]")
    entries = {
        "grow": "forward: kernels.grown(x)\n  dy/dx: 2",
        "halve": "forward: x / 2\n  dy/dx: 1 / 3",
        "invert": "forward: -x\n  dy/dx: -1\n  examples:\n    f(2.0): 2",
        "jump": "composite: cube(x) + 1",  # which cannot be read: that is cube's affair
    }
    text = "".join(f"\n- op: {name}(x) -> y\n  doc: F.\n  {rest}\n" for name, rest in entries.items())
    (checkout / "derivatives.yaml").write_text(spec.replace("\n- op: multiply", text + "\n- op: multiply"))
    code, out, err = run("check")
    assert (code, out) == (1, "")
    found = [line.partition("error: ")[2] for line in err.splitlines() if line.startswith("derivatives.yaml:")]
    assert [message.split(":")[0] for message in found] == ["add", "cube", "cube", "grow", "halve", "invert"]
    lines = [int(line.split(":")[1]) for line in err.splitlines() if line.startswith("derivatives.yaml:")]
    assert lines == sorted(lines)
    for part in ("'c' is not an array input", "unknown key 'dco'", "no kernel 'grown'", "is wrong", "invert: examples:"):
        assert part in err


def test_a_doubled_sample_hides_no_wrong_example_of_another_entry(run, checkout):
    spec = SPEC.replace("  dy/da: b\n  dy/db: a\n  samples: two\n", "  dy/da: b\n  dy/db: a\n  samples: [\"f(x(3), x(3))\", "
                        "\"f(x(3), x(3))\"]\n")  # fmt: skip
    (checkout / "derivatives.yaml").write_text(f"{spec}  examples:\n    f(3.0): 8\n")
    err = run("check")[2]
    assert "multiply: samples: f(x(3), x(3)) is there already" in err
    assert "square: examples:" in err


def test_a_wrong_derivative_is_refused(run, checkout):
    (checkout / "derivatives.yaml").write_text(SPEC.replace("2 * x\n", "-2 * x\n"))
    code, _, err = run("check")
    assert code == 1
    assert "error: square: dy/dx: is wrong" in err
    assert err.splitlines()[-1].endswith("error") or err.splitlines()[-1].endswith("errors")


# Some of the entries.


def test_check_of_an_entry_is_of_what_calls_it_too(run, checkout):
    assert run("check", "square") == (0, "", "checked 2 operators\n")  # cube calls it
    assert run("check", "add") == (0, "", "checked 1 operator\n")
    assert run("check", "third", "add") == (0, "", "checked 2 operators\n")
    assert run("check", "squaer") == (1, "", "error: no operator 'squaer'; did you mean 'square'?\n")


def test_check_of_an_entry_reports_what_is_wrong_with_it(run, checkout):
    wrong = SPEC.replace("dy/da: b", "dy/da: 2 * b").replace("2 * x\n", "3 * x\n")
    (checkout / "derivatives.yaml").write_text(wrong)
    code, _, err = run("check", "multiply")
    assert code == 1 and "multiply: dy/da: is wrong" in err and "square" not in err


def test_check_of_an_entry_that_is_refused_says_so(run, checkout):
    (checkout / "derivatives.yaml").write_text(SPEC.replace("3 * square(x)", "3 * sqare(x)"))
    code, _, err = run("check", "cube")
    assert code == 1 and "cube: dy/dx: unknown function 'sqare'" in err and "no operator" not in err


def test_what_passed_is_checked_again_when_it_is_asked_for(run, checkout):
    (checkout / "build").mkdir()
    assert run("check")[2] == "checked 4 operators\n"
    (checkout / "derivatives.yaml").write_text(SPEC.replace("doc: Sum.", "doc: A sum."))
    assert run("check")[2] == "checked 4 operators, 1 of them now\n"
    assert run("check", "--anew", "square")[2] == "checked 2 operators\n"
    (checkout / "derivatives.yaml").write_text(SPEC.replace("2 * x\n", "-2 * x\n"))
    assert [run("check")[0] for _ in range(2)] == [1, 1]


def test_no_spec(run, checkout):
    (checkout / "derivatives.yaml").unlink()
    assert run("check") == (1, "", f"error: no derivatives.yaml in {checkout}\n")


def test_generate_then_check_generated(run, checkout):
    code, _, err = run("--check-generated")
    assert code == 1
    assert err.startswith("error: generated/ is stale: run python -m codegen\n")
    assert run("generate")[0] == 0
    assert run("--check-generated") == (0, "", "")
    (checkout / "generated" / "OPS.md").write_text("edited by hand")
    code, _, err = run("--check-generated")
    assert code == 1
    assert err == "error: generated/ is stale: run python -m codegen\n  generated/OPS.md\n"


def test_nothing_is_generated_from_a_wrong_spec(run, checkout):
    (checkout / "derivatives.yaml").write_text(SPEC.replace("2 * x\n", "3 * x\n"))
    assert run("generate")[0] == 1
    assert not (checkout / "generated").exists()


def test_toc(run):
    code, out, _ = run("toc")
    assert code == 0
    assert out == "small    4  A family of four.\nall      4\n"


def test_show(run):
    code, out, err = run("show", "third")
    assert (code, err) == (0, "")
    parts = out.split("\n\n")
    assert parts[0] == "cube, family small, derivatives.yaml:23"
    assert parts[1] == SPEC[SPEC.index("- op: cube") : SPEC.index("- op: multiply")].rstrip()
    assert "form         partial" in parts[2]
    assert "vjp x        grad * (3 * square(x))" in parts[2]
    assert "jvp y        x_t * (3 * square(x))" in parts[2]
    assert "saved for x  x (input)" in parts[2]
    assert "generated/functions/small.pyx, which has it not yet\ncdef class CubeBackward(Node)" in out


def test_show_names_the_lines_of_what_was_generated(run, checkout):
    run("generate")
    shown = re.findall(r"generated/(\w+/small\.pyx):(\d+)\n((?:.+\n)+)", run("show", "third")[1])
    assert {name for name, _, _ in shown} == {"functions/small.pyx", "variable_type/small.pyx"}
    for name, line, block in shown:
        lines = (checkout / "generated" / name).read_text().splitlines()[int(line) - 1 :]
        assert lines[: block.count("\n")] == block.splitlines()


def test_show_a_jointly_linear_op(run):
    out = run("show", "add")[1]
    assert "jvp          add on a_t, b_t, which are zeros where there is no tangent" in out
    assert "saved for a  nothing" in out


def test_show_an_unknown_op(run):
    assert run("show", "squaer") == (1, "", "error: no operator 'squaer'; did you mean 'square'?\n")


@pytest.mark.parametrize("form", FORMS)
def test_new_reads_and_fits_the_grammar(form, checkout):
    entry = skeleton("fresh", form, read_text(SPEC))
    entry = entry.replace("np.fresh", "np.add" if form == "multilinear" else "np.square")
    before, after = SPEC.split("- op: multiply")
    if form == "multilinear":
        entry = entry.replace("  examples:", "  samples: two\n  examples:")
    spec = analyze(read_text(f"{before}{entry}\n\n- op: multiply{after}"), checkout)
    fresh = spec.ops["fresh"]
    assert fresh.form == {"vjp": "vjp_jvp"}.get(form, form) and len(fresh.examples) == 1
    assert ("shape" in entry) == (form != "partial")  # an elementwise operator has its family's


def test_new_with_a_signature(run):
    code, out, err = run("new", "--form", "vjp", "norms(x, int axis, *, float ord=2) -> p, q")
    assert code == 0
    assert out.startswith("- op: norms(x, int axis, *, float ord=2) -> p, q\n  doc: ")
    assert "forward: np.norms(x, axis, ord=ord)" in out
    assert "    p: x_t" in out and "    q: x_t" in out
    assert "  examples:\n    f([1.0, 2.0], 0): ([1.0, 2.0], [1.0, 2.0])" in out
    assert "alphabetical order" in err


def test_new_refuses_what_there_is(run):
    code, out, err = run("new", "third")
    assert (code, out) == (1, "")
    assert "'third' has an entry already: derivatives.yaml:23" in err


@pytest.mark.parametrize("arguments", ["show", "new --form wrong f", "nonsense", "--check-generated toc"])
def test_wrong_usage_is_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as exit:
        main(arguments.split())
    assert exit.value.code == 2
    assert "usage: python -m codegen" in capsys.readouterr().err


@pytest.mark.parametrize("package, name", [("yaml", "PyYAML"), ("jinja2", "Jinja2")])
def test_a_missing_package_is_named(package, name, checkout):
    command = [sys.executable, "-c", f"import sys; sys.modules[{package!r}] = None\n"
               f"from codegen.__main__ import main; sys.exit(main(['--root', {str(checkout)!r}, 'show', 'cube']))"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"error: {name} is not installed: python -m pip install pyyaml jinja2 numpy\n"


def test_the_checkout_is_complete(capsys):
    assert main(["toc"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["all", str(len(analysed(Package(ROOT)).ops))]


# Progress.


def test_progress_in_a_log_is_one_line_now_and_then(capsys, monkeypatch):
    now = iter([0.0, 1.0, 6.0, 7.0, 12.0])
    monkeypatch.setattr("codegen.progress.time.monotonic", lambda: next(now))
    with Progress("build") as progress:
        for step in range(1, 5):
            progress(step, 12, f"step {step}")
    assert capsys.readouterr().err == "build  2/12 step 2\nbuild  4/12 step 4\n"


def test_progress_on_a_terminal_is_rewritten_and_removed(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    now = iter([0.0, 1.0])
    monkeypatch.setattr("codegen.progress.time.monotonic", lambda: next(now))
    with Progress("check") as progress:
        progress(3, 4, "tanh")
    assert capsys.readouterr().err == "\r\033[Kcheck 3/4 tanh\r\033[K"


# Building.


def test_steps_of_ninja_are_reported(tmp_path):
    steps = []
    said = "print('entering'); print('[1/2] first'); print('  [2/2] second')"
    assert build._run([sys.executable, "-c", said], tmp_path, lambda *step: steps.append(step)) == 2
    assert steps == [(1, 2, "first"), (2, 2, "second")]


def test_a_failed_build_says_what_the_compiler_said(tmp_path):
    said = "print('[1/2] ok'); print('FAILED: x.o'); print('x.pyx:3:4: undeclared name'); raise SystemExit(1)"
    with pytest.raises(build.BuildFailed) as failure:
        build._run([sys.executable, "-c", said], tmp_path, lambda *step: None)
    assert str(failure.value) == "the build failed:\nFAILED: x.o\nx.pyx:3:4: undeclared name"


def test_a_folder_that_is_not_installed_has_no_build_folder(tmp_path):
    assert build.build_folder(tmp_path) is None
    assert build.no_build_on_import(tmp_path) == {}


def test_jobs_are_as_many_as_processors_may_be_used(monkeypatch):
    monkeypatch.delenv(build.JOBS, raising=False)
    assert 1 <= build.default_jobs() <= os.cpu_count()
    if hasattr(os, "sched_setaffinity"):
        assert build.default_jobs() == len(os.sched_getaffinity(0))
    monkeypatch.setenv(build.JOBS, "7")
    assert build.default_jobs() == 7
    monkeypatch.setenv(build.JOBS, "many")
    with pytest.raises(build.BuildFailed, match="GRADSPEC_JOBS is 'many', which is not a number"):
        build.default_jobs()


def test_ninja_is_told_how_many_jobs(tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(build, "_run", lambda command, *rest: ran.append(command) or 0)
    monkeypatch.setattr(build, "build_folder", lambda root: tmp_path)
    monkeypatch.setenv(build.JOBS, "5")
    monkeypatch.chdir(tmp_path)
    assert main(["--root", str(tmp_path), "build"]) == main(["--root", str(tmp_path), "build", "--jobs", "3"]) == 0
    assert [command[-1] for command in ran] == ["-j5", "-j3"]
    monkeypatch.setattr(build, "build_folder", lambda root: None)  # the first time, by pip
    build.build(tmp_path, print, 2)
    assert "--config-settings=compile-args=-j2" in ran[-1]


@pytest.mark.skipif(shutil.which("ninja") is None, reason="needs ninja")
def test_the_build_folder_is_that_of_the_editable_install():
    folder = build.build_folder(ROOT)
    if folder is None:
        pytest.skip("gradspec is not installed editable from this checkout")
    assert (folder / "build.ninja").exists()


def test_headers_are_laid_out_before_a_build(tmp_path):
    """One that is new, or gone, since the build was configured; what is there already is left alone."""
    for name in ("buildtools/stage_headers.py", "runtime/core/node.pxd", "runtime/kernels/loops/memory.pxd", "generated/functions/views.pxd"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    stage = tmp_path / "build" / "headers"
    stage.mkdir(parents=True)

    def staged():
        build._stage_headers(tmp_path, tmp_path / "build")
        return {path.relative_to(stage).as_posix() for path in stage.rglob("*.pxd")}

    assert staged() == {"gradspec/core/node.pxd", "gradspec/kernels/loops/memory.pxd", "gradspec/generated/functions/views.pxd"}
    before = (stage / "gradspec").stat().st_mtime_ns
    assert len(staged()) == 3 and (stage / "gradspec").stat().st_mtime_ns == before
    (tmp_path / "runtime/kernels/loops/memory.pxd").rename(tmp_path / "runtime/kernels/loops/cache.pxd")
    assert staged() == {"gradspec/core/node.pxd", "gradspec/kernels/loops/cache.pxd", "gradspec/generated/functions/views.pxd"}
    (tmp_path / "runtime/core/node.pxd").unlink()
    assert staged() == {"gradspec/kernels/loops/cache.pxd", "gradspec/generated/functions/views.pxd"}
