"""Docstrings of the public functions: numpydoc's sections around the lines that `generated/docs` has of each.

Owns the headings, their order, and the lines that many functions share.  Knows nothing of types and formulas: the generator
words them.
"""

from .dispatch import ops

OUT = "out : Tensor, optional\n    Where the result is written."
LEAF = "requires_grad : bool, default False\n    Whether the result is a leaf that collects a gradient."


def describe(texts):
    """Give each operator, by its name in `ops`, its docstring."""
    for name, text in texts.items():
        getattr(ops, name).__doc__ = text


def docstring(summary, parameters="", notes="", examples="", returns="y : Tensor", references=""):
    """A docstring after numpydoc; each argument but the summary is the section of its name."""
    text = summary
    if parameters:
        text += "\n\nParameters\n----------\n" + parameters
    text += "\n\nReturns\n-------\n" + returns + "\n\nNotes\n-----\n" + notes
    if references:
        text += "\n\nReferences\n----------\n" + references
    if examples:
        text += "\n\nExamples\n--------\n" + examples
    return text
