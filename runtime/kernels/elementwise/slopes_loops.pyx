"""Slopes of asin, asinh, atan and atanh, the direction of a point and the slope of its angle.

Loops for float32 and float64 that compilers vectorise.  The expressions of `slopes` handle complex numbers, other dtypes, and
extreme arguments.  Only the slopes of asin and atanh, which have poles, raise floating-point flags.  The loops are bound by the
division.
"""

from libc.math cimport HUGE_VAL, fabs, hypot

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport npy_intp
from . import slopes
from ..loops.flags cimport fp_clear
from ..fusion_engine.ufunc cimport pointwise

__all__ = ["angle_slope", "asin_slope", "asinh_slope", "atan_slope", "atanh_slope", "direction"]

cnp.import_array()

cdef extern from "gradspec/kernels/elementwise/slopes_loops.h":
    void gradspec_asin_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_asin_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_atanh_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_atanh_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_atan_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_atan_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_asinh_float(const float*, float*, npy_intp) noexcept nogil
    void gradspec_asinh_double(const double*, double*, npy_intp) noexcept nogil
    void gradspec_direction_float(const float*, const float*, float*, npy_intp, npy_intp, npy_intp) noexcept nogil
    void gradspec_direction_double(const double*, const double*, double*, npy_intp, npy_intp, npy_intp) noexcept nogil
    void gradspec_angle_slope_float(const float*, const float*, float*, npy_intp, npy_intp, npy_intp) noexcept nogil
    void gradspec_angle_slope_double(const double*, const double*, double*, npy_intp, npy_intp, npy_intp) noexcept nogil
    int gradspec_far_float(const float*, npy_intp) noexcept nogil
    int gradspec_far_double(const double*, npy_intp) noexcept nogil

ctypedef fused real:
    float
    double

cdef enum:
    BLOCK = 512         # elements checked at a time


cdef void asin_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_asin_float(<float*> args[0], <float*> args[1], size[0])


cdef void asin_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_asin_double(<double*> args[0], <double*> args[1], size[0])


cdef void atanh_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_atanh_float(<float*> args[0], <float*> args[1], size[0])


cdef void atanh_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_atanh_double(<double*> args[0], <double*> args[1], size[0])


cdef void atan_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_atan_float(<float*> args[0], <float*> args[1], size[0])
    fp_clear()


cdef void atan_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_atan_double(<double*> args[0], <double*> args[1], size[0])
    fp_clear()


cdef void asinh_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_asinh_float(<float*> args[0], <float*> args[1], size[0])
    fp_clear()


cdef void asinh_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    gradspec_asinh_double(<double*> args[0], <double*> args[1], size[0])
    fp_clear()


cdef inline double one_direction(double a, double b) noexcept nogil:
    """a / hypot(a, b); 0 if both are 0, or if only `b` is infinite."""
    if a == 0 and b == 0:
        return 0
    if fabs(a) == HUGE_VAL and fabs(b) < HUGE_VAL:
        return 1 if a > 0 else -1
    return a / hypot(a, b)


cdef inline double one_angle_slope(double a, double b) noexcept nogil:
    """b / hypot(a, b)**2; 0 if both are 0, or if one is infinite."""
    cdef double distance = hypot(a, b)
    if a == 0 and b == 0 or fabs(b) == HUGE_VAL and a == a:
        return 0
    return b / distance / distance


cdef void fill_pairs(bint slope, real* a, real* b, real* y, npy_intp n, npy_intp p, npy_intp q) noexcept nogil:
    """Compute block by block; a block with extreme elements one by one.  The steps are 0 or 1."""
    cdef npy_intp start = 0, some, i
    cdef bint far
    while start < n:
        some = min(n - start, <npy_intp> BLOCK)
        if real is float:
            far = gradspec_far_float(a + start * p, some if p else 1)
            far = far or gradspec_far_float(b + start * q, some if q else 1)
        else:
            far = gradspec_far_double(a + start * p, some if p else 1)
            far = far or gradspec_far_double(b + start * q, some if q else 1)
        if far:
            for i in range(start, start + some):
                y[i] = <real> (one_angle_slope(a[i * p], b[i * q]) if slope else one_direction(a[i * p], b[i * q]))
        elif real is float:
            (gradspec_angle_slope_float if slope else gradspec_direction_float)(
                a + start * p, b + start * q, y + start, some, p, q)
        else:
            (gradspec_angle_slope_double if slope else gradspec_direction_double)(
                a + start * p, b + start * q, y + start, some, p, q)
        start += some
    fp_clear()  # rounding to 0 and NaNs raise flags


cdef void direction_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_pairs(False, <float*> args[0], <float*> args[1], <float*> args[2], size[0], steps[0] != 0, steps[1] != 0)


cdef void direction_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_pairs(False, <double*> args[0], <double*> args[1], <double*> args[2], size[0], steps[0] != 0, steps[1] != 0)


cdef void angle_slope_float(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_pairs(True, <float*> args[0], <float*> args[1], <float*> args[2], size[0], steps[0] != 0, steps[1] != 0)


cdef void angle_slope_double(char** args, const npy_intp* size, const npy_intp* steps, void* data) noexcept nogil:
    fill_pairs(True, <double*> args[0], <double*> args[1], <double*> args[2], size[0], steps[0] != 0, steps[1] != 0)


def as_floats(*arrays):
    """The arrays broadcast together in the layout of the loops; None for unsupported dtypes."""
    dtype = np.result_type(*arrays, np.float16).newbyteorder("=")
    if dtype not in (np.float32, np.float64):
        return None
    return [np.array(x, dtype, order="C") for x in np.broadcast_arrays(*arrays)]


def _atan_slope(x):
    """``1 / (1 + x * x)``."""
    found = as_floats(x)
    return slopes.atan_slope(x) if found is None else atan_slope(*found)


def _asinh_slope(x):
    """``1 / sqrt(1 + x * x)``."""
    found = as_floats(x)
    return slopes.asinh_slope(x) if found is None else asinh_slope(*found)


def _direction(a, b):
    """``a / hypot(a, b)``, 0 if both are 0."""
    found = as_floats(a, b)
    return slopes.direction(a, b) if found is None else direction(*found)


def _angle_slope(a, b):
    """``b / hypot(a, b)**2``, 0 if both are 0."""
    found = as_floats(a, b)
    return slopes.angle_slope(a, b) if found is None else angle_slope(*found)


asin_slope = pointwise(slopes.asin_slope, ("x",), [asin_float, asin_double, NULL, NULL])
atanh_slope = pointwise(slopes.atanh_slope, ("x",), [atanh_float, atanh_double, NULL, NULL])
atan_slope = pointwise(_atan_slope, ("x",), [atan_float, atan_double, NULL, NULL])
asinh_slope = pointwise(_asinh_slope, ("x",), [asinh_float, asinh_double, NULL, NULL])
direction = pointwise(_direction, ("a", "b"), [direction_float, direction_double, NULL, NULL])
angle_slope = pointwise(_angle_slope, ("a", "b"), [angle_slope_float, angle_slope_double, NULL, NULL])
