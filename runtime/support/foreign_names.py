"""Foreign names: names of PyTorch, JAX, HIPS autograd and NumPy that this library lacks, and their replacements.

Holds the answers; `error_hints` finds them and builds the errors.  A row is an answer and its names; `*` matches any letters.
Names in other namespaces, tensors' methods, and names of NumPy or SciPy need no row: `error_hints` searches these places.
"""

from fnmatch import fnmatchcase

# Attributes of tensors, as in `x.name`.
ATTRIBUTES = {
    "write nothing: every tensor is in memory": "cuda",
    "write x.mH": "H",
    "write x.fill_(value)": "fill",
    "write x = x.sort()": "sort_",
    "write x.numpy().ctypes.data": "data_ptr",
    "write x.numpy()": "storage",
    "write x.numpy().ctypes": "ctypes",
    "write x.numpy().flags": "flags",
    "write x.ravel()": "flat",
    "write x._base": "base",
    "write x.numpy().tobytes()": "tobytes",
    "write x.numpy().byteswap()": "byteswap",
    "write gs.sparse.from_dense(x)": "to_sparse",
    "write gs.sparse.multiply(mask, x), where the sparse mask has ones": "sparse_mask",
    "write nothing: threads share tensors as they are": "share_memory_",
    "write x.grad = None": "zero_grad",
    "write nothing: a result is there when the call returns": "block_until_ready",
}

# Names in namespaces; `random.gamma` is for that namespace only, if the answer differs elsewhere.
NAMES = {
    "not there yet; write gs.asarray of what numpy.random.default_rng(seed) draws: its parameters get no gradient": (
        "quasirandom"
    ),
    "write gs.random.key(seed), a tensor of two words, and gs.random.normal(key, shape)": (
        "key_dtype key_impl rng_bit_generator rng_uniform threefry_partitionable "
        "debug_key_reuse legacy_prng_key default_prng_impl enable_custom_prng"
    ),
    "write rng = gs.random.default_rng(seed), and rng.normal(0, 1, shape): a generator holds the state": (
        "RandomState default_generator thread_safe_generator"
    ),
    # Transformations and control flow.
    "write gs.vmap(f): one process holds the whole batch": "pmap smap shard_map",
    "not there yet, and nothing is traced; write f itself": (
        "eval_shape ensure_compile_time_eval no_tracing "
        "named_call named_scope functionalize disable_jit freeze dce_sink optimization_barrier after_all "
        "create_token composite "
    ),
    "write gs.trace(f, *args)": "make_jaxpr",
    "write gs.compile(f), or gs.trace(f, *args) to read its operators": "compiler stages fx export stage explain_cache_misses",
    "write gs.func, which has grad, jacobian, hessian and their kin": "wrap_util",
    "write gs.scipy.fft": "scipy.fftpack",
    "write gs.where(mask, x, value), or NumPy's functions with where=mask": "masked ma",
    "write gs.checkpoint(f)": "remat",
    "write gs.utils.checkpoint": (
        "checkpoint_policies CheckpointPolicy CheckpointFunction SelectiveCheckpointContext "
        "create_selective_checkpoint_contexts region_activation_memory_budget "
        "check_backward_validity detach_variable get_device_states set_device_states LoggingTensorMode "
        "capture_logs TorchDispatchMode"
    ),
    "write if and else: what Python runs is what is recorded": "platform_dependent",
    "write a subclass of gs.autograd.Function, with forward and backward": (
        "custom_gradient custom_derivatives notrace_primitive register_notrace library function "
        "NestedIOFunction softmax_custom_jvp fwd_and_bwd"
    ),
    "write gs.func.custom_vmap": "custom_batching",
    "write x.detach()": "detach_copy",
    "write gs.autograd.gradcheck(f, inputs)": (
        "check_vjp check_jvp combo_check check_equivalent unary_to_nary make_numerical_jvp scalar_close "
        "get_name"
    ),
    "write gs.autograd.detect_anomaly()": "debug_nans debug_infs set_anomaly_enabled anomaly_mode",
    "write gs.no_grad(), gs.enable_grad() or gs.set_grad_enabled(mode)": "grad_mode",
    "write gs.autograd.Variable": "variable",
    "write gs.autograd.saved_tensors_hooks(pack, unpack)": "SavedTensor RemovableHandle",
    "write y.grad_fn and its next_functions: they are the graph": (
        "tracers const_graph JVPNode VJPNode Graph Gradient ad numpy_boxes "
        "numpy_jvps numpy_vspaces"
    ),
    # Pytrees.
    "write the pytree itself: gs.func takes tuples, lists and dictionaries of arrays": (
        "tree_* treedef_* all_leaves is_tree_node Partial "
        "PyTreeDef KeyEntry KeyPath FlattenedIndexKey flatten_one_level* default_registry "
        "leaves structure leaves_with_path map_with_path flatten_with_path reduce_associative static"
    ),
    "write gs.tree_util.tree_map(lambda *items: list(items), *trees), which turns a list of trees into a tree of lists": (
        "tree.transpose tree_util.tree_transpose"
    ),
    "write gs.tree_util.tree_map(lambda x: value, tree)": "tree.broadcast",
    "write Python's own: containers need no wrapping": "dict list tuple isinstance type",
    "write gs.func.register_nest(nodetype, flatten, unflatten): values of the class are arguments then": (
        "Box VSpace register_pytree_with_keys*"
    ),
    "write gs.func.value_and_grad, which takes tuples, lists and dictionaries": "vspace SparseObject",
    # Modules of the other libraries.
    "write import gradspec as gs, or import numpy as np: NumPy's functions take tensors": "np jnp anp numpy_wrapper torch jax",
    "write gs.scipy.stats.norm.logpdf(x, m, s) and its kin, which have cdf, ppf, rvs and fit as SciPy's": (
        "stats betabinom binom chi2 expon gaussian_kde gennorm geom gumbel_l gumbel_r nbinom "
        "rankdata sem truncnorm vonmises wrapcauchy"
    ),
    "write gs.distributions.Normal(m, s).log_prob(x) and its kin, under PyTorch's names": (
        "Distribution Normal MultivariateNormal LowRankMultivariateNormal Uniform Laplace Cauchy "
        "Exponential Gamma Beta Dirichlet Poisson Bernoulli Binomial Categorical Multinomial Geometric NegativeBinomial "
        "StudentT Chi2 FisherSnedecor Gumbel HalfCauchy HalfNormal InverseGamma Kumaraswamy LKJCholesky LogNormal "
        "LogisticNormal MixtureSameFamily OneHotCategorical* Pareto GeneralizedPareto RelaxedBernoulli RelaxedOneHotCategorical "
        "VonMises Weibull Wishart ContinuousBernoulli ExponentialFamily Independent TransformedDistribution *Transform "
        "*_transform transforms transform_to biject_to constraints constraint_registry kl kl_divergence register_kl exp_family "
        "half_cauchy half_normal independent inverse_gamma kumaraswamy lkj_cholesky log_normal logistic_normal "
        "lowrank_multivariate_normal mixture_same_family negative_binomial one_hot_categorical relaxed_bernoulli "
        "relaxed_categorical studentT transformed_distribution von_mises wishart continuous_bernoulli distribution "
        "generalized_pareto fishersnedecor"
    ),
    "write gs.scipy.integrate.odeint or gs.scipy.integrate.solve_ivp": "odeint solve_ivp integrate",
    "write gs.scipy.optimize.minimize": "minimize OptimizeResults optimize root",
    "write gs.optim.SGD, gs.optim.RMSprop or gs.optim.Adam": "sgd rmsprop adam unflatten_optimizer optax",
    "write gs.scipy.ndimage": "ndimage",
    "write gs.nn.interpolate, or gs.nn.grid_sample": "image",
    "write gs.nn and gs.optim": "example_libraries stax",
    "write gs.sparse.matmul(A, x)": "spmm smm hsmm hspmm dsmm",
    "write gs.sparse.addmm(mat, A, x)": "saddmm sspaddmm",
    "write gs.sparse.coo(data, (rows, columns), shape) or gs.sparse.csr": "sparse_* *indices_copy values_copy",
    "not there yet; write the dense array, or gs.index_add": "resize_as_sparse_ nonzero_static",
    "write gs.profiler.profile": (
        "profiler.trace profiler.start_trace profiler.stop_trace "
        "profiler_* ProfilerConfig ProfilerEvent ProfilerState emit_nvtx emit_itt ExecutionTraceObserver DeviceType "
        "monitor monitoring"
    ),
    "write timeit of a call": "ThroughputBenchmark throughput_benchmark BenchmarkConfig BenchmarkExecutionStats",
    "write gs.utils.data": (
        "dataloader dataset sampler datapipes *DataPipe DataChunk *datapipe* graph_settings non_deterministic "
        "runtime_validation* argument_validation"
    ),
    # Layers and optimisers.
    "write gs.nn.Module and the layers of gs.nn": "Container common_types factory_kwargs",
    "write gs.distributed.DistributedDataParallel": "DataParallel parallel intrinsic",
    "write gs.nn.Buffer, or register_buffer in a gs.nn.Module": "BufferDict",
    "write the constructor: gs.nn.Linear(3, 4)": "skip_init",
    "write gs.nn.MultiheadAttention, or gs.nn.scaled_dot_product_attention(q, k, v)": "attention",
    "write gs.nn.scaled_dot_product_attention(*(x.swapaxes(-3, -2) for x in (q, k, v))).swapaxes(-3, -2)": "dot_product_attention",
    "write gs.nn.Upsample, or gs.nn.interpolate": "upsample upsample_nearest",
    "write gs.nn.interpolate(x, size, mode='bilinear', align_corners=True)": "upsample_bilinear",
    "write x itself, or gs.nn.Identity()": "nn.identity",
    "write gs.eye(n)": "identity",
    "write np.dtype, or x.dtype": "dtype",
    "write gs.asarray(x)": (
        "asanyarray ascontiguousarray asfortranarray asarray_chkfinite asmatrix scalar_tensor device_put device_get"
    ),
    "not there yet; write gs.nn.alpha_dropout or gs.nn.dropout1d": "feature_alpha_dropout* feature_dropout*",
    "write gs.nn.utils.parametrizations.weight_norm": "norm_except_dim",
    "write gs.nn.init.xavier_uniform_(x) and its kin, which fill a tensor, or gs.nn.initializers.he_normal()(key, shape)": (
        "initializers constant nn.orthogonal kaiming_* xavier_* glorot_* he_normal he_uniform lecun_* "
        "variance_scaling delta_orthogonal Initializer"
    ),
    "write gs.nn.utils.clip_grad_norm_": "clip_grad_norm clip_grad",
    "write gs.nn.utils.parameters_to_vector": "convert_parameters",
    "not there yet; write gs.nn.max_pool1d_with_indices or its kin": "adaptive_max_pool*_with_indices",
    "write gs.nn.channel_shuffle": "native_channel_shuffle",
    "write gs.nn.hardsigmoid": "hard_sigmoid sparse_sigmoid",
    "write gs.nn.hardswish": "hard_silu",
    "write gs.nn.hardtanh": "hard_tanh",
    "write gs.nn.softsign": "soft_sign",
    "write gs.nn.layer_norm(x, x.shape[-1:])": "standardize",
    "write gs.where over the three pieces": "sparse_plus",
    "write gs.optim.swa_utils.AveragedModel": "swap_in_optimizer_params_and_state",
    # Arrays.
    "write tuple, the class of x.shape": "Size",
    "write gs.Tensor": "ref Ref new_ref empty_ref free_ref ShapeDtypeStruct Value Storage storage swap_tensors",
    "write gs.tensor(data, dtype=gs.float32), and x.dtype == gs.float32 to ask": "FloatStorage",
    "write gs.tensor(data, dtype=gs.float64), and x.dtype == gs.float64 to ask": "DoubleStorage",
    "write gs.tensor(data, dtype=gs.int64), and x.dtype == gs.int64 to ask": "LongStorage",
    "write gs.tensor(data, dtype=gs.int32), and x.dtype == gs.int32 to ask": "IntStorage",
    "write gs.tensor(data, dtype=gs.int16), and x.dtype == gs.int16 to ask": "ShortStorage",
    "write gs.tensor(data, dtype=gs.int8), and x.dtype == gs.int8 to ask": "CharStorage",
    "write gs.tensor(data, dtype=gs.uint8), and x.dtype == gs.uint8 to ask": "ByteStorage",
    "write gs.tensor(data, dtype=gs.bool), and x.dtype == gs.bool to ask": "BoolStorage",
    "write gs.tensor(data, dtype=gs.half), and x.dtype == gs.half to ask": "HalfStorage chalf",
    "write gs.float64, which is the default": "float_",
    "write gs.uint8": "byte",
    "write gs.complex64": "ComplexFloatStorage",
    "write gs.complex128": "complex_ ComplexDoubleStorage",
    "no counterpart, dtypes are NumPy's; write gs.float32": (
        "bfloat16 BFloat16* float0 float4_* float6_* float8_* complex32 int1 int2 int3 int4 int5 int6 int7 uint1 uint2 uint3 "
        "uint4 uint5 uint6 uint7 bits* bit UntypedStorage TypedStorage quint* qint* QInt* QUInt* allow_f16_reductions "
        "enable_x64 numpy_dtype_promotion numpy_rank_promotion"
    ),
    "write isinstance(x, gs.Tensor)": "is_storage is_tensor_like typeof",
    "write x itself, which has __dlpack__; gs.from_dlpack reads another library's": "to_dlpack dlpack",
    "write gs.zeros(shape), or gs.empty(shape)": "empty_permuted empty_strided empty_quantized",
    "write gs.trapezoid": "trapz",
    "write gs.arange(start, stop + step, step)": "range",
    "write gs.arange(n), and gs.reshape or gs.broadcast_to": "iota broadcasted_iota",
    "write gs.linalg.multi_dot": "chain_matmul",
    "write gs.linalg.pinv": "pinverse",
    "write gs.linalg.eigh": "symeig",
    "write gs.linalg.qr": "geqrf ormqr lobpcg",
    "write gs.linalg.svd, whose leading columns are the low rank ones": "svd_lowrank pca_lowrank",
    "write gs.norm": "frobenius_norm native_norm",
    "write gs.special.gammainc": "igamma igamma_grad_a random_gamma_grad",
    "write gs.special.gammaincc": "igammac",
    "write gs.erfinv": "erf_inv",
    "write gs.special.i0e": "bessel_i0e",
    "write gs.special.i1e": "bessel_i1e",
    "write gs.fmod": "rem",
    "write gs.flip": "rev",
    "write gs.isfinite": "is_finite",
    "write gs.topk": "top_k approx_max_k",
    "write gs.topk(x, k, largest=False)": "approx_min_k",
    "write gs.sum, or gs.max, gs.min, gs.prod": "reduce reduce_sum reduce_max reduce_min reduce_prod",
    "write gs.any, or gs.all": "reduce_or reduce_and",
    "write np.bitwise_xor.reduce(x.numpy())": "reduce_xor",
    "write gs.nn.avg_pool2d or gs.nn.max_pool2d": "reduce_window",
    "write gs.broadcast_to, or x[:, None]": "broadcast broadcast_in_dim broadcast_like broadcast_to_rank",
    "write gs.reshape": "collapse",
    "write x[start:stop]": (
        "slice slice_in_dim dynamic_slice dynamic_slice_in_dim dynamic_index_in_dim index_in_dim index_take slice_copy "
        "slice_inverse"
    ),
    "write x[start:stop] = value, or gs.slice_scatter": "dynamic_update_slice* dynamic_update_index_in_dim",
    "write gs.scatter_add, or gs.scatter_reduce": "scatter_sub scatter_mul scatter_min scatter_max scatter_apply",
    "write gs.where": "select_n",
    "write gs.einsum, or gs.tensordot": (
        "dot_general batch_matmul ragged_dot* scaled_dot* scaled_matmul scaled_mm grouped_mm scaled_grouped_mm"
    ),
    "write gs.nn.conv2d": (
        "conv conv_general_* conv_with_general_padding conv_dimension_numbers *shape_tuple "
        "padtype_to_pads cudnn_convolution* miopen_convolution* miopen_depthwise_convolution mkldnn_convolution mkldnn_linear*"
    ),
    "write gs.nn.conv_transpose2d with the kernel flipped: JAX's does not flip it": "conv_transpose",
    "write gs.logcumsumexp": "cumlogsumexp",
    "write x**n": "integer_pow",
    "write gs.left_shift": "shift_left",
    "write gs.right_shift": "shift_right_arithmetic",
    "write gs.right_shift of an unsigned dtype": "shift_right_logical",
    "write gs.argsort, and gs.take": "sort_key_val",
    "write gs.astype(x, dtype)": "convert_element_type",
    "write x.numpy().view(dtype)": "bitcast_convert_type",
    "write NumPy's np.bitwise_count(x.numpy())": "population_count",
    "write NumPy's functions of x.numpy()": "clz mulhi",
    "write gs.nn.batch_norm": "batch_norm_* native_batch_norm cudnn_batch_norm miopen_batch_norm quantized_batch_norm",
    "write gs.nn.dropout": "native_dropout",
    "write gs.nn.group_norm": "native_group_norm",
    "write gs.nn.layer_norm": "native_layer_norm",
    "write gs.nn.affine_grid": "affine_grid_generator cudnn_affine_grid_generator",
    "write gs.nn.grid_sample": "grid_sampler* cudnn_grid_sampler",
    "write gs.nn.ctc_loss": "miopen_ctc_loss",
    "write gs.nn.lstm, or gs.nn.gru": "miopen_rnn mkldnn_rnn_layer quantized_gru* quantized_lstm* quantized_rnn*",
    "write gs.nn.max_pool2d": "mkldnn_*pool* quantized_max_pool*",
    "write gs.copy(y) for the result y of the function without _copy": "*_copy",
    "write gs.split(x, np.cumsum(sizes)[:-1])": "unsafe_split_with_sizes lax.split",
    "write gs.sign(x) * gs.floor(gs.abs(x) + 0.5)": "lax.round",
    "write gs.diagonal(x, axis1=-2, axis2=-1)": "linalg.diagonal",
    "write gs.trace(x, axis1=-2, axis2=-1)": "linalg.trace",
    "write U, S, Vh = gs.linalg.svd(x, full_matrices=False); PyTorch's V is Vh.mH": ".svd",
    "write nothing: conjugates and negatives are computed at once": (
        "conj_physical conj_physical_ resolve_conj resolve_neg is_conj is_neg"
    ),
    "write the function without its final underscore": (
        "gcd_ lcm_ rrelu_ dropout_ alpha_dropout_ elu_ hardtanh_ leaky_relu_ threshold_ embedding_renorm_"
    ),
    "write gs.full_like(x, value), or x.fill_(value)": "fill",
    "write gs.load": "from_file",
    "write hash(x.numpy().tobytes())": "hash_tensor",
    "write gs.signal.windows.hann(n, sym=False)": "hann_window",
    "write gs.signal.windows.hamming(n, sym=False)": "hamming_window",
    "write gs.signal.windows.blackman(n, sym=False)": "blackman_window",
    "write gs.signal.windows.bartlett(n, sym=False)": "bartlett_window",
    "write gs.signal.windows.kaiser(n, sym=False)": "kaiser_window",
    "write gs.linalg.cholesky, which raises if the result does not exist": "cholesky_ex",
    "write gs.linalg.inv, which raises if the result does not exist": "inv_ex",
    "write gs.linalg.solve, which raises if the result does not exist": "solve_ex",
    "write gs.linalg.lu_factor, which raises if the result does not exist": "lu_factor_ex",
    "not there yet; write gs.linalg.solve": "ldl_factor ldl_factor_ex ldl_solve",
    "not there yet; write a gs.autograd.Function around SciPy's": "airy_ai bessel_jn",
    # Random numbers.
    "write gs.manual_seed(seed)": "initial_seed",
    "write gs.random.default_rng(seed), whose attribute generator is NumPy's": (
        "get_rng_state set_rng_state fork_rng get_state set_state"
    ),
    # Devices, threads, dtypes that are set.
    "write nothing: there is one device, memory": (
        "mtia cpu is_vulkan_available cudnn_is_acceptable Device device_count devices local_device_count local_devices "
        "default_device default_backend get_device get_device_module host_count host_id host_ids process_count process_index "
        "process_indices block_until_ready effects_barrier copy_to_host_async Stream memory transfer_guard* "
        "enforce_grad_layout_policy set_warn_on_accumulate_grad_stream_mismatch set_override_stale_capture_stream "
        "live_arrays array_garbage_collection_guard clear_caches"
    ),
    "no counterpart: a process has one device; write gs.distributed.value_and_grad for many processes": (
        "NamedSharding sharding Shard P set_mesh make_mesh make_user_context auto_pcast reshard "
        "remove_size_one_mesh_axis_from_type make_array_from_* all_gather all_to_all axis_index axis_size pmax pmean pmin psum "
        "psum_scatter ppermute pshuffle pswapaxes pbroadcast pcast precv psend ragged_all_to_all with_sharding_constraint "
        "distributed.broadcast distributed.reduce distributed.scatter distributed.gather "
        "is_distributed futures fork wait multiprocessing prepare_multiprocessing_environment Future"
    ),
    "write gs.set_num_threads": "set_num_interop_threads get_num_interop_threads init_num_threads has_openmp",
    "write dtype= where a tensor is made: the default is float64, NumPy's": (
        "set_default_tensor_type autocast_* get_autocast_* set_autocast_* is_autocast_* clear_autocast_cache "
        "default_matmul_precision set_flush_denormal"
    ),
    "write np.set_printoptions": "set_printoptions printoptions get_printoptions",
    "write nothing: results are the same from run to run": (
        "is_deterministic_algorithms_warn_only_enabled "
        "set_deterministic_debug_mode get_deterministic_debug_mode deterministic"
    ),
    "write np.exceptions.ComplexWarning": "ComplexWarning",
    "write warnings.filterwarnings": "set_warn_always is_warn_always_enabled",
    "write gs.save and gs.load": "serialization hub package PyTorchFileReader PyTorchFileWriter *StorageContext",
    "write gs.__version__": "version torch_version",
    "write RuntimeError, or ValueError: errors are Python's": (
        "AcceleratorError FatalError JITException OutOfMemoryError errors ErrorReport"
    ),
    # Names without a use here.
    "no counterpart: dtypes are NumPy's, and nothing is quantized": (
        "quantize_per_* quantized fake_quantize_* fused_moving_avg_obs_fake_quant fbgemm_* choose_qparams_optimized dequantize "
        "int_repr per_channel_* per_tensor_* q_* qscheme quantization qat quantizable ao"
    ),
    "write nothing: every tensor is strided": (
        "strided layout legacy_contiguous_format memory_format "
        "convert_conv*"
    ),
    "no counterpart: it is part of the machinery of the library that it is from": (
        "AliasDb Argument ArgumentSpec Block CallStack Capsule Code CompilationUnit CompleteArgumentSpec "
        "ConcreteModuleTypeBuilder DeepCopyMemoTable Dispatch* ExcludeDispatchKeyGuard ExecutionPlan FileCheck FunctionSchema "
        "GraphExecutorState IODescriptor LiteScriptModule LockingLogger NoopLogger OperatorInfo StaticModule Tag TracingState "
        "Use FloatType classes classproperty compiled_with_cxx11_abi get_file_path has_lapack has_mkl has_spectral "
        "import_ir_module* merge_type_from_type_comment aten overrides parse_* return_types sym_* types unify_type_list "
        "*_torch_function* assert_int_or_pair boolean_dispatch backcompat backend_registration cmake_prefix_path collect_env "
        "cpp_backtrace generate_methods_for_privateuse1_backend get_cpp_backtrace hooks rename_privateuse1_backend set_module "
        "weak debug_unwrap rearrange core api_util check_tracer_leaks ds enable_checks ffi "
        "interpreters jax2tf_* log_compiles no_execution print_environment_info thread_guard *DimensionNumbers "
        "AccuracyMode DotAlgorithm* GatherScatterMode Precision RandomAlgorithm RoundingMethod Tolerance reduce_precision "
        "shape_as_value get_scaled_dot_general_config wraps"
    ),
}


def row(table, name, exact=False):
    """The answer for a name, also by pattern unless `exact`."""
    for answer, names in table.items():
        if name in names.split():
            return answer
    if not exact:
        for answer, names in table.items():
            if any(fnmatchcase(name, pattern) for pattern in names.split() if "*" in pattern):
                return answer
    return None
