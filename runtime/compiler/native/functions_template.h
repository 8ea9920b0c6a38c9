/* For a T, and F(name), libm's function of a T: functions that libm lacks, as NumPy defines them. */

static T TYPED(logaddexp)(T a, T b) {
    const T d = a - b;
    if (a == b) return a + F(log)((T) 2);
    return d > 0 ? a + F(log1p)(F(exp)(-d)) : d <= 0 ? b + F(log1p)(F(exp)(d)) : d;
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
