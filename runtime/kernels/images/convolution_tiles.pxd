"""Sums of products of rows at offsets, four channels times three vectors of them in registers.

Owns the loops and the choice among them: one copy for each width of vectors that processors have, none where the compiler
has no vectors.
"""

from ...support.capi cimport npy_intp

cdef extern from *:
    """
    enum { GRADSPEC_TOGETHER = 4, GRADSPEC_SLACK = 64 };  /* channels; bytes, of a line */

    #define GRADSPEC_TILE_TYPES(T) \\
        /* y[r * pitch + m] = the sum of w[k * rows + r] * x[offsets[k] + m]: rows are 4 or 1, m at least a vector. */ \\
        typedef void (*gradspec_tile_##T)( \\
            const T *x, const npy_intp *offsets, npy_intp count, const T *w, T *y, npy_intp pitch, npy_intp n); \\
        /* y[r * count + k] += the sum of g[r * pitch + m] * x[offsets[k] + m], n being some vectors. */ \\
        typedef void (*gradspec_gather_##T)( \\
            const T *g, npy_intp pitch, const T *x, const npy_intp *offsets, npy_intp count, T *y, npy_intp n);
    GRADSPEC_TILE_TYPES(float)
    GRADSPEC_TILE_TYPES(double)

    #if defined(__GNUC__)
    /* A vector is loaded once, not by each instruction that reads it. */
    #if defined(__x86_64__)
    #define GRADSPEC_KEEP(vector) __asm__("" : "+v"(vector))
    #else
    #define GRADSPEC_KEEP(vector) ((void) 0)
    #endif
    #if defined(__clang__)
    #define GRADSPEC_ALL _Pragma("unroll")
    #else
    #define GRADSPEC_ALL _Pragma("GCC unroll 4")
    #endif
    #define GRADSPEC_TILE(T, NAME, ROWS, VECTORS, TARGET) \\
        TARGET static void gradspec_tile_##NAME##_##ROWS##_##VECTORS( \\
            const T *x, const npy_intp *offsets, npy_intp count, const T *w, T *y, npy_intp pitch, npy_intp n) { \\
            const npy_intp lanes = sizeof(gradspec_##NAME) / sizeof(T), width = VECTORS * lanes; \\
            npy_intp m = 0, k, next; \\
            int r, v; \\
            for (;; m = next) { \\
                gradspec_##NAME sums[ROWS][VECTORS]; \\
                GRADSPEC_ALL for (r = 0; r < ROWS; r++) \\
                    GRADSPEC_ALL for (v = 0; v < VECTORS; v++) sums[r][v] = (gradspec_##NAME) {0}; \\
                for (k = 0; k < count; k++) { \\
                    gradspec_##NAME some[VECTORS]; \\
                    GRADSPEC_ALL for (v = 0; v < VECTORS; v++) \\
                        some[v] = *(const gradspec_##NAME *) (x + offsets[k] + m + v * lanes); \\
                    GRADSPEC_ALL for (r = 0; r < ROWS; r++) \\
                        GRADSPEC_ALL for (v = 0; v < VECTORS; v++) sums[r][v] += some[v] * w[k * ROWS + r]; \\
                } \\
                GRADSPEC_ALL for (r = 0; r < ROWS; r++) \\
                    GRADSPEC_ALL for (v = 0; v < VECTORS; v++) \\
                    *(gradspec_##NAME *) (y + r * pitch + m + v * lanes) = sums[r][v]; \\
                if (m + width >= n) return; \\
                next = m + 2 * width <= n ? m + width : n - width;  /* the last one over what was there */ \\
            } \\
        }
    #define GRADSPEC_ADD_float(parts) ((parts[0] + parts[2]) + (parts[1] + parts[3]))
    #define GRADSPEC_ADD_double(parts) (parts[0] + parts[1])
    #define GRADSPEC_GATHER(T, NAME, ROWS, VECTORS, TARGET) \\
        TARGET static void gradspec_gather_##NAME##_##ROWS##_##VECTORS( \\
            const T *g, npy_intp pitch, const T *x, const npy_intp *offsets, npy_intp count, T *y, npy_intp n) { \\
            const npy_intp lanes = sizeof(gradspec_##NAME) / sizeof(T); \\
            gradspec_##NAME sums[ROWS][VECTORS]; \\
            npy_intp m; \\
            int r, v; \\
            GRADSPEC_ALL for (r = 0; r < ROWS; r++) \\
                GRADSPEC_ALL for (v = 0; v < VECTORS; v++) sums[r][v] = (gradspec_##NAME) {0}; \\
            for (m = 0; m < n; m += lanes) { \\
                gradspec_##NAME some[VECTORS]; \\
                GRADSPEC_ALL for (v = 0; v < VECTORS; v++) some[v] = *(const gradspec_##NAME *) (x + offsets[v] + m); \\
                GRADSPEC_ALL for (r = 0; r < ROWS; r++) { \\
                    gradspec_##NAME row = *(const gradspec_##NAME *) (g + r * pitch + m); \\
                    GRADSPEC_KEEP(row); \\
                    GRADSPEC_ALL for (v = 0; v < VECTORS; v++) sums[r][v] += some[v] * row; \\
                } \\
            } \\
            GRADSPEC_ALL for (r = 0; r < ROWS; r++) GRADSPEC_ALL for (v = 0; v < VECTORS; v++) { \\
                union { gradspec_##NAME whole; gradspec_least_##T parts[sizeof(gradspec_##NAME) / 16]; } sum = {sums[r][v]}; \\
                const int parts = sizeof(gradspec_##NAME) / 16; \\
                if (parts > 2) sum.parts[0] += sum.parts[2], sum.parts[1] += sum.parts[parts - 1]; \\
                if (parts > 1) sum.parts[0] += sum.parts[1]; \\
                y[r * count + v] += GRADSPEC_ADD_##T(sum.parts[0]); \\
            } \\
        }
    typedef float gradspec_least_float __attribute__((vector_size(16), aligned(4), may_alias));
    typedef double gradspec_least_double __attribute__((vector_size(16), aligned(8), may_alias));
    #define GRADSPEC_TILES(T, NAME, BYTES, TARGET) \\
        typedef T gradspec_##NAME __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias)); \\
        GRADSPEC_TILE(T, NAME, 4, 3, TARGET) GRADSPEC_TILE(T, NAME, 4, 1, TARGET) \\
        GRADSPEC_TILE(T, NAME, 1, 3, TARGET) GRADSPEC_TILE(T, NAME, 1, 1, TARGET) \\
        GRADSPEC_GATHER(T, NAME, 4, 3, TARGET) GRADSPEC_GATHER(T, NAME, 4, 1, TARGET) \\
        GRADSPEC_GATHER(T, NAME, 1, 3, TARGET) GRADSPEC_GATHER(T, NAME, 1, 1, TARGET)
    #define GRADSPEC_TABLE(T, NAME) {gradspec_##T##_##NAME##_4_3, gradspec_##T##_##NAME##_4_1, \\
                                     gradspec_##T##_##NAME##_1_3, gradspec_##T##_##NAME##_1_1}
    GRADSPEC_TILES(float, float16, 16,)
    GRADSPEC_TILES(double, double16, 16,)
    #if defined(__x86_64__) && !defined(__clang__)
    GRADSPEC_TILES(float, float32, 32, __attribute__((target("arch=x86-64-v3"))))
    GRADSPEC_TILES(double, double32, 32, __attribute__((target("arch=x86-64-v3"))))
    GRADSPEC_TILES(float, float64, 64, __attribute__((target("arch=x86-64-v4"))))
    GRADSPEC_TILES(double, double64, 64, __attribute__((target("arch=x86-64-v4"))))
    #define GRADSPEC_TABLES(T, TYPE) {GRADSPEC_TABLE(T, TYPE##16), GRADSPEC_TABLE(T, TYPE##32), GRADSPEC_TABLE(T, TYPE##64)}
    static int gradspec_vectors(void) {
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
                && __builtin_cpu_supports("avx512bw")) return 64;
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : 16;
    }
    #else
    #define GRADSPEC_TABLES(T, TYPE) {GRADSPEC_TABLE(T, TYPE##16)}
    static int gradspec_vectors(void) { return 16; }
    #endif
    #else
    #define GRADSPEC_TABLES(T, TYPE) {{0}}
    static int gradspec_vectors(void) { return 0; }
    #endif

    static const gradspec_tile_float gradspec_tiles_float[][4] = GRADSPEC_TABLES(tile, float);
    static const gradspec_tile_double gradspec_tiles_double[][4] = GRADSPEC_TABLES(tile, double);
    static const gradspec_gather_float gradspec_gathers_float[][4] = GRADSPEC_TABLES(gather, float);
    static const gradspec_gather_double gradspec_gathers_double[][4] = GRADSPEC_TABLES(gather, double);
    """
    enum:
        GRADSPEC_TOGETHER
        GRADSPEC_SLACK
    ctypedef void (*TileFloat "gradspec_tile_float")(
        float*, npy_intp*, npy_intp, float*, float*, npy_intp, npy_intp) noexcept nogil
    ctypedef void (*TileDouble "gradspec_tile_double")(
        double*, npy_intp*, npy_intp, double*, double*, npy_intp, npy_intp) noexcept nogil
    ctypedef void (*GatherFloat "gradspec_gather_float")(
        float*, npy_intp, float*, npy_intp*, npy_intp, float*, npy_intp) noexcept nogil
    ctypedef void (*GatherDouble "gradspec_gather_double")(
        double*, npy_intp, double*, npy_intp*, npy_intp, double*, npy_intp) noexcept nogil
    TileFloat[4]* gradspec_tiles_float
    TileDouble[4]* gradspec_tiles_double
    GatherFloat[4]* gradspec_gathers_float
    GatherDouble[4]* gradspec_gathers_double
    int gradspec_vectors() noexcept
