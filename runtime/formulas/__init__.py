"""What formulas compute from shapes, axes, dtypes and other static values.

Owns the helpers that derivatives.yaml calls; takes and returns no arrays, so knows nothing of tensors.
"""

from .shapes import *
from .calculus import *
from .contraction import *
from .fourier import *
from .indices import *
from .linear_algebra import *
from .rows import *
from .statistics import *
from .windows import *
