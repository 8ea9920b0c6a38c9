"""Names: the words that C, C++ and their libraries have taken, and free names for the pointers of a function."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .spelling import LIBM, LIBM_OF_TWO, TYPES

# Words of C and C++, and names of this module.
KEYWORDS = (
    "auto bool break case char const continue default do double else enum extern false float for goto if inline int",
    "long register restrict return short signed sizeof static struct switch true typedef union unsigned void volatile",
    "while alignas alignof and asm bitand bitor catch class compl constexpr decltype delete explicit export friend",
    "mutable namespace new noexcept not nullptr operator or private protected public requires template this throw try",
    "typeid typename using virtual xor work sum one main exponent isnan isinf isfinite signbit NAN INFINITY NULL EOF",
    "I errno stdin stdout stderr unix linux gradspec_array",
)
# Functions, types and headers of C and of POSIX, which no function or file may be called.
LIBRARY = (
    "abort abs asctime atexit atof atoi atol atoll bsearch calloc clock ctime difftime div exit fclose feof ferror",
    "fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread free freopen fscanf fseek fsetpos ftell fwrite getc",
    "getchar getenv gets gmtime isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace",
    "isupper isxdigit labs ldiv llabs lldiv localtime longjmp malloc memchr memcmp memcpy memmove memset mktime",
    "perror printf putc putchar puts qsort raise rand realloc remove rename rewind scanf setbuf setvbuf signal",
    "snprintf sprintf srand sscanf strcat strchr strcmp strcoll strcpy strcspn strerror strftime strlen strncat",
    "strncmp strncpy strpbrk strrchr strspn strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull",
    "strxfrm system time tmpfile tmpnam tolower toupper ungetc vfprintf vprintf vsnprintf vsprintf assert complex",
    "ctype fenv inttypes iso646 limits locale math setjmp stdarg stdbool stddef stdint stdio stdlib string tgmath",
    "wchar wctype close index kill link open pause poll random read select sleep wait write int8_t int16_t uint8_t",
    "uint16_t size_t ptrdiff_t",
)
# Functions of math.h that are unused here.
MATH = (
    "fdim fma fmax fmin ilogb lgamma llrint llround logb lrint lround modf nan nearbyint nexttoward remainder remquo",
    "round scalbln scalbn tgamma drem exp10 finite gamma j0 j1 jn significand y0 y1 yn",
)


def words(lines: tuple[str, ...]) -> set[str]:
    return {word for line in lines for word in line.split()}


LIBM_WORDS = {*LIBM.values(), *LIBM_OF_TWO.values(), "frexp", "ldexp"}
TAKEN = {*words(KEYWORDS), *(f"{word}{end}" for word in LIBM_WORDS for end in ("", "f"))}
TAKEN |= {f"{unsigned}{word}" for word in TYPES.values() for unsigned in ("", "u")}
TAKEN_BY_LIBRARY = {*words(LIBRARY), *(f"{word}{end}" for word in (*words(MATH), *LIBM_WORDS) for end in ("", "f", "l"))}
# Names of this module and of macros, and no name at all.
OWN = re.compile(r"[twci]\d+|gs_\w*|\d\w*|_\w*|[A-Z]+_\w*|")
# The ends that this module gives to the name of a function.
PARTS = r"_(?:workspace|arguments|results|part\d+|c\d+|result\w*_(?:colind|row))"


def check_name(name: object, functions: Iterable[object], of_function: bool) -> None:
    """Refuse the name of a module or of a function that C has taken.

    Raises
    ------
    ValueError
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ValueError(f"c: the name {name!r} has signs beside letters, digits and _; choose another")
    parts = re.compile("(?:" + "|".join(map(str, functions)) + ")" + PARTS)
    own = of_function and (name in TAKEN or OWN.fullmatch(name) or parts.fullmatch(name))
    if own or name in TAKEN_BY_LIBRARY:
        raise ValueError(f"c: the name {name!r} is taken in C, or by another function of the module; choose another")


class Names:
    """Names for the pointers of a function, each once."""

    def __init__(self, function: str) -> None:
        self.known: set[str] = set()
        self.own = re.compile(f"{function}{PARTS}|{OWN.pattern}")

    def free(self, name: str) -> str:
        name = re.sub(r"\W", "_", name, flags=re.ASCII)
        name = f"x{name}" if self.own.fullmatch(name) else name
        while name in TAKEN or name in self.known:
            name += "_"
        self.known.add(name)
        return name
