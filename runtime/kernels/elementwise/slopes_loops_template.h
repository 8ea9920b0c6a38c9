/* For a T, its integer type BITS, its MAGNITUDE mask, and a range of magnitudes from LEAST to MOST: a / hypot(a, b), and b /
 * hypot(a, b)**2, for numbers whose squares in double are in range; 0 if both are 0. */

GRADSPEC_WIDE static void TYPED(direction)(const T *a, const T *b, T *y, npy_intp n, npy_intp p, npy_intp q) {
    for (npy_intp i = 0; i < n; i++) {
        double s = a[i * p], t = b[i * q], h = s * s + t * t;
        y[i] = (T) TYPED(over_root)(s, h == 0 ? 1 : h);
    }
}

GRADSPEC_WIDE static void TYPED(angle_slope)(const T *a, const T *b, T *y, npy_intp n, npy_intp p, npy_intp q) {
    for (npy_intp i = 0; i < n; i++) {
        double s = a[i * p], t = b[i * q], h = s * s + t * t;
        y[i] = (T) (t / (h == 0 ? 1 : h));
    }
}

/* Whether some element is NaN, infinite, or has a square in double that is out of range. */
GRADSPEC_WIDE static int TYPED(far)(const T *x, npy_intp n) {
    BITS found = 0;
    for (npy_intp i = 0; i < n; i++) {
        BITS size;
        memcpy(&size, x + i, sizeof(T));
        size &= MAGNITUDE;
        found |= (MOST - size) | (size == 0 ? 0 : size - LEAST);
    }
    return found < 0;
}
