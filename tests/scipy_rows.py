"""Functions of SciPy and scikit-learn, as text: a call of each, of tensors and of ndarrays.

`x` is a matrix of 4 by 6, `v` and `w` vectors of 6, `u` numbers inside (0, 1), `p` positive ones, `s` a square matrix of 3 by 3, `r` a
quaternion, `i` integers.
"""

SCIPY = """
    special.gammaln(p) | special.expit(x) | special.logit(u) | special.erf(x) | special.erfc(x) | special.entr(p) | special.xlogy(p, u)
    special.logsumexp(x) | special.logsumexp(x, axis=1) | special.softmax(x, axis=1) | special.log_softmax(x, axis=1) | special.rel_entr(p, u)
    special.ndtr(x) | special.log_ndtr(x) | special.ndtri(u) | special.i0(x) | special.i0e(x) | special.i1(x) | special.i1e(x) | special.chdtr(p, p)
    special.gammainc(p, p) | special.gammaincc(p, p) | special.betaln(p, u) | special.betainc(p, p, u) | special.stdtr(p, v) | special.zeta(p + 2, p)
    stats.gmean(p) | stats.hmean(p) | stats.pmean(p, 3) | stats.skew(x, axis=1) | stats.kurtosis(x, axis=1) | stats.moment(v, 3) | stats.zscore(x, axis=1)
    stats.gzscore(p) | stats.zmap(v, w) | stats.variation(p) | stats.sem(v) | stats.tmean(v, (-10, 10)) | stats.tvar(v, (-10, 10)) | stats.tstd(v, (-10, 10))
    stats.tsem(v, (-10, 10)) | stats.tmin(v) | stats.tmax(v) | stats.kstat(v, 2) | stats.kstatvar(v, 2) | stats.circmean(p) | stats.circvar(p) | stats.circstd(p)
    stats.directional_stats(x).mean_direction | stats.describe(v).variance | stats.entropy(p) | stats.entropy(p, u) | stats.differential_entropy(v) | stats.pearsonr(v, w).statistic
    stats.ttest_1samp(v, 0.1).statistic | stats.ttest_ind(v, w).statistic | stats.ttest_rel(v, w).statistic | stats.f_oneway(v, w).statistic | stats.bartlett(v, w).statistic
    stats.skewtest(y).statistic | stats.kurtosistest(y).statistic | stats.normaltest(y).statistic | stats.jarque_bera(v).statistic | stats.power_divergence(p).statistic | stats.chisquare(p).statistic
    stats.boxcox_llf(0.5, p) | stats.combine_pvalues(u).statistic | stats.quantile(v, 0.3) | stats.linregress(v, w).slope
    signal.hilbert(v) | signal.detrend(v) | signal.fftconvolve(v, w) | signal.convolve(v, w) | signal.correlate(v, w) | signal.oaconvolve(v, w) | signal.sosfilt(sos, v) | signal.lfilter(b, a, v)
    signal.savgol_filter(v, 5, 2) | signal.resample(v, 4) | signal.freqz(b, a)[1]
    fft.fft(v) | fft.ifft(v) | fft.rfft(v) | fft.irfft(v) | fft.fft2(x) | fft.fftn(x) | fft.rfftn(x) | fft.hfft(v) | fft.ihfft(v) | fft.fftshift(v) | fft.dct(v) | fft.fht(p, 0.1, 0.5)
    cluster.vq.whiten(x) | cluster.vq.vq(x, x[:2, :])[1] | cluster.hierarchy.linkage(x) | integrate.trapezoid(v) | integrate.trapezoid(x, dx=0.5, axis=0) | integrate.simpson(v) | integrate.cumulative_trapezoid(v)
    integrate.cumulative_simpson(v) | integrate.cubature(lambda t: t[:, 0] * c, [0.0], [1.0]).estimate | integrate.tanhsinh(lambda t: t * c, zero, one).integral | integrate.fixed_quad(lambda t: c * t, 0.0, 1.0)[0]
    optimize.elementwise.find_root(lambda t, k: t**3 - k, (zero, one * 3), args=(c,)).x | optimize.elementwise.find_minimum(lambda t: (t - 0.3)**2, (zero - 1, zero, one)).x
    differentiate.derivative(lambda t: t * t * c, one).df | differentiate.jacobian(lambda t: t * t, v).df | differentiate.jacobian(lambda t: t**3 * c, v[:2]).df
    interpolate.interp1d(w2, v)(0.5) | ndimage.gaussian_filter(v, 1.0) | ndimage.uniform_filter(v, 3) | linalg.norm(v) | linalg.solve(s, s) | linalg.inv(s) | linalg.det(s) | constants.convert_temperature(v, "C", "K")
    spatial.distance.cdist(x, x) | spatial.transform.Rotation.from_quat(r).as_matrix() | spatial.transform.Rotation.from_rotvec(r[:3]).apply(r[1:]) | spatial.transform.Rotation.from_quat(r).as_rotvec()
"""

SKLEARN = """
    metrics.mean_squared_error(v, w) | metrics.mean_absolute_error(v, w) | metrics.mean_squared_log_error(p, u) | metrics.r2_score(v, w)
    metrics.mean_absolute_percentage_error(v, w) | metrics.mean_gamma_deviance(p, u) | metrics.mean_poisson_deviance(p, u) | metrics.max_error(v, w)
    metrics.d2_tweedie_score(p, u) | metrics.mean_pinball_loss(v, w) | metrics.root_mean_squared_error(v, w) | metrics.log_loss([0, 1, 0, 1, 0, 1], u)
    metrics.pairwise.cosine_similarity(x) | metrics.pairwise.cosine_distances(x) | metrics.pairwise.euclidean_distances(x, y2) | metrics.pairwise.linear_kernel(x)
    metrics.pairwise.rbf_kernel(x, x[:2, :]) | metrics.pairwise.polynomial_kernel(x) | metrics.pairwise.sigmoid_kernel(x) | metrics.pairwise.chi2_kernel(abs(x)) | metrics.pairwise.paired_euclidean_distances(x, y2)
    metrics.pairwise.paired_cosine_distances(x, y2) | metrics.pairwise.additive_chi2_kernel(abs(x)) | metrics.pairwise.laplacian_kernel(x)
    preprocessing.MinMaxScaler().fit_transform(x) | preprocessing.MaxAbsScaler().fit_transform(x) | preprocessing.StandardScaler().fit_transform(x) | preprocessing.Normalizer().fit_transform(x) | preprocessing.normalize(x)
    preprocessing.KernelCenterer().fit_transform(s) | preprocessing.PolynomialFeatures().fit_transform(x) | preprocessing.Binarizer().fit_transform(x)
    decomposition.PCA(2, svd_solver="full").fit(x).explained_variance_ | decomposition.PCA(2, svd_solver="covariance_eigh").fit(x).singular_values_ | linear_model.Ridge(solver="svd").fit(x, t).coef_
    linear_model.RidgeCV().fit(x, t).coef_ | discriminant_analysis.LinearDiscriminantAnalysis().fit(x, lab).coef_
"""


def calls(rows):
    return [call.strip() for line in rows.strip().splitlines() for call in line.split(" | ")]
