"""Names of SciPy: the page of them is current, tables name what SciPy has, values beside SciPy's, derivatives refused or right."""

import importlib
import re
import runpy
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from gradspec.scipy import tables
from gradspec.scipy.without import without_derivative
from tests.asked import each
from tests.later import later

ROOT = Path(__file__).parents[3]
scipy = later("scipy")
DRAW = np.random.default_rng(0)
INPUTS = {
    "v": DRAW.normal(size=12), "w": DRAW.normal(size=12), "p": DRAW.uniform(0.5, 3.0, 12), "q": DRAW.uniform(0.5, 3.0, 12), "u": DRAW.uniform(0.1, 0.9, 12),
    "x": DRAW.normal(size=(5, 3)), "y": DRAW.normal(size=(4, 3)), "xp": DRAW.uniform(0.5, 3.0, (5, 3)), "yp": DRAW.uniform(0.5, 3.0, (4, 3)), "wt": DRAW.uniform(0.5, 2.0, 3),
    "t": np.linspace(0.05, 0.95, 7), "c": np.array(0.7), "d": np.array(1.9), "g": DRAW.normal(size=(6, 5)), "n3": np.array([0.6, 0.0, 0.8]), "m3": np.array([0.0, 0.28, 0.96]),
}  # fmt: skip
# Calls whose values and derivatives are compared; each takes the arrays above by name.
CALLS = """
    stats.tmean(v, (-1, 1)) | stats.tmean(v) | stats.tvar(v, (-1, 1)) | stats.tstd(v, (-1, 1), (False, True)) | stats.tsem(v, (-1, 1)) | stats.tmin(v, -0.5) | stats.tmax(x, 0.9)
    stats.kstat(v, 1) | stats.kstat(v) | stats.kstat(v, 3) | stats.kstat(v, 4) | stats.kstatvar(v, 1) | stats.kstatvar(v) | stats.circmean(v) | stats.circmean(v, 180, -180) | stats.circvar(v) | stats.circstd(v, 4, 0)
    stats.gstd(p) | stats.gstd(xp, axis=1) | stats.quantile(v, 0.3) | stats.quantile(v, [0.1, 0.55]) | stats.scoreatpercentile(v, 30) | stats.iqr(v) | stats.iqr(x, axis=0, rng=(10, 80), scale="normal") | stats.median_abs_deviation(v, scale="normal")
    stats.expectile(v, 0.3) | stats.expectile(v, 0.6, weights=p) | stats.lmoment(v) | stats.lmoment(x, [1, 3]) | stats.lmoment(v, 2) | stats.skewtest(v) | stats.kurtosistest(v) | stats.normaltest(v) | stats.jarque_bera(x)
    stats.f_oneway(v, w, p) | stats.f_oneway(x, y) | stats.bartlett(v, w, p) | stats.levene(v, w, p) | stats.levene(v, p, center="mean") | tuple(stats.obrientransform(v, p)) | stats.power_divergence(p) | stats.chisquare(p, p.sum() / q.sum() * q)
    stats.power_divergence(p, lambda_="log-likelihood") | stats.power_divergence(p, lambda_=-1) | stats.power_divergence(p, lambda_="neyman") | stats.combine_pvalues(u) | stats.combine_pvalues(u, "pearson") | stats.combine_pvalues(u, "tippett") | stats.combine_pvalues(u, "stouffer", p)
    stats.ttest_ind_from_stats(v, p, 8, w, q, 9) | stats.ttest_ind_from_stats(v, p, 8, w, q, 9, False) | stats.pointbiserialr(v, w) | np_sort(stats.trimboth(v, 0.2)) | np_sort(stats.trim1(v, 0.2)) | np_sort(stats.trim1(v, 0.2, "left")) | stats.sigmaclip(v, 1.5, 1.5)
    stats.differential_entropy(v) | stats.differential_entropy(v, method="vasicek", base=2) | stats.differential_entropy(v[:9]) | stats.energy_distance(v, w) | stats.energy_distance(v, w, p, q) | stats.wasserstein_distance(v, w, p, q) | stats.boxcox(p, 0.3) | stats.boxcox(p)
    stats.yeojohnson(v, 0.3) | stats.yeojohnson(v) | stats.yeojohnson_llf(0.3, v) | stats.directional_stats(x).mean_direction if hasattr(stats.directional_stats(x), "mean_direction") else stats.directional_stats(x)[0]
    spatial.distance.pdist(x) | spatial.distance.squareform(v[:10]) | spatial.distance.squareform(spatial.distance.squareform(v[:10])) | spatial.distance_matrix(x, y) | spatial.distance_matrix(x, y, 3) | spatial.minkowski_distance(x[:4, :], y, 1) | spatial.minkowski_distance_p(x[:4, :], y, 3)
    spatial.distance.mahalanobis(v[:3], w[:3], x.T @ x) | spatial.distance.minkowski(v, w, 3) | spatial.distance.minkowski(v, w, 2.5, p) | spatial.distance.seuclidean(v, w, p) | spatial.distance.jensenshannon(p, q) | spatial.distance.jensenshannon(xp[:4, :], yp, 2, axis=1)
    spatial.distance.cdist(x, y, "minkowski", p=3) | spatial.distance.cdist(x, y, "minkowski", p=1.5, w=wt) | spatial.distance.cdist(x, y, "seuclidean", V=wt) | spatial.distance.cdist(x, y, "mahalanobis", VI=x.T @ x) | spatial.distance.correlation(v, w, p) | spatial.distance.cosine(v, w)
    spatial.distance.cdist(xp, yp, "jensenshannon") | cluster.vq.whiten(x) | spatial.geometric_slerp(n3 / (n3 @ n3)**0.5, m3 / (m3 @ m3)**0.5, t)
    ndimage.grey_erosion(g, (2, 3)) | ndimage.grey_dilation(g, (2, 3)) | ndimage.grey_dilation(g, 3, origin=1) | ndimage.grey_erosion(g, structure=y) | ndimage.grey_dilation(g, structure=y) | ndimage.grey_opening(g, 3) | ndimage.grey_closing(g, (2, 2)) | ndimage.white_tophat(g, 2)
    ndimage.black_tophat(g, 3) | ndimage.morphological_gradient(g, 2) | ndimage.morphological_laplace(g, 3) | ndimage.grey_dilation(g, footprint=[[1, 0], [1, 1]])
    optimize.rosen(v) | optimize.rosen(x) | interpolate.pchip_interpolate(range(12), v, t * 9) | interpolate.pchip_interpolate(range(12), v, t * 9, der=1) | interpolate.splev(t * 4, (range(-3, 9), v, 3)) | interpolate.splev(t * 9, (range(-3, 9), v, 3), 1, 1) | interpolate.splint(c, d, (range(-3, 9), v, 3))
    signal.chirp(t, c, d, 3.0) | signal.chirp(t, c, d, 3.0, "quadratic", 30, False) | signal.chirp(t, c, d, 3.0, "quadratic") | signal.chirp(t, c, d, 3.0, "logarithmic") | signal.chirp(t, c, d, 3.0, "hyperbolic") | signal.sawtooth(v, 0.3) | signal.sawtooth(v) | signal.gausspulse(t, 3, retquad=True, retenv=True)
    signal.sweep_poly(t, v[:3], 20) | signal.freqs(v[:2], w[:3], t) | signal.freqs_zpk(v[:2], w[:3], c, t) | signal.deconvolve(v, p[:3]) | signal.coherence(v, w, nperseg=4)
"""
CALLS += "".join(f" | spatial.distance.{metric}(v, w)" for metric in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "correlation", "canberra", "braycurtis"))
CALLS += "".join(f" | spatial.distance.pdist(x, {metric!r})" for metric in ("sqeuclidean", "seuclidean", "mahalanobis", "cityblock", "chebyshev", "cosine", "correlation", "canberra", "braycurtis"))
ROWS = [call.strip() for line in CALLS.strip().splitlines() for call in line.split(" | ") if call.strip()]


def result(call, root, arrays, sort):
    """All numbers of a call's result in one row."""
    found = eval(call, {"np_sort": sort, **{name: getattr(root, name) for name in ("stats", "spatial", "cluster", "ndimage", "optimize", "interpolate", "signal")}}, arrays)
    return found


def row(found):
    parts = [gs.asarray(part) for part in (found if isinstance(found, tuple) or hasattr(found, "pvalue") else (found,))]
    parts = [gs.concat([gs.real(part), gs.imag(part)]) if part.dtype.kind == "c" else part for part in parts]
    return gs.concat([gs.reshape(part, (-1,)) * 1.0 for part in parts])


@each("call", ROWS)
def test_values_and_derivatives_beside_scipy(call):
    used = [name for name in INPUTS if re.search(rf"\b{name}\b", call)]
    for module in ("stats", "spatial.distance", "cluster.vq", "ndimage", "optimize", "interpolate", "signal"):
        importlib.import_module(f"scipy.{module}")
    near = 1e-7 if call in ("stats.boxcox(p)", "stats.yeojohnson(v)") else 1e-10
    plain = lambda arrays: row(result(call, scipy, arrays, np.sort)).numpy()  # noqa: E731
    function = lambda *given: row(result(call, gs.scipy, dict(zip(used, given)), gs.sort))  # noqa: E731
    at = {name: INPUTS[name] for name in used}
    moves = {name: np.random.default_rng(i).uniform(0.5, 1.0, value.shape) for i, (name, value) in enumerate(at.items())}
    value, slope = gs.jvp(function, tuple(map(gs.asarray, at.values())), tuple(map(gs.asarray, moves.values())))
    np.testing.assert_allclose(value.numpy(), plain(at), rtol=near, atol=1e-12)
    step = 1e-4 if near == 1e-10 else 5e-3  # a result of SciPy's search has eight digits
    ends = [[plain({name: at[name] + k * h * moves[name] for name in used}) for k in (-1, 1)] for h in (2 * step, step)]
    coarse, fine = ((high - low) / (2 * h) for (low, high), h in zip(ends, (2 * step, step)))
    np.testing.assert_allclose(slope.numpy(), fine + (fine - coarse) / 3, rtol=2e-6 if near == 1e-10 else 1e-5, atol=1e-7)
    weights = np.cos(np.arange(value.size))
    gradients = gs.grad(lambda *given: (function(*given) * weights).sum(), tuple(range(len(used))))(*map(gs.asarray, at.values()))
    np.testing.assert_allclose(sum((g * moves[name]).sum().item() for g, name in zip(gradients, used)), (slope.numpy() * weights).sum(), rtol=1e-9, atol=1e-10)


def test_the_page_is_current():
    made = runpy.run_path(str(ROOT / "docs/scipy_names.py"))
    text = (ROOT / "docs/scipy_names.md").read_text()
    if f"SciPy {made['version'](metadata.version('scipy'))}," in text:
        assert text == made["page"](), "docs/scipy_names.md is stale: run python docs/scipy_names.py"
    missing = [f"{sub}.{name}" for sub in made["SUBMODULES"] for name, (kind, _) in made["kinds"](sub).items() if kind != "absent" and not re.search(rf"\b{name}\b", text)]
    assert missing == []


def test_tables_name_what_is_nowhere_else():
    """A name has one reason, and no implementation that the table would hide."""
    for sub in {**tables.VALUES, **tables.REFUSED, **tables.TOOLS}:
        listed = [name for table in (tables.VALUES, tables.REFUSED, tables.TOOLS) for names in table.get(sub, {}).values() for name in names.split()]
        assert len(listed) == len(set(listed)), sub
        here = importlib.import_module(f"gradspec.scipy.{sub}")
        assert [name for name in listed if getattr(here, name).__doc__ != without_derivative(sub)[name].__doc__] == []
        assert len(here.__all__) == len(set(here.__all__)), sub


def test_attributes_of_classes_are_scipys():
    """Of each class that the tables name: a constructor such as `Rotation.from_rotvec` takes constants, and refuses the others."""
    seen = 0
    for sub in {**tables.VALUES, **tables.TOOLS}:
        here, its = importlib.import_module(f"gradspec.scipy.{sub}"), importlib.import_module(f"scipy.{sub}")
        for name in without_derivative(sub):
            theirs = getattr(its, name, None)
            for attribute in dir(theirs) if isinstance(theirs, type) and getattr(here, name).kind != "refused" else ():
                if not attribute.startswith("_") and callable(getattr(theirs, attribute)):
                    seen += callable(getattr(getattr(here, name), attribute))
    assert seen > 100
    rotation, x = gs.scipy.spatial.transform.Rotation, np.array([0.1, 0.2, 0.3])
    expected = importlib.import_module("scipy.spatial.transform").Rotation.from_rotvec(x).as_matrix()
    np.testing.assert_array_equal(rotation.from_rotvec(gs.tensor(x)).as_matrix(), expected)
    with pytest.raises(RuntimeError, match="scipy.spatial.transform.Rotation.from_rotvec returns an object of numbers: with SCIPY_ARRAY_API=1"):
        rotation.from_rotvec(gs.tensor(x, requires_grad=True))
    with pytest.raises(AttributeError, match="has no attribute 'from_nothing'"):
        rotation.from_nothing  # noqa: B018
    assert not hasattr(rotation, "__wrapped__")


ASKED = [
    ("special.roots_jacobi", (3, 0.4, 1.3), 1), ("special.pro_rad2", (1, 2, 1.5, 1.8), 3), *((f"linalg.{name}", (INPUTS["g"][:5],), 0) for name in ("schur", "hessenberg", "ldl", "orth", "rq", "matrix_balance")), ("linalg.null_space", (INPUTS["y"].T,), 0), ("linalg.qz", (INPUTS["g"][:5], np.eye(5)), 0),
    ("ndimage.distance_transform_edt", (INPUTS["g"],), 0), ("stats.rankdata", (INPUTS["v"],), 0), ("stats.theilslopes", (INPUTS["v"], INPUTS["w"]), 0), ("signal.firwin", (5, 0.3), 1), ("signal.medfilt2d", (INPUTS["g"],), 0), ("optimize.isotonic_regression", (INPUTS["v"],), 0),
    ("interpolate.lagrange", (INPUTS["v"][:3], INPUTS["w"][:3]), 0), ("stats.kruskal", (INPUTS["v"], INPUTS["w"]), 0), ("spatial.ConvexHull", (INPUTS["x"],), 0), ("cluster.vq.vq", (INPUTS["x"], INPUTS["y"]), 0), ("sparse.csgraph.shortest_path", (INPUTS["xp"][:3],), 0),
]  # fmt: skip


@each("path, arguments, place", ASKED)
def test_values_whose_derivative_is_refused(path, arguments, place):
    """SciPy's value, of constants and of tensors; a derivative is an error, when it is asked for or, of an object, before."""
    module, name = path.rsplit(".", 1)
    function, its = getattr(importlib.import_module(f"gradspec.scipy.{module}"), name), getattr(importlib.import_module(f"scipy.{module}"), name)
    found, expected = function(*arguments), its(*arguments)
    leaf = gs.tensor(arguments[place], requires_grad=True)
    words = rf"scipy.{module}.{name} (has no derivative|returns an object)"
    given = [leaf if i == place else v for i, v in enumerate(arguments)]
    if isinstance(expected, (np.ndarray, float)) or type(expected) is tuple:
        pairs = zip(found, expected) if type(expected) is tuple else [(found, expected)]
        assert all(np.array_equal(mine.numpy() if isinstance(mine, gs.Tensor) else mine, other) for mine, other in pairs)
        parts = function(*given)
        parts = [part for part in (parts if isinstance(parts, tuple) else (parts,)) if isinstance(part, gs.Tensor) and part.dtype.kind == "f"]
        assert parts
        for part in parts:
            with pytest.raises(NotImplementedError, match=words):
                part.sum().backward()
        with pytest.raises(NotImplementedError, match=words):
            gs.jvp(lambda x: [p for p in _tuple(function(*(x if i == place else v for i, v in enumerate(arguments)))) if p.dtype.kind == "f"][0], (arguments[place],), (np.ones(np.shape(arguments[place])),))
    else:
        assert type(found) is type(expected)
        with pytest.raises(RuntimeError, match=words):
            function(*given)


def _tuple(found):
    return found if isinstance(found, tuple) else (found,)


def test_refusals():
    """Each refused name says why; functions are not taken, as the tensors that they read would be detached."""
    asked = 0
    for sub, table in tables.REFUSED.items():
        for why, names in table.items():
            for name in names.split():
                with pytest.raises(NotImplementedError, match=re.escape(f"scipy.{sub}.{name} is not there: {why}")):
                    getattr(importlib.import_module(f"gradspec.scipy.{sub}"), name)()
                asked += 1
    assert asked > 80
    with pytest.raises(NotImplementedError, match="takes no functions here"):
        gs.scipy.stats.kruskal(INPUTS["v"], lambda x: x)
    with pytest.raises(RuntimeError, match="vmap"):
        gs.vmap(gs.scipy.stats.rankdata)(INPUTS["x"])
    with pytest.raises(NotImplementedError, match="metric must be one of"):
        gs.scipy.spatial.distance.cdist(INPUTS["x"], INPUTS["y"], "jaccard")


def test_distances_at_one_place():
    """The norm of a difference that is 0: its derivative is 0, in both modes."""
    for metric in ("euclidean", "minkowski", "seuclidean", "mahalanobis", "cityblock"):
        how = {"V": np.ones(3)} if metric == "seuclidean" else {"VI": np.eye(3)} if metric == "mahalanobis" else {}
        gradient = gs.grad(lambda x: gs.scipy.spatial.distance.cdist(x, x.detach(), metric, **how).trace())(gs.asarray(INPUTS["x"]))  # noqa: B023
        assert not gradient.numpy().any(), metric
    rows = gs.vmap(lambda x: gs.scipy.spatial.distance.pdist(x))(np.stack([INPUTS["x"], 2 * INPUTS["x"]]))
    np.testing.assert_allclose(rows[1].numpy(), 2 * rows[0].numpy())
