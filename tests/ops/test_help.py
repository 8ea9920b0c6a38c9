"""The example that help() shows of every function: it is there, and it prints what it says, up to the sign of a zero."""

import doctest
import re

import gradspec as gs
from gradspec.codegen.spec.samples import evaluate_stated
from gradspec.generated.op_info import OPS

from .questions import of_entries
from .spec import the_spec


def has_help(op):
    return not op.name.startswith("_") and "function" in op.variants


RANDOM = {op.name for op in OPS if op.namespace == "random" or "generator" in op.signature}


class UpToTheSignOfZero(doctest.OutputChecker):
    """An entry states no signs of zeros, which the widths of what is printed depend on."""

    def check_output(self, want, got, optionflags):
        return plain(want) == plain(got)


def plain(text):
    return re.sub(r"-(?=0\.(?!\d)|0\.e)", "", text).replace("+", "").replace(" ", "")


def documented(op):
    return getattr(getattr(gs, op.namespace) if op.namespace else gs, op.name)


def has_empty_lines(op):
    """Whether each stated value is printed with empty lines, which would end the example."""
    values = [evaluate_stated(example.value.source, 1)[0] for example in the_spec().ops[op.name].examples]
    return bool(values) and all("\n\n" in repr(gs.tensor(value)) for value in values)


@of_entries(has_help)
def test_the_example_prints_what_it_says(op):
    text = documented(op).__doc__
    test = doctest.DocTestParser().get_doctest(text, {"gs": gs}, op.name, None, 0)
    assert test.examples or op.name in RANDOM or has_empty_lines(op), "the entry has no example that is short and made of literals"
    report = []
    runner = doctest.DocTestRunner(UpToTheSignOfZero(), verbose=False)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
