/* For a T, and F(name), libm's function of a T: functions that libm lacks, as NumPy defines them. */

static T TYPED(logaddexp)(T a, T b) {
    const T d = a - b;
    if (a == b) return a + F(log)((T) 2);
    return d > 0 ? a + F(log1p)(F(exp)(-d)) : d <= 0 ? b + F(log1p)(F(exp)(d)) : d;
}

static T TYPED(logaddexp2)(T a, T b) {
    const T d = a - b, e = (T) 1.4426950408889634;
    if (a == b) return a + 1;
    return d > 0 ? a + e * F(log1p)(F(exp2)(-d)) : d <= 0 ? b + e * F(log1p)(F(exp2)(d)) : d;
}

static T TYPED(remainder)(T a, T b) {
    const T rest = F(fmod)(a, b);
    if (b == 0) return rest;
    if (rest == 0) return F(copysign)(0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

static T TYPED(floor_divide)(T a, T b) {
    const T rest = F(fmod)(a, b), one = rest != 0 && (b < 0) != (rest < 0), whole = (a - rest) / b - one;
    T down;
    if (b == 0) return a / b;
    if (whole == 0) return F(copysign)(0, a / b);
    down = F(floor)(whole);
    return whole - down > (T) 0.5 ? down + 1 : down;
}

/* The sum in NumPy's order: in eight parts up to 128 numbers, else as two halves. */
static T TYPED(sum)(const T *x, long n, long step) {
    T part[8], sum = (T) -0.0;
    long i = 0, k;
    if (n > 128) {
        k = n / 2 - n / 2 % 8;
        return TYPED(sum)(x, k, step) + TYPED(sum)(x + k * step, n - k, step);
    }
    if (n >= 8) {
        for (k = 0; k < 8; k++) part[k] = x[k * step];
        for (i = 8; i + 8 <= n; i += 8)
            for (k = 0; k < 8; k++) part[k] += x[(i + k) * step];
        sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (; i < n; i++) sum += x[i * step];
    return sum;
}

/* The sum of products, in eight parts. */
static T TYPED(dot)(const T *x, const T *y, long n) {
    T part[8] = {0, 0, 0, 0, 0, 0, 0, 0}, sum;
    long i, k;
    for (i = 0; i + 8 <= n; i += 8)
        for (k = 0; k < 8; k++) part[k] += x[i + k] * y[i + k];
    sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* The lower triangular factor l of a positive definite a, of n rows; 1 and NaN if a has none, 0 and NaN if a has NaN. */
static int TYPED(cholesky)(const T *a, T *l, long n) {
    long i, j, k;
    for (i = 0; i < n * n; i++) l[i] = 0;
    for (i = 0; i < n; i++) {
        for (j = 0; j <= i; j++) {
            T sum = a[i * n + j];
            for (k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
            if (j < i) l[i * n + j] = sum / l[j * n + j];
            else if (sum > 0) l[i * n + i] = F(sqrt)(sum);
            else {
                for (k = 0; k < n * n; k++) l[k] = (T) NAN;
                return sum == sum;
            }
        }
    }
    return 0;
}

/* The upper triangle of a, of n rows, by exchanges and differences of rows, which b of m columns takes part in.  The sign of
 * the exchanges, or 0 if a is singular. */
static int TYPED(eliminate)(T *a, T *b, long n, long m) {
    int sign = 1;
    long i, j, k;
    for (j = 0; j < n; j++) {
        long pivot = j;
        for (i = j + 1; i < n; i++)
            if (F(fabs)(a[i * n + j]) > F(fabs)(a[pivot * n + j])) pivot = i;
        if (a[pivot * n + j] == 0) return 0;
        if (pivot != j) {
            for (k = 0; k < n; k++) {
                const T one = a[j * n + k];
                a[j * n + k] = a[pivot * n + k];
                a[pivot * n + k] = one;
            }
            for (k = 0; k < m; k++) {
                const T one = b[j * m + k];
                b[j * m + k] = b[pivot * m + k];
                b[pivot * m + k] = one;
            }
            sign = -sign;
        }
        for (i = j + 1; i < n; i++) {
            const T times = a[i * n + j] / a[j * n + j];
            for (k = j + 1; k < n; k++) a[i * n + k] -= times * a[j * n + k];
            for (k = 0; k < m; k++) b[i * m + k] -= times * b[j * m + k];
        }
    }
    return sign;
}

/* Replace b by the solution of a y = b for the lower (else upper) triangle of a. */
static void TYPED(substitute)(const T *a, T *b, long n, long m, int lower) {
    long step, i, j, k;
    for (step = 0; step < n; step++) {
        i = lower ? step : n - 1 - step;
        for (j = lower ? 0 : i + 1; j < (lower ? i : n); j++)
            for (k = 0; k < m; k++) b[i * m + k] -= a[i * n + j] * b[j * m + k];
        for (k = 0; k < m; k++) b[i * m + k] /= a[i * n + i];
    }
}

/* Replace b by the solution of a y = b, and a by its upper triangle; 1 and NaN if a is singular. */
static int TYPED(solve)(T *a, T *b, long n, long m) {
    long k;
    if (TYPED(eliminate)(a, b, n, m) == 0) {
        for (k = 0; k < n * m; k++) b[k] = (T) NAN;
        return 1;
    }
    TYPED(substitute)(a, b, n, m, 0);
    return 0;
}

/* The sign of the determinant of a, which becomes its upper triangle, and the logarithm of its modulus. */
static T TYPED(slogdet)(T *a, T *logarithm, long n) {
    T sign = (T) TYPED(eliminate)(a, a, n, 0);
    long i;
    *logarithm = sign == 0 ? -(T) INFINITY : 0;
    for (i = 0; i < n && sign != 0; i++) {
        *logarithm += F(log)(F(fabs)(a[i * n + i]));
        if (a[i * n + i] < 0) sign = -sign;
    }
    return *logarithm == *logarithm ? sign : *logarithm;
}

/* The determinant of a, which becomes its upper triangle. */
static T TYPED(det)(T *a, long n) {
    T found = (T) TYPED(eliminate)(a, a, n, 0);
    long i;
    for (i = 0; i < n && found != 0; i++) found *= a[i * n + i];
    return found;
}

/* The factors q, of m rows and n <= m columns, and r of a by reflections, as in LAPACK; a keeps the reflections. */
static void TYPED(qr)(T *a, T *q, T *r, long m, long n) {
    long i, j, k;
    for (j = 0; j < n; j++) {
        T largest = 0, sum = 0, first = a[j * n + j], all, times = 0;
        for (i = j + 1; i < m; i++) largest = F(fabs)(a[i * n + j]) > largest ? F(fabs)(a[i * n + j]) : largest;
        for (i = j + 1; i < m && largest != 0; i++) sum += (a[i * n + j] / largest) * (a[i * n + j] / largest);
        all = -F(copysign)(F(hypot)(first, largest * F(sqrt)(sum)), first);
        for (k = 0; k < j; k++) r[j * n + k] = 0;
        r[j * n + j] = largest == 0 && sum == 0 ? first : all;
        if (r[j * n + j] == all && largest != 0) {
            times = (all - first) / all;
            for (i = j + 1; i < m; i++) a[i * n + j] /= first - all;
        }
        a[j * n + j] = times;
        for (k = j + 1; k < n; k++) {
            sum = a[j * n + k];
            for (i = j + 1; i < m; i++) sum += a[i * n + j] * a[i * n + k];
            r[j * n + k] = a[j * n + k] -= times * sum;
            for (i = j + 1; i < m; i++) a[i * n + k] -= times * sum * a[i * n + j];
        }
    }
    for (i = 0; i < m * n; i++) q[i] = i / n == i % n;
    for (j = n - 1; j >= 0; j--) {
        for (k = j; k < n; k++) {
            T sum = q[j * n + k];
            for (i = j + 1; i < m; i++) sum += a[i * n + j] * q[i * n + k];
            q[j * n + k] -= a[j * n + j] * sum;
            for (i = j + 1; i < m; i++) q[i * n + k] -= a[j * n + j] * sum * a[i * n + j];
        }
    }
}
