/* For a T: the maximum, and six sums. */

/* A NaN raises the flag for an invalid operation. */
GRADSPEC_UNUSED GRADSPEC_WIDE static T TYPED(highest)(const T *x, npy_intp n) {
    T most = x[0];
    npy_intp i = 0, k;
    if (n >= 64) {
        T best[32];
        for (k = 0; k < 32; k++) best[k] = x[k];
        for (i = 32; i + 32 <= n; i += 32)
            for (k = 0; k < 32; k++) best[k] = GRADSPEC_MAX(x[i + k], best[k]);
        for (; i + 8 <= n; i += 8)
            for (k = 0; k < 8; k++) best[k] = GRADSPEC_MAX(x[i + k], best[k]);
        for (k = 0; k < 16; k++) best[k] = GRADSPEC_MAX(best[k + 16], best[k]);
        for (k = 0; k < 8; k++) best[k] = GRADSPEC_MAX(best[k + 8], best[k]);
        for (k = 0; k < 4; k++) best[k] = GRADSPEC_MAX(best[k + 4], best[k]);
        for (k = 0; k < 4; k++) most = GRADSPEC_MAX(best[k], most);
    } else if (n >= 16) {
        T best[8];
        for (k = 0; k < 8; k++) best[k] = x[k];
        for (i = 8; i + 8 <= n; i += 8)
            for (k = 0; k < 8; k++) best[k] = GRADSPEC_MAX(x[i + k], best[k]);
        for (k = 0; k < 8; k++) most = GRADSPEC_MAX(best[k], most);
    }
    for (; i < n; i++) most = GRADSPEC_MAX(x[i], most);
    return most;
}

#define SUM total
#define TERM p[j]
#include "sum_template.h"

#define SUM excess
#define TERM p[j] - c
#include "sum_template.h"

#define SUM moment
#define TERM (p[j] - c) * (p[j] - c)
#include "sum_template.h"

#define SUM dot
#define TERM p[j] * q[j]
#include "sum_template.h"

#define SUM product
#define TERM p[j] * ((q[j] - c) * d)
#include "sum_template.h"

#define SUM triple
#define TERM p[j] * q[j] * ((r[j] - c) * d)
#include "sum_template.h"
