/* erf of floats in float arithmetic, as elementary_float.h has the elementary functions: error below 1 ulp. */
#ifndef GRADSPEC_ERROR_FUNCTION_FLOAT_H
#define GRADSPEC_ERROR_FUNCTION_FLOAT_H

#include "../program/elementary_float.h"
#include "../program/fused.h"
#include <numpy/npy_common.h>

/* Up to 1 by a polynomial of erf(x) / x - 1 in x * x, beyond 1 - exp(-x p(x)) by one of -log(erfc(x)) / x. */
GRADSPEC_INLINE float gradspec_float_erf(float x) {
    uint32_t k;
    float near = gradspec_float_near(x, 4.0f), z = near * near, p = 0x1.4771fcp-14f, q = 0x1.d45f70p-17f;
    p = gradspec_float_fused(p, z, -0x1.a3515ep-11f);
    p = gradspec_float_fused(p, z, 0x1.53f224p-8f);
    p = gradspec_float_fused(p, z, -0x1.b7f71ap-6f);
    p = gradspec_float_fused(p, z, 0x1.ce2ce6p-4f);
    p = gradspec_float_fused(p, z, -0x1.81273ep-2f);
    p = gradspec_float_fused(p, z, 0x1.06eba8p-3f);
    q = gradspec_float_fused(q, near, -0x1.6f9572p-12f);
    q = gradspec_float_fused(q, near, 0x1.ec7b30p-9f);
    q = gradspec_float_fused(q, near, -0x1.896050p-6f);
    q = gradspec_float_fused(q, near, 0x1.b45960p-4f);
    q = gradspec_float_fused(q, near, 0x1.451ac0p-1f);
    q = gradspec_float_fused(q, near, 0x1.20f21cp+0f);
    float exponent = -q * near;
    gradspec_float_pair r = gradspec_float_reduced(exponent, &k), s;
    r.low -= gradspec_float_fused(q, near, exponent);
    s = gradspec_float_part_exp(r);
    float e = gradspec_float_of_bits(gradspec_float_bits(s.high + s.low) + (k << 23));
    float y = gradspec_float_signed(near < 1.0f ? gradspec_float_fused(near, p, near) : 1.0f - e, x);
    return x == x ? y : x;
}

GRADSPEC_FUSED static void gradspec_erf_of_float(const float *x, float *y, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) y[i] = gradspec_float_erf(x[i]);
}

#endif
