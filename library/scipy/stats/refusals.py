"""Refuse the families of scipy.stats that are not here; each message names a replacement."""

from __future__ import annotations

from typing import Any

_WORDS = {
    "SciPy's density is an integral or a search for each number":
        "landau levy_stable studentized_range ksone kstwo",
    "its formulas are not written here, and are a function of tensors": "poisson_binom",
    "its parameters are whole numbers, or its sums SciPy's":
        "nchypergeom_fisher nchypergeom_wallenius multivariate_hypergeom random_table",
    "it draws matrices or directions at random; draw with SciPy, and continue with the result":
        "ortho_group special_ortho_group unitary_group random_correlation uniform_direction",
    "take multivariate_t, or matrix_normal with a factor of chi2": "matrix_t",
    "take norm, of a variance of invgamma": "normal_inverse_gamma",
}  # fmt: skip


class NotThere(NotImplementedError, AttributeError):
    """A refusal of an attribute, which `hasattr` and `getattr` with a default understand."""


class Absent:
    """A family of scipy.stats whose methods are all refused."""

    def __init__(self, name: str, words: str) -> None:
        self.name, self.why, self.kind = name, words, "refused"
        self.__doc__ = f"Refused: {words}."

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):
            raise AttributeError(method)
        return self._refuse(f".{method}")

    def __call__(self, *args: Any, **kwds: Any) -> Any:
        return self._refuse("")

    def _refuse(self, method: str) -> Any:
        raise NotThere(f"scipy.stats.{self.name}{method} is not there: {self.why}; for values alone call SciPy's with "
                       "x.detach().numpy()")  # fmt: skip


absent = {name: Absent(name, words) for words, names in _WORDS.items() for name in names.split()}
