"""Build, install and test gradspec on other systems: `python -m tests.portability [SYSTEM ...] [--roots FOLDER] [--workers N]`.

Each system of systems.toml becomes a folder of its own by debootstrap.  There the wheel of the last commit is built, installed
beside NumPy alone where no compiler is found, asked by `gradspec.selftest` with the newest and the oldest NumPy, and tested by
the suite.  The result is a row of runs.toml, from which `--table` writes the table of docs/portability.md.

It needs root, for chroot and mounts, debootstrap, and for another architecture qemu-user-static and a cross compiler.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from . import ROOT, SYSTEMS, table

#: What pip needs to know of this machine's network, beside its certificates.
NETWORK = ("http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_DEFAULT_TIMEOUT")
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
BUILD = "/src/build/wheel"  # in the system
EXTRAS = ("build", "codegen", "test", "examples")


class System:
    """A folder with a system in it: runs commands there, prints each step and how long it took."""

    def __init__(self, name: str, said: dict, roots: Path):
        self.name, self.said, self.root = name, said, roots / name
        self.log = roots / f"{name}.log"
        self.foreign = said.get("architecture")
        self.python = f"/opt/{said['source']}/bin/python3" if "source" in said else "/usr/bin/python3"

    def step(self, what: str, *command: str, check: bool = True, **environment: str) -> str:
        """Run a command in the system; returns the output, and adds it to the log."""
        print(f"{self.name}: {what} ...", end=" ", flush=True)
        began = time.monotonic()
        known = {name: os.environ[name] for name in NETWORK if name in os.environ}
        known |= {
            "PATH": "/v/bin:/usr/sbin:/usr/bin",
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
            "PIP_CERT": CERTIFICATES,
        } | self.said.get("environment", {}) | environment
        if self.foreign:
            known |= {
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": "/packages",
                "PIP_NO_COMPILE": "0",
            }  # pip sets what the flag sets: compile = 0
        with self.log.open("a") as log:  # line by line: an interrupted run leaves what it printed
            log.write(f"$ {' '.join(command)}\n")
            log.flush()
            start = log.tell()
            ran = subprocess.run([shutil.which("chroot"), self.root, *command], env=known, stdout=log, stderr=subprocess.STDOUT)
        output = self.log.read_bytes()[start:].decode(errors="replace")
        print(f"{'done' if ran.returncode == 0 else 'FAILED'}, {time.monotonic() - began:.0f} s", flush=True)
        if check and ran.returncode:
            sys.exit(f"{self.name}: {what}: see {self.log}\n{output[-2000:]}")
        return output

    def make(self) -> None:
        """Install the system, if it is not there, and mount this machine's devices in it."""
        if not (self.root / "usr/bin/git").exists():
            print(f"{self.name}: debootstrap ...", flush=True)
            packages = ["python3", "python3-dev", "python3-venv", "git", "make", "ca-certificates", *self.said["packages"]]
            script = [f"/usr/share/debootstrap/scripts/{self.said['script']}"] if "script" in self.said else []
            command = ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}"]
            if self.foreign:
                command.append(f"--arch={self.foreign}")
            if script:  # a suite that debootstrap does not know has keys that it does not know either
                command += ["--no-check-gpg", "--components=main,universe"]
            subprocess.run([*command, self.said["suite"], self.root, self.said["mirror"], *script], check=True)
        shared = ["/proc", "/sys", "/dev"]
        if self.foreign:
            shared += self.cross_compiler()
        for place in shared:
            inside = self.root / place.lstrip("/")
            if not os.path.ismount(inside):
                if Path(place).is_dir():
                    inside.mkdir(parents=True, exist_ok=True)
                else:
                    inside.parent.mkdir(parents=True, exist_ok=True)
                    inside.touch()
                subprocess.run(["mount", "--rbind", place, inside], check=True)
        shutil.copy(CERTIFICATES, self.root / CERTIFICATES.lstrip("/"))
        if not (self.root / self.python.lstrip("/")).exists():
            self.build_python()

    def build_python(self) -> None:
        """Build the suite's own sources of CPython without the GIL."""
        said, prefix = self.said, Path(self.python).parents[1]
        (self.root / "etc/apt/sources.list.d/sources.list").write_text(f"deb-src {said['mirror']} {said['suite']} main\n")
        update = "apt-get -o Acquire::Check-Valid-Until=false"
        self.step(
            "sources of Python", "sh", "-c", f"{update} update && cd /opt && {update} source --download-only {said['source']}"
        )
        commands = ["rm -rf /opt/sources && mkdir /opt/sources && cd /opt/sources", f"tar -xf /opt/{said['source']}_*.orig.tar.xz --strip-components=1",
                    f"./configure -q --disable-gil --disable-test-modules --prefix={prefix}", f"make -s -j{os.cpu_count()}", "make -s install"]  # fmt: skip
        self.step("Python without the GIL", "sh", "-c", " && ".join(commands))

    def cross_compiler(self) -> list[str]:
        """The files of this machine's cross compiler, which the system sees as well: it runs as fast there as here."""
        compiler = self.said["compiler"]
        triple = compiler.rpartition("-")[0]
        tools = [f"/usr/bin/{triple}-{tool}" for tool in ("gcc", "as", "ld", "ld.bfd", "ar", "gcc-ar", "ranlib", "strip", "nm")]
        here = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
        loader = "/lib64/ld-linux-x86-64.so.2"
        return [
            *(tool for tool in tools if Path(tool).exists()),
            f"/usr/lib/{here}",
            f"/usr/lib/gcc-cross/{triple}",
            f"/usr/{triple}",
            loader,
        ]

    def download(self, *sets: list[str]) -> None:
        """Fetch another processor's wheels with this machine's pip: an emulated one is too slow for the time limits of servers."""
        python = self.step("version", self.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
        platforms = [f"--platform=manylinux_{glibc}_{self.said['machine']}" for glibc in ("2_17", "2_27", "2_28", "2_34")]
        for wanted in sets:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--prefer-binary", "--only-binary=:all:", *platforms,
                            f"--python-version={python}", "--dest", self.root / "packages", *wanted], check=True)  # fmt: skip

    def translate(self) -> None:
        """Translate the modules to C with this machine's Cython, at the same paths: an emulated one takes hours.

        The build there finds C that is newer than its sources and has the same flags, and goes on.
        """
        print(f"{self.name}: C by this machine's Cython ...", end=" ", flush=True)
        began, source, build = time.monotonic(), self.root / "src", self.root / BUILD.lstrip("/")
        programs = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        commands = ["mkdir -p /src", f"mount --bind {source} /src", f"meson setup {BUILD} /src",
                    f"ninja -C {BUILD} $(ninja -C {BUILD} -t targets all | sed -n 's/\\.c: .*/.c/p')"]  # fmt: skip
        with self.log.open("a") as log:  # a mount that only these commands see
            subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join(commands)], check=True, stdout=log, stderr=log,
                           env=os.environ | {"PATH": programs})  # fmt: skip
        here = next(path for path in sys.path if Path(path, "Cython").is_dir())
        there = self.step("packages' folder", "/v/bin/python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        for path in build.glob("*.dep"):  # what a module was made of, where it is there; as new as before
            time_of = path.stat()
            path.write_text(path.read_text().replace(f"{here}/", f"{there}/"))
            os.utime(path, ns=(time_of.st_atime_ns, time_of.st_mtime_ns))
        for path in build.iterdir():  # the rest is this machine's
            if path.is_dir() and path.name != "headers":
                shutil.rmtree(path)
            elif path.is_file() and path.suffix not in (".c", ".dep", ".flags"):
                path.unlink()
        print(f"done, {time.monotonic() - began:.0f} s", flush=True)

    def run(self, workers: int) -> dict:
        """Build, install, test; returns the row of runs.toml."""
        self.log.unlink(missing_ok=True)
        (self.root / "junit.xml").unlink(missing_ok=True)  # without results of its own a run is an error
        shutil.rmtree(self.root / "src", ignore_errors=True)
        subprocess.run(["git", "clone", "-q", ROOT, self.root / "src"], check=True)
        commit = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
        project = self.root / "src/pyproject.toml"  # a Python is tried before it is claimed
        project.write_text(
            re.sub(r'^requires-python = ".*?"', 'requires-python = ">=3.11"', project.read_text(), flags=re.MULTILINE)
        )
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        wanted = sorted({package for extra in EXTRAS for package in extras[extra]})
        without = tuple(self.said.get("without", ()))
        (self.root / "packages.txt").write_text("\n".join(package for package in wanted if not package.startswith(without)))
        if not (self.root / "v/bin/pip").exists():
            self.step("environment", self.python, "-m", "venv", "/v")
        if self.foreign:
            self.download(["-r", str(self.root / "packages.txt")], [f"numpy=={self.said['oldest']}"])
        self.step("packages", "/v/bin/pip", "install", "-q", "--prefer-binary", "-r", "/packages.txt")
        wheels = self.root / "wheels" / commit  # an interrupted run begins behind its wheel
        if not list(wheels.glob("*.whl")):
            tools = {
                name: self.said["compiler"].replace("gcc", tool)
                for name, tool in (("AR", "gcc-ar"), ("STRIP", "strip"))
                if self.foreign
            }
            if self.foreign:
                self.translate()
            self.step("wheel", "/v/bin/pip", "wheel", "-q", "--no-deps", "--no-build-isolation", f"-Cbuild-dir={BUILD}", "-w", f"/wheels/{commit}",
                      "/src", CC=self.said["compiler"], **tools)  # fmt: skip
        subprocess.run(["git", "checkout", "-q", "pyproject.toml"], cwd=self.root / "src", check=True)
        wheel = f"/{next(wheels.glob('*.whl')).relative_to(self.root)}"
        for numpy in ("numpy", f"numpy=={self.said['oldest']}"):
            self.step(f"empty environment, {numpy}", self.python, "-m", "venv", "--clear", "/bare")
            self.step(
                "install", "/bare/bin/pip", "install", "-q", "--only-binary", ":all:", numpy, wheel, CC="false", PATH="/bare/bin"
            )
            self.step("selftest", "/bare/bin/python", "-m", "gradspec.selftest", PATH="/bare/bin")
        self.step("install", "/v/bin/pip", "install", "-q", "--no-deps", "--force-reinstall", wheel)
        shutil.rmtree(self.root / "src/build", ignore_errors=True)
        tests = [
            "/v/bin/python",
            "-m",
            "pytest",
            "-n",
            str(workers),
            "--dist",
            "worksteal",
            "-vv",  # names, beside the -q of pyproject.toml
            "-p",
            "no:cacheprovider",
            "--junitxml",
            "/junit.xml",
        ]
        self.step(
            f"tests {' '.join(self.said['tests'])}",
            "sh",
            "-c",
            f"cd /src && {' '.join([*tests, *self.said['tests']])}",
            check=False,
        )
        return self.row(commit)

    def processor(self) -> str:
        """The widest vectors of this machine's processor, or its emulator."""
        if self.foreign:
            return "by qemu-user"
        flags = Path("/proc/cpuinfo").read_text().split()
        return "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "without AVX2"

    def row(self, commit: str) -> dict:
        """What was run, where, and with which result."""
        suite = ElementTree.parse(self.root / "junit.xml").getroot()[0]
        counts = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
        asked = ("import platform, sysconfig, numpy; free = 't' * bool(sysconfig.get_config_var('Py_GIL_DISABLED'));"
                 "print(platform.python_version() + free, numpy.__version__, platform.machine(), sep='\\n')")  # fmt: skip
        python, numpy, machine = self.step("versions", "/v/bin/python", "-c", asked).split()
        system = dict(line.split("=", 1) for line in (self.root / "etc/os-release").read_text().splitlines() if "=" in line)
        compiler = self.step("compiler", self.said["compiler"], "--version").splitlines()[0]
        wrong = counts["failures"] + counts["errors"]
        return {
            "date": datetime.date.today(), "commit": commit, "system": system["PRETTY_NAME"].strip('"'), "compiler": compiler, "python": python,
            "processor": f"{machine}, {self.processor()}", "numpy": numpy, "selftest": [numpy, self.said["oldest"]], "tests": " ".join(self.said["tests"]),
            "passed": counts["tests"] - wrong - counts["skipped"], "skipped": counts["skipped"], "failed": wrong,
        }  # fmt: skip


def main() -> int:
    systems = tomllib.loads(SYSTEMS.read_text())
    parser = argparse.ArgumentParser(prog="python -m tests.portability", description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=f"one of {', '.join(systems)}; all of them by default")
    parser.add_argument("--roots", type=Path, default=ROOT.parent / "gradspec-roots", help="the folder of the systems, 2 GB each")
    parser.add_argument(
        "--tests", type=str.split, help='arguments of pytest in the place of those in systems.toml: --tests="-m quick"'
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes of pytest")
    parser.add_argument("--table", action="store_true", help="write the table of docs/portability.md, and run nothing")
    given = parser.parse_args()
    if unknown := set(given.systems) - set(systems):
        parser.error(f"no system has the name {', '.join(sorted(unknown))}; there are {', '.join(systems)}")
    if not given.table:
        if os.geteuid():
            parser.error("chroot and mounts need root: sudo python -m tests.portability")
        if shutil.which("debootstrap") is None:
            parser.error("debootstrap is not installed: apt-get install debootstrap qemu-user-static")
        given.roots.mkdir(parents=True, exist_ok=True)
        for name in given.systems or systems:
            machine = systems[name].get("machine")
            if machine and not Path(f"/proc/sys/fs/binfmt_misc/qemu-{machine}").exists():
                parser.error(f"{name}: this kernel does not start programs for {machine}: mount -t binfmt_misc binfmt_misc "
                             f"/proc/sys/fs/binfmt_misc && update-binfmts --enable qemu-{machine}")  # fmt: skip
            system = System(name, systems[name] | ({"tests": given.tests} if given.tests else {}), given.roots)
            system.make()
            table.add(system.run(given.workers))
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
