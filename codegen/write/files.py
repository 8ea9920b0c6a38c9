"""Files: render and write the folder of generated code from the analysed spec.

Decides the template of each file.  Templates contain only loops and fields.  The whole folder is rewritten, but a file with
unchanged text is not touched, so a build recompiles only the families that changed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import jinja2

from ..package import Package
from ..spec.library import offered_kernels
from ..spec.model import Family, Op, Spec
from ..spec.table import OWNER
from . import docstring_maths, layout, numpy_calls, numpy_forwards, op_info, sections, stubs, table, taylor_table, vmap_table
from .modes import Modes
from .programs import Elementwise
from .wrapper import OpText

MODULE = "operators"  # the module of all families of another package

# The folders with one module for each family, in the order of their calls.
_FOLDERS = {
    "kernels": "Forwards on arrays, a module for each family.",
    "functions": "Backward nodes, a module for each family.",
    "variable_type": "Operators on tensors, a module for each family.",
}


def generate(spec: Spec, place: Package | Path) -> list[Path]:
    """Write the folder of generated code; return the files whose text changed."""
    package = Package.at(place)
    return write(render(spec, package), package.path(package.generated))


def stale(spec: Spec, place: Package | Path) -> list[str]:
    """The files of generated/ that differ from the rendered ones, with missing and superfluous files."""
    package = Package.at(place)
    return differing(render(spec, package), package.path(package.generated))


def differing(wanted: dict[str, str], folder: Path) -> list[str]:
    """The files of a folder that differ from the wanted ones, with missing and superfluous files."""
    present = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    changed = {name for name, text in wanted.items() if name not in present or (folder / name).read_text() != text}
    return sorted(changed | (present - wanted.keys()))


def write(files: dict[str, str], folder: Path) -> list[Path]:
    changed = []
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and str(path.relative_to(folder)) not in files:
            path.unlink()
        elif path.is_dir() and (path.name == "__pycache__" or not any(path.iterdir())):
            shutil.rmtree(path)
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            changed.append(path)
    return changed


def render(spec: Spec, place: Package | Path) -> dict[str, str]:
    """File name -> text, for all files in the folder of generated code."""
    from . import examples  # here, because it needs NumPy, unlike the other imports

    package = Package.at(place)
    views, templates = Views(spec), Templates(package, examples=examples)
    texts = {family.name: [views(op) for op in family.ops] for family in spec.families}
    everything = [text for family in texts.values() for text in family]
    files: dict[str, str] = {}

    def emit(name: str, template: str, **context: object) -> None:
        files[name] = templates.rendered(name, template, **context)

    for family in spec.families:
        files |= _modules(spec, templates, family, texts[family.name])

    emit("tensor.pyx", "tensor.pyx.j2", families=spec.families, views=texts)
    emit("tensor.pyi", "tensor.pyi.j2")
    several = [text for text in everything if text.result_class]
    emit("results.py", "results.py.j2", ops=several)
    emit("results.pyi", "results.pyi.j2", ops=several, stubs=stubs)
    emit("op_info.py", "op_info.py.j2", ops=everything, presets=spec.presets, op_info=op_info)
    if package.is_library:  # programs over NumPy consist of gradspec's operators only
        emit("numpy_forwards.py", "numpy_forwards.py.j2", families=spec.families, signatures=views.signatures,
             numpy_forwards=numpy_forwards)  # fmt: skip
        files["library.json"] = table.table(spec)
    batched = [(text.name, vmap_table.mapped(text.op, views.signatures)) for text in everything]
    emit("batching.py", "batching.py.j2", ops=[(name, found) for name, found in batched if found])
    emit("series.py", "series.py.j2", ops=[(text.name, taylor_table.series(text.op)) for text in everything])
    ops = list(spec.ops.values())
    emit("numpy_table.py", "numpy_table.py.j2", universal=numpy_calls.universal(ops), functions=numpy_calls.functions(ops),
         special=numpy_calls.special(ops))  # fmt: skip
    if offered := offered_kernels(package):
        compiled, python = (
            {name.removesuffix(suffix).replace("/", "."): kernels for name, kernels in offered.items() if name.endswith(suffix)}
            for suffix in (".pyx", ".py")
        )
        emit("kernel_names.py", "kernel_names.py.j2", compiled=compiled, python=python)
    emit("OPS.md", "OPS.md.j2", families=spec.families, views=texts, modes=Modes(spec))
    namespaces = sorted({text.op.namespace for text in everything} - {""})
    # A namespace with more than operators is a hand-written module or package; it imports the operators from a generated one.
    by_hand = {name for name in namespaces for folder in package.folders
               if (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists()}  # fmt: skip
    installed = [f"_{name}" if name in by_hand else name for name in namespaces]
    namespaces = [name for name in namespaces if name not in by_hand]
    for namespace, module in [("", "ops")] + [(module.lstrip("_"), module) for module in installed]:
        members = [text for text in everything if text.op.namespace == namespace and text.is_function]
        borrowed = [(text, name) for text in everything for where, name in text.op.elsewhere if where == namespace]
        seen = {text.op.family for text in members} | {text.op.family for text, _ in borrowed}
        context = {"ops": members, "borrowed": borrowed, "namespace": namespace, "module": module, "namespaces": namespaces,
                   "unseen": [family.name for family in spec.families if family.ops and family.name not in seen]}
        emit(f"namespaces/{module}.py" if namespace else "ops.py", "namespace.py.j2", **context)
        # A namespace is imported on first use: functions that the main namespace takes from it are described there.
        described = members if namespace else members + [text for text, _ in borrowed if text.op.namespace]
        described = [text for text in described if not (namespace and any(not where for where, _ in text.op.elsewhere))]
        emit(f"docs/{module}.py", "docs.py.j2", ops=described, place=f"{package.name}.{namespace}".rstrip("."))
        if namespace:
            emit(f"namespaces/{module}.pyi", "namespace.pyi.j2", stubs=stubs, **context)
    if installed:
        emit("namespaces/meson.build", "namespaces.build.j2", namespaces=installed)
    borrowed = [(text, name) for text in everything for where, name in text.op.elsewhere if not where]
    emit("__init__.pyi", "init.pyi.j2", ops=everything, borrowed=borrowed, namespaces=namespaces, stubs=stubs)
    for folder, about in ("", ""), *_FOLDERS.items():
        modules = sorted(Path(name).stem for name in files if name.endswith(".pyx") and name.rpartition("/")[0] == folder)
        place = f"{folder}/".lstrip("/")
        emit(f"{place}meson.build", "meson.build.j2", modules=modules, module=f"{package.generated_module}.{folder}".rstrip("."),
             folders=() if folder else [*_FOLDERS, *(["namespaces"] if installed else [])])
        if folder:
            small = {family.name for family in spec.families if family.small}
            files[f"{place}modules.txt"] = "".join(f"{name}{' small' * (name in small)}\n" for name in modules)
        emit(f"{place}__init__.py", "folder.py.j2", about=about)
        files[f"{place}__init__.pxd"] = ""
    files["__init__.py"] = files["docs/__init__.py"] = ""
    return files


def render_family(spec: Spec, place: Package | Path, name: str) -> dict[str, str]:
    """The modules of one family."""
    views, family = Views(spec), next(family for family in spec.families if family.name == name)
    return _modules(spec, Templates(Package.at(place)), family, [views(op) for op in family.ops])


def _modules(spec: Spec, templates: Templates, family: Family, ops: list[OpText]) -> dict[str, str]:
    nodes = [text for text in ops if text.has_node]
    called = {name for text in ops for name in text.forward_calls} - {text.name for text in ops}
    used = {name for text in nodes for name in text.node_forwards}
    context = {"family": family, "ops": ops, "nodes": nodes}
    loaded = {"functions": _loaded(spec, used), "kernels": _loaded(spec, called), "variable_type": []}
    return {
        f"{folder}/{family.name}{suffix}": templates.rendered(suffix, f"{folder}{suffix}.j2", loaded=loaded[folder], **context)
        for folder in loaded if nodes or folder != "functions" for suffix in (".pyx", ".pxd")
    }  # fmt: skip


def render_alone(spec: Spec, place: Package | Path, op: Op) -> dict[str, str]:
    """The node and operator modules of a family, rendered for one operator alone."""
    templates, text = Templates(Package.at(place)), Views(spec)(op)
    family = next(family for family in spec.families if family.name == op.family)
    context = {"family": family, "ops": [text], "nodes": [text] if text.has_node else [], "loaded": []}
    folders = ["functions"] * text.has_node + ["variable_type"]
    names = {f"{folder}/{op.family}.pyx": f"{folder}.pyx.j2" for folder in folders}
    return {name: templates.rendered(name, template, **context) for name, template in names.items()}


class Views:
    """Operators in the form for templates."""

    def __init__(self, spec: Spec):
        self._ops = spec.by_spelling
        self.signatures = {spelling: op.signature for spelling, op in self._ops.items()}
        self._elementwise = Elementwise(self._ops)

    def __call__(self, op: Op) -> OpText:
        return OpText(op, self.signatures, self._ops, self._elementwise)


class Templates:
    def __init__(self, package: Package, by: str = "", **modules: object):
        self._package, self._by = package, by
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
            trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined,
        )  # fmt: skip
        self._templates.globals |= {"maths": docstring_maths, "sections": sections, "package": package, "place": "",
                                    "forwards_of": self.forwards_of, **modules}  # fmt: skip

    def forwards_of(self, op: Op) -> str:
        """The module with the forward of an operator."""
        package = Package(Path()) if op.location.file == OWNER else self._package
        return f"{package.generated_module}.kernels.{op.family if package.is_library else MODULE}"

    def rendered(self, name: str, template: str, **context: object) -> str:
        """The text of a file."""
        by = self._by or f"codegen/write/templates/{template}"
        header = f"Generated by {by} from {Path(self._package.spec).name}. Do not edit."
        text = self._templates.get_template(template).render(header=header, **context)
        if name.endswith(".pyx"):
            text = layout.broken(layout.tidy(layout.spaced(text)))
        return layout.tidy(text) if name.endswith((".pxd", ".py")) else text


def _loaded(spec: Spec, names: Iterable[str]) -> list[Op]:
    """The ops whose forwards a module imports, in the order of the file."""
    wanted = set(names)
    return [op for op in spec.ops.values() if op.name in wanted]
