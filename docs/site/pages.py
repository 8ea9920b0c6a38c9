"""Write the sources of the site: the pages of docs/, a page an operator, the families, the index of names, the reference.

`python docs/site/pages.py FOLDER` writes Markdown and reStructuredText for Sphinx.  An operator's page is its entry: the formulas
that make the code are typeset, the table of modes says how each is proved, the example is run.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SITE = Path(__file__).resolve().parent
ROOT = SITE.parents[1]
sys.path[:0] = [str(ROOT), str(SITE)]

import at_work  # noqa: E402
import elsewhere  # noqa: E402
import jinja2  # noqa: E402
import mathematics  # noqa: E402
import plots  # noqa: E402
import speed  # noqa: E402
from numpydoc.docscrape import FunctionDoc  # noqa: E402

import gradspec as gs  # noqa: E402
from codegen import show, spec_cache  # noqa: E402
from codegen.package import Package  # noqa: E402
from codegen.progress import Progress  # noqa: E402
from codegen.spec.model import Op, Spec  # noqa: E402
from codegen.write import docstring_maths, examples, modes  # noqa: E402
from codegen.write.files import Views  # noqa: E402
from tests.elsewhere.listed import difference  # noqa: E402

PLOTS = "--without-plots" not in sys.argv
SWEEP = ROOT / "benchmarks/sweep.tsv"
MEASURED = SWEEP.read_text().partition("\n")[0].removeprefix("# ")
MODES = {
    "rule": "the derivative rule", "value": "the value", "vmap": "the rule for batches", "series": "Taylor series",
    "rev-rev": "reverse over reverse", "fwd-rev": "forward over reverse", "rev-fwd": "reverse over forward", "fwd-fwd": "forward over forward",
}  # fmt: skip
#: Heading -> the pages of docs/ in reading order; a page that is named nowhere is an error.
GUIDES = {
    "Start": "five_minutes tour from_pytorch from_jax from_hips_autograd from_numpy what_can_go_wrong",
    "Differentiate": "cookbook contract derivative-conventions rules vmap taylor replay native observe",
    "Build": "training modules_of_nn implicit_layers data distributions distributed operators",
    "Compute": (
        "fits differential_equations scipy scipy_functions scipy_names scipy_integrate scipy_signals scipy_stats sparse "
        "sparse_arrays nested"
    ),
    "Measure": "accuracy speed portability",
    "Internals": "architecture at_work modules glossary invariants passes kernels grammar releasing",
}
#: The modules of the reference; the main namespace has what no other module has.
REFERENCE = (
    "autograd autograd.functional autograd.forward_ad autograd.graph func nn nn.functional nn.init nn.utils optim "
    "optim.lr_scheduler optim.swa_utils distributions random utils.data sparse nested distributed profiler "
    "scipy.special scipy.linalg scipy.fft scipy.integrate scipy.interpolate scipy.optimize scipy.signal scipy.stats "
    "scipy.ndimage scipy.spatial signal.windows linalg fft special tree_util debug lax extend test_util"
).split()


def templates() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(SITE / "templates")
    found = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    found.filters["maths"] = mathematics.line
    return found


def waiting(label: str, items: list[Any]) -> Iterator[Any]:
    """The items, with a line on stderr that says how far the loop over them is."""
    with Progress(label) as progress:
        for done, item in enumerate(items, 1):
            progress(done, len(items), getattr(item, "name", item))
            yield item


class Operators:
    """The contents of operators' pages."""

    def __init__(self, spec: Spec):
        self.spec, self.views, self.modes = spec, Views(spec), modes.Modes(spec)
        self.entries = show.entries(spec)
        self.accuracy, self.cost = dict(accuracy()), dict(cost())
        self.names = elsewhere.of_objects()

    def public(self) -> Iterator[Op]:
        return (op for family in self.spec.families for op in family.ops if not op.private)

    def context(self, op: Op) -> dict[str, object]:
        place = f"gs.{page(op)}" if "function" in op.variants else f"x.{op.name}"
        return {
            "op": op, "place": place, "page": page(op),
            "also": [f"gs.{name}" for name in (*op.aliases, *(f"{where}.{name}".lstrip(".") for where, name in op.elsewhere))],
            "elsewhere": [(library, [(name, difference(name, op.name)) for name in names])
                          for library, names in self.elsewhere(op)],
            "backward": docstring_maths.backward(op), "forward": docstring_maths.forward(op),
            "modes": grouped(self.modes.row(op)), "called": called(op), "private": self.private(op),
            "saved": saved(op), "entry": self.entries[op.name].rstrip(), "keys": self.keys(op),
            "session": self.session(op), "code": code(op),
            "accuracy": [row for name in (op.name, *op.numpy) for row in self.accuracy.get(name, ())],
            "plot": plots.name(op) if PLOTS else "", "cost": self.cost.get(op.name), "measured": MEASURED,
        }  # fmt: skip

    def private(self, op: Op) -> list[tuple[str, str]]:
        """Call -> what it computes, for the private operators in the rules."""
        text = " ".join([*docstring_maths.backward(op), *docstring_maths.forward(op)])
        found = dict.fromkeys(name for name in re.findall(r"\b_\w+(?=\()", text) if name in self.spec.ops)
        return [(self.spec.ops[name].signature.source, self.spec.ops[name].doc) for name in found]

    def elsewhere(self, op: Op) -> list[tuple[str, list[str]]]:
        """Library -> the names of the operator there."""
        found = [f"numpy.{name}" for name in op.numpy] + self.names.get(id(value(op)), [])
        return list(elsewhere.by_library(list(dict.fromkeys(found))))

    def keys(self, op: Op) -> list[str]:
        """The keys of an entry; a partial derivative has the key `dy/dx`."""
        found = re.findall(r"^(?:- |  )([\w/]+):", self.entries[op.name], re.MULTILINE)
        return list(dict.fromkeys("dy/dx" if "/" in key else key for key in found))

    def session(self, op: Op) -> list[str]:
        """The entry's example, as it runs now."""
        lines = examples.example(self.views(op))
        return (
            []
            if not lines or "function" not in op.variants
            else [lines[0], *repr(eval(lines[0].removeprefix(">>> "), {"gs": gs})).splitlines()]
        )


def called(op: Op) -> tuple[str, list[tuple[str, str, str]]]:
    """The parameters of a public operator as Python has them, and its parameters and results: name, type, words."""
    function = value(op) or next(filter(None, (getattr(gs.Tensor, name, None) for name in (op.name, f"{op.name}_"))), None)
    if not callable(function):
        return "", []  # a property
    signature = inspect.signature(function)
    shown = [one for name, one in signature.parameters.items() if name != "self"]
    described = FunctionDoc(function)
    rows = [(one.name, one.type, " ".join(one.desc)) for part in ("Parameters", "Returns") for one in described[part]]
    return str(signature.replace(parameters=shown)), rows


def grouped(row: dict[str, str]) -> list[tuple[str, str]]:
    """The modes of an operator, those with the same words together, without the conventions."""
    found: dict[str, list[str]] = {}
    for mode, words in row.items():
        found.setdefault(words.partition("<br>")[0], []).append(MODES.get(mode, mode))
    return [(", ".join(names), words) for words, names in found.items()]


def value(op: Op) -> object:
    """The public function; None of a method alone."""
    return getattr(elsewhere.namespace(op.namespace), op.name) if "function" in op.variants else None


def page(op: Op) -> str:
    return f"{op.namespace}.{op.name}".lstrip(".")


def saved(op: Op) -> list[tuple[str, str]]:
    """Argument -> the values that its gradient needs."""
    derived = op.derived
    return (
        []
        if derived is None
        else [(name, ", ".join(map(show.words_of_saved, values)) or "nothing") for name, values in derived.saved_for.items()]
    )


@functools.cache
def generated(name: str) -> str:
    """The text of a generated file; empty for the nodes of a family without derivatives."""
    path = ROOT / "generated" / name
    return path.read_text() if path.exists() else ""


def code(op: Op) -> str:
    """The generated node and wrapper."""
    names = (f"{folder}/{op.family}.pyx" for folder in ("functions", "variable_type"))
    return "\n\n\n".join(block for name in names for block in show.definitions(op, name, generated(name)))


def accuracy() -> Iterator[tuple[str, list[list[str]]]]:
    """Function -> its rows in the tables of docs/accuracy.md, without the name."""
    for line in (ROOT / "docs/accuracy.md").read_text().splitlines():
        if match := re.match(r"\| `(\w+)` \|(.*)\|$", line):
            yield match[1], [[cell.strip() for cell in match[2].split("|")]]


def cost() -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Operator -> its rows in benchmarks/sweep.tsv: call, dtype, elements, ratios to PyTorch's time."""
    rows = [tuple(line.split("\t")) for line in SWEEP.read_text().splitlines()[2:]]
    for operator, found in itertools.groupby(rows, lambda row: row[0]):
        yield operator, [row[1:] for row in found]


def guides(folder: Path) -> None:
    """The pages of docs/, where a link to a file of the checkout is its name."""
    named = {name for names in GUIDES.values() for name in names.split()} - {"at_work"}  # which is generated
    found = {path.stem for path in (ROOT / "docs").glob("*.md")}
    if missing := found ^ named:
        sys.exit(f"docs/site/pages.py: GUIDES and docs/ differ: {', '.join(sorted(missing))}")
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/decisions").glob("*.md")]
    for path in pages:
        target = folder / path.relative_to(ROOT / "docs")
        target.parent.mkdir(exist_ok=True)
        target.write_text(linked(path.read_text(), path, folder))
    for path in (ROOT / "docs").glob("*.svg"):
        shutil.copy(path, folder)


def first(lines: list[str]) -> str:
    """The first sentence of a page below its title, without links and without the word that opens a decision."""
    text = " ".join(itertools.takewhile(bool, itertools.dropwhile(lambda line: not re.match(r"[\w*`\[]", line), lines)))
    text = text.removeprefix("**Question.** ")
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", re.split(r"(?<=[.:]) ", text)[0].rstrip(":"))


def listing(folder: Path, name: str) -> tuple[str, str, str]:
    """A page's name, its title and its first sentence."""
    title, *lines = (folder / f"{name}.md").read_text().splitlines()
    return name, title.lstrip("# "), first(lines)


def sections(folder: Path) -> None:
    """A page for each heading of GUIDES, with its pages; the one for developers has the decisions as well."""
    decisions = [f"decisions/{path.stem}" for path in sorted((folder / "decisions").iterdir())]
    for title, names in GUIDES.items():
        parts = {"": names.split(), "Decisions": decisions if title == "Internals" else []}
        listed = {part: [listing(folder, name) for name in pages] for part, pages in parts.items() if pages}
        (folder / f"{title.lower()}.md").write_text(templates().get_template("guides.md.j2").render(title=title, parts=listed))


def linked(text: str, path: Path, folder: Path) -> str:
    """The text with links that lead somewhere on the site: to a page, or else the name of the file in the checkout.

    A comment `index: ENTRIES` makes the search lead to its place.
    """

    def link(match: re.Match) -> str:
        words, target = match[1], match[2]
        if "://" in target or target.startswith("#"):
            return match[0]
        file, _, part = target.partition("#")
        place = (path.parent / file).resolve()
        if place == ROOT / "generated/OPS.md":
            return f"[{words}]({os.path.relpath(ROOT / 'docs/operators/index.md', path.parent)})"
        if place == ROOT / "docs/decisions":
            return f"[{words}]({os.path.relpath(ROOT / 'docs/internals.md', path.parent)}#decisions)"
        if place.is_relative_to(ROOT / "docs") and place.is_file():
            return match[0]
        name = place.relative_to(ROOT).as_posix() if place.is_relative_to(ROOT) else target
        return words if words.strip("`") == name else f"{words} (`{name}`)"

    text = re.sub(r"^<!-- index: (.+) -->$", lambda entries: "```{index} ! " + entries[1].replace(", ", ", ! ") + "\n```", text, flags=re.M)
    if path.name == "grammar.md":
        text = re.sub(r"^\| `([\w/]+)` \|", r'| <a id="key-\1"></a>`\1` |', text, flags=re.MULTILINE)
    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", link, text)


def operators(folder: Path, spec: Spec) -> None:
    """A page an operator, a page a family, the index by any name."""
    found, environment = Operators(spec), templates()
    (folder / "operators").mkdir(exist_ok=True)
    template, names = environment.get_template("operator.md.j2"), {}
    for op in waiting("operators", list(found.public())):
        context = found.context(op)
        (folder / "operators" / f"{context['page']}.md").write_text(template.render(context))
        for name in (context["place"], *context["also"], *(name for _, names in found.elsewhere(op) for name in names)):
            place, _, last = name.rpartition(".")
            names.setdefault((last, context["page"]), []).append(place)
    families = [(family, [op for op in family.ops if not op.private]) for family in spec.families]
    for family, ops in families:
        text = environment.get_template("family.md.j2").render(family=family, ops=ops, page=page)
        (folder / "operators" / f"family-{family.name}.md").write_text(text)
    text = environment.get_template("operators.md.j2").render(
        families=families,
        names=dict(sorted(names.items(), key=lambda item: item[0][0].lower())),
        libraries=elsewhere.LIBRARIES,
        legend=legend(),
    )
    (folder / "operators" / "index.md").write_text(text)


def legend() -> str:
    """The words of the table of modes, as generated/OPS.md explains them."""
    text = (ROOT / "generated/OPS.md").read_text()
    words = re.search(r"(`rule`: proved by .*?)\n\n", text, re.DOTALL)[1]
    return re.sub(r"docs/(\w+)\.md", r"[\1](../\1.md)", words)


def members(module: str) -> list[str]:
    """The public names of a module of the reference."""
    found = elsewhere.namespace(module)
    return sorted(getattr(found, "__all__", None) or [one for one in dir(found) if not one.startswith("_")])


@functools.cache
def described() -> dict[int, tuple[str, str]]:
    """Identity of a function or a class -> the module and the name of its description in the reference."""
    found: dict[int, tuple[str, str]] = {}
    for module in (*REFERENCE, ""):
        for name in members(module):
            member = getattr(elsewhere.namespace(module), name, None)
            if kind(member) in ("class", "function"):
                found.setdefault(id(member), (module, name))
    return found


def reference(folder: Path) -> None:
    """A page a module of the library, from its docstrings."""
    environment, names = templates(), elsewhere.of_objects()
    (folder / "reference").mkdir(exist_ok=True)
    for name in waiting("reference", ["", *REFERENCE]):
        module = elsewhere.namespace(name)
        values = {one: getattr(module, one, None) for one in members(name)}
        kinds = {one: kind(value) for one, value in values.items()}
        again = {one for one, value in values.items() if described().get(id(value)) != (name, one)}  # is indexed on another page
        if not name:
            kinds = {one: word for one, word in kinds.items() if one not in again}
        pages = {one: place for one in kinds if kinds[one] == "operator" and (place := operator_page(name, one, folder))}
        other = {one: ", ".join(names.get(id(values[one]), ())) for one in kinds}
        inner = {  # classes in a class have places of their own
            one: ", ".join(key for key, held in vars(values[one]).items() if isinstance(held, type))
            for one, word in kinds.items()
            if word == "class"
        }
        text = environment.get_template("reference.rst.j2").render(
            name=f"gradspec.{name}".rstrip("."), kinds=kinds, pages=pages, again=again, other=other, inner=inner
        )
        (folder / "reference" / f"{name or 'gradspec'}.rst").write_text(text)
    (folder / "reference" / "index.md").write_text(
        environment.get_template("modules.md.j2").render(names=["gradspec", *REFERENCE])
    )


def names_elsewhere(folder: Path, spec: Spec) -> None:
    """A page for each other library: what is here for each of its names."""
    places = {id(value(op)): f"[`gs.{page(op)}`](../operators/{page(op)}.md)" for op in Operators(spec).public()}
    places |= {key: f"{{py:obj}}`gs.{name} <gradspec.{name}>`" for key, (module, one) in described().items()
               for name in [f"{module}.{one}".lstrip(".")]}  # fmt: skip
    (folder / "names").mkdir(exist_ok=True)
    for short, library in elsewhere.LIBRARIES.items():
        found = [name for name in elsewhere.names() if name.library == library]
        modules = {module: [(str(name), here(name, places)) for name in group]
                   for module, group in itertools.groupby(found, lambda name: name.module)}  # fmt: skip
        text = templates().get_template("names.md.j2").render(library=library, modules=modules)
        (folder / "names" / f"{short}.md").write_text(text)


def here(name: elsewhere.Name, places: dict[int, str]) -> str:
    """A link to the page of another library's name, or the answer of the error."""
    if name.value is None:
        words = re.sub(r"\b((?:gs|np|x|y|scipy|numpy)\.[\w.]*\w(?:\([^()]*\))?)", r"`\1`", name.answer)
        return words.replace("|", "\\|").replace("*", "\\*")
    place = name.answer.removeprefix("write ") or f"gs.{elsewhere.counterpart(name.module)}.{name.name}".replace("..", ".")
    found = ("write " if name.answer else "") + places.get(id(name.value), f"`{place}`")
    kind, why = getattr(name.value, "kind", ""), getattr(name.value, "why", "")
    return (
        f"{found}, {'refused' if kind == 'refused' else 'without derivative'}: {why}" if kind in ("value", "refused") else found
    )


def kind(value: object) -> str:
    """How a member is shown: "class", "function", "operator" by a link to its page; "" for others."""
    if not getattr(value, "__doc__", None) or not callable(value):
        return ""
    if str(getattr(value, "__module__", "")).startswith(("gradspec.generated", "gradspec.random.draws")):
        return "operator"
    return "class" if isinstance(value, type) else "function"


def operator_page(module: str, member: str, folder: Path) -> str:
    """The page of an operator that a module has under this name."""
    found = (f"{module}.{member}", member, *(f"{place}.{member}" for place in ("special", "nn", "linalg", "fft", "random")))
    return next((name for name in found if (folder / "operators" / f"{name}.md").exists()), "")


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spec = spec_cache.analysed(Package.at(ROOT))
    guides(folder)
    if PLOTS:
        plots.draw(spec, folder / "operators")
    operators(folder, spec)
    reference(folder)
    names_elsewhere(folder, spec)
    at_work.write(folder, templates())
    sections(folder)
    (folder / "index.md").write_text(front())
    speed.draw(speed_of_readme(), folder / "speed_of_programs.svg")


def speed_of_readme() -> str:
    """README's section on speed: its words and its table."""
    return re.search(r"^## Speed\n\n(.*?)\n\n##", (ROOT / "README.md").read_text(), re.M | re.S)[1]


def front() -> str:
    """The front page: README's sentence, its first program and its table of speed, and where to continue."""
    readme = ROOT / "README.md"
    text = readme.read_text()
    program = re.search(r"```python\n(.*?)\n```", text, re.DOTALL)[1]
    return (
        templates()
        .get_template("index.md.j2")
        .render(
            sentence=text.split("\n\n")[1],
            program=program,
            speed=linked(speed_of_readme().replace("](docs/", "]("), ROOT / "docs/index.md", ROOT / "docs"),
            sections=[title.lower() for title in GUIDES],
            libraries=elsewhere.LIBRARIES,
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
