"""Check names that an entry may define: operators, arguments, outputs, aliases, lets and families.

Holds the words that Python or Cython reads differently, and the reserved names, which have a meaning in formulas or in generated
code.  Variables of generated code need no list: locals end in `_`, and fields of a node begin with `saved_` or `version_`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection

from ..errors import SpecError
from .constants import CONSTANTS
from .model import Argument, Location, Output

_NAME = re.compile(r"_*[A-Za-z]\w*", re.ASCII)
_LENGTH = 60
# Words that begin another construct in Cython, and words that Cython reads as the type of an argument.
_KEYWORDS = {"DEF", "ELIF", "ELSE", "IF", "NULL", "cdef", "cimport", "cpdef", "ctypedef", "include", "sizeof"}
_TYPES = {"Py_ssize_t", "bint", "char", "const", "double", "float", "int", "long", "short", "signed", "size_t", "unsigned",
          "void", "volatile"}  # fmt: skip
# Roots of formulas, names of modules in generated code, and parameters that bindings add to a signature.
_RESERVED = {"np", "kernels", "grad", "formulas", "math", "ops", "self", "out", "requires_grad"}
# Names that generated code calls: names that the templates import, and builtins.
CALLED = frozenset(
    "BOOLEANS BY_OPERATOR COMPLEXES DUAL LISTENING MAPPED "
    "Exception Forward1 Forward2 Forward3 Forward4 Forward5 Forward6 Forward7 Forward8 HAS_GRADIENT "
    "INTEGERS NO_GRADIENT Node Program REALS TensorBase ThreadState Ufunc Wanted answer_calls any_needs_grad any_tangent "
    "array_of arrays_of as_array as_axes as_bool as_bool_operand as_bool_operands as_complex_operand as_complex_operands "
    "as_dtype as_float as_generator as_index as_int as_int_operand as_int_operands as_ints as_mask as_operand as_operands "
    "as_real_operand as_real_operands as_scalar as_str attach_view attach_views become_view before_view begin_write call_method "
    "check_broadcast check_inplace "
    "conj_of converted "
    "connect_all connect_one connect_two defined_arrays defined_tangent defined_tensors differ dtype_of explain "
    "flat_gradients has_tangent holds_arrays in_one_pass index_of inplace_binary inplace_times inplace_unary is_heard listed listened "
    "load_forward minus minus_array missing_rule multiplied "
    "ndim_of needs_grad of_forward offer operators_of out_binary out_unary overwrite plus plus_array prepare_inplace prepare_out "
    "push_forward push_linear push_whole rebase refuse_tangent register save_index save_input save_inputs save_output "
    "saved_array saved_tensor set_histories set_history shape_and_dtype shape_of size_of spare star staticmethod thread_state value_before "
    "wrap_forward writable write_out written_value".split()
)
_BEGINNINGS, _ENDINGS = ("op_", "into_", "jvp_", "forward_", "times_"), ("_ufunc", "Backward")
_METADATA = ("shape", "ndim", "dtype")


def check_name(name: str, at: Location) -> None:
    """Reject text that cannot be the name of an operator, a family or an alias."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name) or name in _KEYWORDS:
        raise SpecError(f"'{shortened(name)}' is not a name", at)
    if name.startswith("__"):
        raise SpecError(f"'{shortened(name)}' starts with two underscores", at)
    if len(name) > _LENGTH:
        raise SpecError(f"the name '{shortened(name)}' is longer than {_LENGTH} characters", at)


def check_value_name(name: str, at: Location, *, let: bool = False) -> None:
    """Reject text that cannot name an argument, an output or a let; only a let may end like a tangent."""
    check_name(name, at)
    if name in _TYPES:
        raise SpecError(f"'{name}' is a type of C, not a name", at)
    if let and name in CONSTANTS:
        raise SpecError(f"'{name}' is a constant of formulas", at)
    if name in _RESERVED or name.startswith("grad_") or name.endswith("_") or name.endswith("_t") and not let:
        raise SpecError(f"'{name}' is reserved for formulas", at)
    if name in CALLED or name.startswith(_BEGINNINGS) or name.endswith(_ENDINGS):
        raise SpecError(f"'{name}' is a name of the generated code", at)


def generated_names(named: Collection[Argument | Output]) -> dict[str, str]:
    """The generated code's names for the metadata of values: `x_shape` is x.shape."""
    return {f"{i.name}_{word}": f"what the generated code calls {i.name}.{word}" for i in named for word in _METADATA}


def check_metadata(named: Collection[Argument | Output]) -> None:
    """Reject `x_shape` beside `x`."""
    meant = generated_names(named)
    for item in named:
        if item.name in meant:
            raise SpecError(f"'{item.name}' is {meant[item.name]}", item.location)


def shortened(text: str) -> str:
    return text if len(text) <= _LENGTH else f"{text[:_LENGTH]}..."
