"""One mutant on trial: made beside the checkout, loaded in its place, and put before the tests of its module.

Owns the folder of the mutant, the commands that compile it and the verdict.  Knows nothing of what a change is.  No file of the
checkout or of its build is written, so there is nothing to restore, whatever ends the run.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from codegen.build import build_folder

ROOT = Path(__file__).parents[2]
HOOK = Path(__file__).parent / "hook"
_PYTEST = ["-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-m", "not slow", "-p", "no:cacheprovider"]
_MISUSED, _NONE = 4, 5  # how pytest ends: it was given what it does not know, it has found no test
_SPARE = 30.0  # seconds that a mutant may take beyond four times what the tests take without one
_OPERATOR = 30.0  # and for the tests of an operator


@dataclass(frozen=True)
class Verdict:
    """How a trial ended: `killed`, `survived`, `refused` by the compiler or `timed out`; and by which test."""

    word: str
    by: str = ""

    def __str__(self) -> str:
        return f"{self.word} by {self.by}" if self.by else self.word


class Trial:
    """The tests of one module, and the mutants of it that they are run on."""

    def __init__(self, module: Path, tests: list[str], later: list[str]):
        """`later` are tests that only what survives the others is put before."""
        self.module, self.tests, self.later = module, tests, later
        self.compiled = Compiled(module) if module.suffix == ".pyx" else None
        self.seconds = 0.0

    def begin(self) -> Verdict:
        """Run the tests without a mutant, which has to survive them; they say how long a mutant may take."""
        begun = time.monotonic()
        verdict = self._run(self.tests, {}, None) if self.tests else Verdict("survived")
        self.seconds = time.monotonic() - begun
        return verdict

    def of(self, text: str, operators: list[str]) -> Verdict:
        """The verdict on a changed source: of its tests, of what `tests/ops` asks of these operators, of the tests that are late."""
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            changed = Path(folder) / self.module.name
            changed.write_text(text)
            original, loaded = self.module, changed
            if self.compiled is not None:
                if not self.compiled.build(changed):
                    return Verdict("refused")
                original, loaded = self.compiled.extension, self.compiled.built(changed)
            variables, verdict = {"MUTANT_OF": str(original), "MUTANT": str(loaded)}, Verdict("survived")
            if self.tests:
                verdict = self._run(self.tests, variables, 4 * self.seconds + _SPARE)
            if verdict.word == "survived" and operators:
                chosen = ["tests/ops", *(word for name in operators for word in ("--op", name))]
                verdict = self._run(chosen, variables, _SPARE + _OPERATOR * len(operators))
            if verdict.word == "survived" and self.later:
                verdict = self._run(self.later, variables, None)
            return verdict

    def _run(self, tests: list[str], variables: dict[str, str], limit: float | None) -> Verdict:
        path = os.pathsep.join(filter(None, [str(HOOK), os.environ.get("PYTHONPATH", "")]))
        environment = os.environ | variables | {"PYTHONPATH": path}
        with subprocess.Popen([sys.executable, *_PYTEST, *tests], cwd=ROOT, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:  # fmt: skip
            try:
                said, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                return Verdict("timed out")
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode == _MISUSED:
            raise SystemExit(said)
        if process.returncode in (0, _NONE):
            return Verdict("survived")
        found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.MULTILINE)
        return Verdict("killed", found[1] if found else _last_words(said, process.returncode))


def _last_words(said: str, code: int) -> str:
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    return next((line.strip() for line in reversed(said.splitlines()) if line.strip()), f"exit code {code}")[:120]


class Compiled:
    """A Cython module: the commands that the build has for it, for a source that stands elsewhere."""

    def __init__(self, module: Path):
        folder = build_folder(ROOT)
        if folder is None:
            raise SystemExit("gradspec is not built: python -m codegen build")
        self.module, self.folder = module, folder
        for extension in sorted(folder.glob("runtime/**/modules.*")):
            if extension.suffix in (".so", ".pyd") and self._commands(extension):
                self.extension = extension
                return
        raise SystemExit(f"{module}: no extension is built from it")

    def _commands(self, extension: Path) -> bool:
        """Find the four commands from the module to its extension: cython, cc, ar and the link."""
        ninja = str(Path(sys.executable).parent / "ninja")
        said = subprocess.run([ninja, "-C", str(self.folder), "-t", "commands", str(extension.relative_to(self.folder))],
                              text=True, capture_output=True, check=True).stdout  # fmt: skip
        commands = [shlex.split(line) for line in said.splitlines() if not line.startswith("ninja:")]
        translates = next((c for c in commands if any(word.endswith(f"={self.module}") for word in c)), None)
        if translates is None:
            return False
        self.pair = next(word for word in translates if word.endswith(f"={self.module}"))
        self.commands, wanted = [translates], f"{self.pair.partition('=')[0]}.c"
        for command in commands:
            if wanted in command and command is not translates:
                self.commands.append(command)
                wanted = command[command.index("-o") + 1] if "-o" in command else next(w for w in command if w.endswith(".a"))
        return len(self.commands) == 4

    def built(self, source: Path) -> Path:
        return source.with_name(self.extension.name)

    def build(self, source: Path) -> bool:
        """Compile a changed source; False where a compiler refuses it."""
        translates, compiler, archive, link = self.commands
        name, folder = self.pair.partition("=")[0], source.parent
        object_file = source.with_suffix(".o")
        library = next(word for word in archive if word.endswith(".a"))
        script = next(i for i, word in enumerate(translates) if word.endswith("translate.py"))
        flags = translates[script + 3 : translates.index("--")]
        steps = [
            [*translates[: script + 1], str(folder / "made_of.d"), str(folder), *flags, "--", f"{name}={source}"],
            _with(compiler, {compiler[compiler.index("-c") + 1]: str(folder / f"{name}.c"),
                             compiler[compiler.index("-o") + 1]: str(object_file)}),
            _with(link, {library: str(object_file), link[link.index("-o") + 1]: str(self.built(source))}),
        ]  # fmt: skip
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        return not any(subprocess.run(step, cwd=self.folder, env=environment, capture_output=True).returncode for step in steps)


def _with(command: list[str], other: dict[str, str]) -> list[str]:
    """The command with other words, and without what it would write beside its output, for ninja to read."""
    dropped = {i for i, word in enumerate(command) for i in ((i,) if word == "-MD" else (i, i + 1) if word in ("-MQ", "-MF") else ())}
    return [other.get(word, word) for i, word in enumerate(command) if i not in dropped]
