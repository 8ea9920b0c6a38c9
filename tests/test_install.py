"""Installing: metadata without a compiler, a source distribution that holds what a build needs, wheels for the Pythons named."""

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def run(*command):
    """What a command prints, run as pip runs builds: beside the scripts of its environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def hook(call, folder):
    """Call a hook of the build backend as pip does, in a process of its own."""
    return run("-c", f"import sys; sys.path.insert(0, 'buildtools'); import build_backend; print(build_backend.{call})", folder).split()[-1]


def test_metadata_is_there_before_anything_is_built(tmp_path):
    pytest.importorskip("mesonpy")
    name = hook("prepare_metadata_for_build_wheel(__import__('sys').argv[1])", tmp_path)
    assert name == f"gradspec-{PROJECT['project']['version']}.dist-info"
    assert [path.name for path in (tmp_path / name).iterdir()] == ["METADATA"]
    metadata = email.message_from_string((tmp_path / name / "METADATA").read_text())
    assert metadata["Name"] == "gradspec"
    assert sorted(metadata["Requires-Python"].split(",")) == sorted(PROJECT["project"]["requires-python"].split(","))
    assert metadata.get_payload() == (ROOT / "README.md").read_text()
    wanted = [*PROJECT["project"]["dependencies"], *(w for extra in PROJECT["project"]["optional-dependencies"].values() for w in extra)]
    assert [required.split(";")[0].strip() for required in metadata.get_all("Requires-Dist")] == wanted


def test_a_build_is_counted_on_the_terminal(tmp_path):
    """pip hides what a build prints: the counter reads ninja's log."""
    import io
    import time

    pytest.importorskip("mesonpy")
    sys.path.insert(0, str(ROOT / "buildtools"))
    import build_backend

    began, folder, terminal = time.time() - 1, tmp_path / ".mesonpy-x", io.StringIO()
    assert build_backend.steps(tmp_path, began) == (0, 0)
    folder.mkdir()
    (folder / "build.ninja").write_text("build a.o: c a.c\nbuild b.o: c b.c\nbuild all: phony a.o b.o\n")
    (folder / ".ninja_log").write_text("# ninja log v5\n0\t5\t0\ta.o\tabc\n")
    assert build_backend.steps(tmp_path, began) == (1, 2) and build_backend.steps(tmp_path, time.time() + 9) == (0, 0)
    with build_backend.counted(terminal, tmp_path, every=0.01):
        time.sleep(0.2)
    assert "gradspec: 1 of 2 steps, 0:01 min" in terminal.getvalue() and terminal.getvalue().endswith(" \r")
    with build_backend.counted(None, tmp_path):
        pass


def test_no_file_is_installed_twice():
    """A wheel with a name twice is malformed; the folders are copied whole, so none of their files is named beside them."""
    text = (ROOT / "meson.build").read_text()
    named = [path for call in re.findall(r"py\.install_sources\((.*?)\)", text, re.DOTALL) for path in re.findall(r"'([\w/.]+/[\w/.]+)'", call)]
    folders = {"runtime", "library"} | set(re.findall(r"install_subdir\('([\w/]+)'", text))
    assert named and folders >= {"codegen", "examples/operators"}
    assert [path for path in named if any(path.startswith(f"{folder}/") for folder in folders)] == []


def test_the_version_is_the_same_wherever_it_stands():
    versions = [re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)[1] for path, pattern in (
        ("pyproject.toml", r'^version = "(.*)"'), ("meson.build", r"^  version: '(.*)',"), ("runtime/__init__.py", r'^__version__ = "(.*)"'),
    )]  # fmt: skip
    assert len(set(versions)) == 1, versions


def test_wheels_are_for_the_pythons_that_are_supported():
    found = [int(minor) for minor in re.findall(r"cp3(\d+)-\*", PROJECT["tool"]["cibuildwheel"]["build"])]
    assert PROJECT["project"]["requires-python"] == f">=3.{found[0]},<3.{found[-1] + 1}" and found == list(range(found[0], found[-1] + 1))
    tested = re.findall(r"\{project\}/(\S+)", PROJECT["tool"]["cibuildwheel"]["test-command"])
    assert tested and all((ROOT / path).exists() for path in tested)
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    assert [int(version.removeprefix("3.")) for version in workflow["jobs"]["tests"]["strategy"]["matrix"]["python"]] == found


def test_the_conda_recipe_says_what_the_project_says():
    recipe = yaml.safe_load((ROOT / "buildtools/conda/recipe.yaml").read_text())
    host, run_ = (set(recipe["requirements"][part]) - {"python", "pip"} for part in ("host", "run"))
    plain = {re.sub(r"([a-z-]+)(>=.*)?$", lambda m: f"{m[1]} {m[2] or ''}".strip(), word.lower()) for word in PROJECT["build-system"]["requires"]}
    assert host == plain and run_ == {word.replace(">=", " >=") for word in PROJECT["project"]["dependencies"]}
    assert recipe["context"]["version"] == PROJECT["project"]["version"]
    assert recipe["about"]["license"] == PROJECT["project"]["license"] and recipe["about"]["summary"] == PROJECT["project"]["description"]


@pytest.mark.slow
def test_a_source_distribution_holds_what_a_build_needs(tmp_path):
    pytest.importorskip("mesonpy")
    if subprocess.run(["git", "rev-parse"], cwd=ROOT, capture_output=True).returncode:
        pytest.skip("meson makes distributions of git checkouts only")
    archive = tmp_path / hook("build_sdist(__import__('sys').argv[1])", tmp_path)
    with tarfile.open(archive) as tar:
        held = {name.partition("/")[2] for name in tar.getnames()}
        tar.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # 3.11.4 brought it
    kept = subprocess.run(["git", "ls-tree", "-r", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert set(kept) <= held
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    run("-m", "mesonbuild.mesonmain", "setup", tmp_path / "build", source)
    assert (tmp_path / "build" / "build.ninja").exists()
