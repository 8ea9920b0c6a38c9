"""Docstrings of public functions: numpydoc sections around the texts of each function from `generated/docs`.

Defines the headings, their order, and the texts that many functions share.
"""

from .dispatch import ops

OUT = "out : Tensor, optional\n    Where the result is written."
LEAF = "requires_grad : bool, default False\n    Whether the result is a leaf that collects a gradient."


def describe(texts):
    """Set the docstring of each operator, given by its name in `ops`."""
    for name, text in texts.items():
        getattr(ops, name).__doc__ = text


def docstring(summary, parameters="", notes="", examples="", returns="y : Tensor", references=""):
    """A numpydoc docstring; each argument except the summary is the section with its name."""
    text = summary
    if parameters:
        text += "\n\nParameters\n----------\n" + parameters
    text += "\n\nReturns\n-------\n" + returns + "\n\nNotes\n-----\n" + notes
    if references:
        text += "\n\nReferences\n----------\n" + references
    if examples:
        text += "\n\nExamples\n--------\n" + examples
    return text
