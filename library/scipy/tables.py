"""Reasons why SciPy's functions have no derivative here, each with the names that it explains, by submodule.

Defines which names are SciPy's values, which are refused, and which are SciPy's own tools.  docs/scipy_names.py lists them.
"""

_FUNCTIONS = "it takes functions of arrays, and tensors that these read would be detached; "
_OF_COUNTS = "its arguments are whole numbers"
_STEPS = "its values change in jumps"
_RANKS = "it depends on ranks, which are whole numbers"
_P_VALUE = "its p-value is computed from tables, permutations or ranks"
_DRAWS = "it draws random numbers; draw with SciPy, and continue with the numbers"
_DESIGN = "its coefficients are designed for constants; write the formula of the response with operators, or freqz of coefficients"
_POLYNOMIAL = "it is SciPy's object for a polynomial of whole degree; the functions eval_* have derivatives"
_NODES = "nodes and weights are constants of a whole degree; their derivatives in alpha and beta are not there"
_NOT_UNIQUE = "its factors are not unique"
_BAND = "write the matrix in full; the function without 'banded' has a derivative"
_SOLVER = "it is a solver; minimize, root and least_squares have derivatives of their solutions"
_INTEGRATOR = "it is a solver for single steps; solve_ivp has derivatives"
_OBJECT = "it is SciPy's object, which keeps arrays"
_MATRIX = "it is SciPy's sparse matrix of constants; gs.sparse has matrices of tensors, and a constant one works beside tensors"
_GRAPH = "paths and trees change in jumps; sum the weights at the places that it returns"
_CLUSTER = "clusters change in jumps"

# Values of SciPy's, whose derivative is refused: submodule -> reason -> names.
VALUES: dict[str, dict[str, str]] = {
    "special": {
        _OF_COUNTS: "bernoulli euler factorial2 factorialk stirling2 ai_zeros bi_zeros bei_zeros beip_zeros ber_zeros berp_zeros "
            "kei_zeros keip_zeros ker_zeros kerp_zeros kelvin_zeros erf_zeros fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros "
            "jnjnp_zeros jnp_zeros jnyn_zeros y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros",
        _POLYNOMIAL: "legendre chebyt chebyu chebyc chebys jacobi laguerre genlaguerre hermite hermitenorm gegenbauer sh_legendre "
            "sh_chebyt sh_chebyu sh_jacobi",
        _NODES: "roots_legendre roots_chebyt roots_chebyu roots_chebyc roots_chebys roots_jacobi roots_laguerre roots_genlaguerre "
            "roots_hermite roots_hermitenorm roots_gegenbauer roots_sh_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_jacobi p_roots "
            "t_roots u_roots c_roots s_roots j_roots l_roots la_roots h_roots he_roots cg_roots ps_roots ts_roots us_roots js_roots",
        "it is the coefficients or characteristic values of spheroidal and Mathieu functions; those have a derivative in x":
            "mathieu_even_coef mathieu_odd_coef obl_cv obl_cv_seq pro_cv pro_cv_seq",
        "SciPy's values of the second kind contradict SciPy's own slopes": "obl_rad2 obl_rad2_cv pro_rad2 pro_rad2_cv",
        "it is a sequence over orders; take pbdv, pbvv, spherical_jn, spherical_yn or jv of each order":
            "lmbda pbdn_seq pbdv_seq pbvv_seq riccati_jn riccati_yn",
        "Legendre functions of the second kind have no derivative here": "lqn lqmn",
        "its sum has kinks in d": "smirnov smirnovi",
        "ellipsoidal harmonics have no derivative here": "ellip_harm ellip_harm_2 ellip_normal",
    },
    "linalg": {
        _NOT_UNIQUE: "hessenberg cossin rsf2csf cdf2rdf qr_delete qr_insert qr_update qr_multiply rq ordqz",
        _NOT_UNIQUE + "; eigenvalues have one, by eigvals": "schur",
        _NOT_UNIQUE + "; eigenvalues have one, by eigvals(a, b)": "qz",
        "its pivots change the form of its factors; take cholesky of a positive definite matrix": "ldl",
        "a basis of a space is not unique; the projection on it has one, a @ pinv(a)": "orth",
        "a basis of a space is not unique; the projection on it has one, eye(n) - pinv(a) @ a": "null_space",
        "it is about the form of a matrix": "bandwidth ishermitian issymmetric",
        _OF_COUNTS: "invpascal",
        _BAND: "cholesky_banded cho_solve_banded eig_banded eigvals_banded",
        "it searches a greatest value over steps": "expm_cond",
        "its scales are powers of 2": "matrix_balance",
        "take arccos of svdvals of the product of both bases": "subspace_angles",
        "take companion, whose eigenvalues are the same": "fiedler_companion",
    },
    "fft": {_OF_COUNTS: "next_fast_len prev_fast_len"},
    "integrate": {"its weights and points are constants": "newton_cotes lebedev_rule"},
    "interpolate": {
        "take BSpline, make_interp_spline or make_smoothing_spline": "UnivariateSpline InterpolatedUnivariateSpline LSQUnivariateSpline "
            "insert make_lsq_spline make_splprep make_splrep spalde splantider splder splprep splrep sproot generate_knots NdBSpline",
        "take RegularGridInterpolator, interpn or RBFInterpolator": "BivariateSpline LSQBivariateSpline LSQSphereBivariateSpline "
            "RectBivariateSpline RectSphereBivariateSpline SmoothBivariateSpline SmoothSphereBivariateSpline bisplev bisplrep Rbf NdPPoly",
        "take PPoly": "BPoly",
        "take CubicSpline; of few points the formulas of polynomials work on tensors": "KroghInterpolator BarycentricInterpolator "
            "krogh_interpolate barycentric_interpolate lagrange pade FloaterHormannInterpolator AAA",
        "take LinearNDInterpolator": "CloughTocher2DInterpolator",
    },
    "spatial.transform": {
        "with SCIPY_ARRAY_API=1 SciPy's own class takes tensors, and its derivatives are right":
            "Rotation Slerp RotationSpline RigidTransform",
    },
    "optimize": {
        "its solution is of whole numbers, or changes in jumps": "milp quadratic_assignment",
        "it is a mean over blocks that change in jumps": "isotonic_regression",
        "take gs.grad, gs.hessian and gs.hvp of rosen": "rosen_der rosen_hess rosen_hess_prod",
    },
    "signal": {
        _DESIGN: "butter buttap buttord cheb1ap cheb1ord cheb2ap cheb2ord cheby1 cheby2 ellip ellipap ellipord bessel besselap iircomb "
            "iirdesign iirfilter iirnotch iirpeak gammatone firls firwin firwin2 firwin_2d remez minimum_phase kaiser_atten kaiser_beta "
            "kaiserord band_stop_obj findfreqs savgol_coeffs place_poles",
        "it orders roots, or groups equal ones; write the polynomial or the product with operators": "abcd_normalize bilinear bilinear_zpk "
            "invres invresz lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk normalize residue residuez sos2tf sos2zpk ss2tf "
            "ss2zpk tf2sos tf2ss tf2zpk unique_roots zpk2sos zpk2ss zpk2tf",
        "take lsim, freqresp and bode of tensors": "StateSpace TransferFunction ZerosPolesGain lti dlti cont2discrete dbode dfreqresp "
            "dimpulse dlsim dstep impulse step",
        "places of peaks are whole numbers; index the signal with them": "argrelextrema argrelmax argrelmin find_peaks find_peaks_cwt",
        "it depends on places of peaks": "peak_prominences peak_widths",
        _OF_COUNTS: "check_COLA check_NOLA choose_conv_method correlation_lags czt_points max_len_seq unit_impulse",
        "take stft and istft": "ShortTimeFFT closest_STFT_dual_window",
        "take fft of the signal times a chirp": "CZT ZoomFFT czt zoom_fft",
        "take hilbert, and its absolute value": "envelope hilbert2",
        "take ndimage.spline_filter and ndimage.map_coordinates": "cspline1d cspline1d_eval cspline2d qspline1d qspline1d_eval qspline2d "
            "spline_filter gauss_spline symiirorder1 symiirorder2",
        "take ndimage.median_filter and ndimage.rank_filter": "medfilt2d order_filter",
        "take ndimage.convolve1d along both axes": "sepfir2d",
        _STEPS: "square",
        "write its formula with operators": "lombscargle vectorstrength group_delay",
    },
    "ndimage": {
        _STEPS: "binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss binary_opening binary_propagation "
            "distance_transform_bf distance_transform_cdt distance_transform_edt find_objects label watershed_ift histogram "
            "maximum_position minimum_position value_indices",
        _OF_COUNTS: "generate_binary_structure iterate_structure",
        "take gs.quantile of the elements of a region": "median",
    },
    "stats": {
        "ranks are whole numbers; sum a smooth step over all pairs, gs.sigmoid((x[:, None] - x) / t).sum(1)": "rankdata",
        "it depends on ranks; take pearsonr, of smooth ranks if need be": "spearmanr spearmanrho",
        "it depends on signs; take the mean of gs.tanh((x[:, None] - x) / t) * gs.tanh((y[:, None] - y) / t)": "kendalltau",
        "it is the place of a count; take gaussian_kde and its greatest density": "mode",
        _RANKS: "ansari brunnermunzel chatterjeexi fligner friedmanchisquare kruskal mannwhitneyu median_test mood "
            "page_trend_test ranksums somersd weightedtau wilcoxon percentileofscore tiecorrect",
        _P_VALUE: "alexandergovern anderson anderson_ksamp barnard_exact binomtest boschloo_exact bws_test chi2_contingency "
            "cramervonmises_2samp dunnett epps_singleton_2samp fisher_exact ks_2samp logrank poisson_means_test quantile_test shapiro "
            "tukey_hsd false_discovery_control",
        "it counts numbers in bins": "binned_statistic_2d binned_statistic_dd cumfreq relfreq ecdf",
        "it is a search over parameters; fit of a distribution has a derivative": "bayes_mvs mvsdist boxcox_normmax yeojohnson_normmax",
        "it is a plot": "boxcox_normplot ppcc_max ppcc_plot probplot yeojohnson_normplot",
        "it is the median of slopes; take linregress": "siegelslopes theilslopes",
        "it solves a program; take wasserstein_distance of one dimension": "wasserstein_distance_nd",
    },
    "sparse": {
        _MATRIX: "block_array block_diag bmat bsr_array bsr_matrix coo_array coo_matrix csc_array csc_matrix csr_array csr_matrix "
            "dia_array dia_matrix diags diags_array dok_array dok_matrix expand_dims eye eye_array find get_index_dtype hstack identity "
            "issparse isspmatrix isspmatrix_bsr isspmatrix_coo isspmatrix_csc isspmatrix_csr isspmatrix_dia isspmatrix_dok isspmatrix_lil "
            "kron kronsum lil_array lil_matrix load_npz permute_dims safely_cast_index_arrays save_npz sparray spdiags spmatrix swapaxes "
            "tril triu vstack",
    },
    "sparse.linalg": {
        "take cg, minres, gmres, bicgstab or spsolve": "bicg gcrotmk lgmres qmr tfqmr spsolve_triangular",
        "take gs.linalg of the dense matrix": "eigs eigsh svds lobpcg expm expm_multiply inv matrix_power norm onenormest spbandwidth "
            "is_sptriangular",
        _OBJECT + "; spsolve keeps its factors for derivatives": "SuperLU splu spilu",
        _OBJECT: "LaplacianNd",
    },
    "sparse.csgraph": {
        _GRAPH: "connected_components shortest_path floyd_warshall dijkstra bellman_ford johnson yen breadth_first_order "
            "depth_first_order breadth_first_tree depth_first_tree minimum_spanning_tree reverse_cuthill_mckee maximum_flow "
            "maximum_bipartite_matching min_weight_full_bipartite_matching structural_rank construct_dist_matrix reconstruct_path",
        "it is a form of a graph; write gs.diag(w.sum(0)) - w for the Laplacian of weights w": "laplacian csgraph_masked_from_dense "
            "csgraph_from_dense csgraph_from_masked csgraph_to_dense csgraph_to_masked",
    },
    "spatial": {
        "its triangles, cells and neighbours change in jumps; index the points with those that it returns": "ConvexHull Delaunay "
            "HalfspaceIntersection KDTree Rectangle SphericalVoronoi Voronoi cKDTree tsearch",
        "it is a plot": "convex_hull_plot_2d delaunay_plot_2d voronoi_plot_2d",
        "it normalises by factors of a singular value decomposition; take linalg.orthogonal_procrustes": "procrustes",
    },
    "spatial.distance": {
        "it counts elements that are alike": "dice hamming jaccard rogerstanimoto russellrao sokalsneath yule",
        "it is at one place; take cdist, and its minima": "directed_hausdorff",
        "it is about the form of an array": "is_valid_dm is_valid_y num_obs_dm num_obs_y",
    },
    "cluster": {},
    "cluster.vq": {_CLUSTER + "; take cdist of points and centres": "vq"},
    "cluster.hierarchy": {
        _CLUSTER + "; index pdist with the pairs that it returns": "ClusterNode DisjointSet average centroid complete cophenet correspond "
            "cut_tree dendrogram fcluster fclusterdata from_mlab_linkage inconsistent is_isomorphic is_monotonic is_valid_im "
            "is_valid_linkage leaders leaves_list linkage maxRstat maxdists maxinconsts median num_obs_linkage optimal_leaf_ordering "
            "set_link_color_palette single to_mlab_linkage to_tree ward weighted",
    },
}  # fmt: skip

REFUSED: dict[str, dict[str, str]] = {
    "linalg": {
        _FUNCTIONS + "take eig, and the function of its eigenvalues": "funm",
        _DRAWS: "clarkson_woodruff_transform",
    },
    "fft": {"SciPy's backends do not compute these transforms": "set_backend skip_backend set_global_backend register_backend"},
    "integrate": {
        _INTEGRATOR: "BDF DOP853 DenseOutput LSODA OdeSolution OdeSolver RK23 RK45 Radau complex_ode ode",
        _FUNCTIONS + "take quad, quad_vec or nquad": "cubature tanhsinh qmc_quad",
        _FUNCTIONS + "sum the terms with operators": "nsum",
    },
    "interpolate": {
        "SciPy took it out; take RegularGridInterpolator or griddata": "interp2d",
        _FUNCTIONS + "take gs.func.jet": "approximate_taylor_polynomial",
    },
    "optimize": {
        _SOLVER: "anderson broyden1 broyden2 diagbroyden excitingmixing linearmixing newton_krylov fmin fmin_bfgs fmin_cg fmin_cobyla "
            "fmin_l_bfgs_b fmin_ncg fmin_powell fmin_slsqp fmin_tnc fminbound brent golden bracket brute direct leastsq line_search",
        "gs.grad is exact, and gs.autograd.gradcheck compares it with differences": "approx_fprime check_grad",
    },
    "ndimage": {
        _FUNCTIONS + "slide a window with gs.lib.stride_tricks, or take the filters with names":
            "generic_filter generic_filter1d vectorized_filter",
        _FUNCTIONS + "take map_coordinates of the coordinates": "geometric_transform",
        _FUNCTIONS + "take sum_labels, mean, maximum and their kin": "labeled_comprehension",
    },
    "stats": {
        _DRAWS: "bootstrap BootstrapMethod MonteCarloMethod PermutationMethod monte_carlo_test permutation_test goodness_of_fit "
            "multiscale_graphcorr power sobol_indices",
        "it is an object around a distribution; the families with lower case names have derivatives": "Binomial Logistic Mixture Normal "
            "Uniform abs exp log make_distribution order_statistic truncate CensoredData Covariance rv_continuous rv_discrete rv_histogram",
        "it takes a distribution and tests its fit; write the statistic with cdf": "cramervonmises ks_1samp kstest fit",
        _FUNCTIONS + "group the numbers by masks": "binned_statistic",
    },
    "sparse": {_DRAWS: "rand random random_array"},
    "sparse.linalg": {
        _FUNCTIONS + "cg and its kin take linear functions of tensors": "LinearOperator aslinearoperator factorized funm_multiply_krylov",
        "gs.scipy has one solver for LU": "use_solver",
    },
    "cluster.vq": {_DRAWS: "kmeans kmeans2"},
    "differentiate": {"gs.grad, gs.jacobian and gs.hessian are exact": "derivative jacobian hessian"},
    "odr": {_SOLVER.replace("it is a solver", "its model is a function of arrays"): "Data Model ODR Output RealData odr polynomial"},
}  # fmt: skip

# SciPy's own classes and switches.
TOOLS: dict[str, dict[str, str]] = {
    "special": {"it sets how SciPy's functions report errors": "geterr seterr errstate"},
    "linalg": {"it chooses a routine of LAPACK": "find_best_blas_type get_blas_funcs get_lapack_funcs"},
    "fft": {"it sets how many threads SciPy takes": "get_workers set_workers"},
    "optimize": {
        "it is an argument of minimize and root, or their result": "Bounds LinearConstraint NonlinearConstraint OptimizeResult RootResults "
            "HessianUpdateStrategy BFGS SR1 LbfgsInvHessProduct InverseJacobian KrylovJacobian BroydenFirst linprog_verbose_callback "
            "show_options",
    },
}  # fmt: skip
