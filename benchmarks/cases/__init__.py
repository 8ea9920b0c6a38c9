"""The measurements, in the order of the table.  Each has a file, with every peer's code side by side.

A case has a `title`, `inputs()` (NumPy arrays, the same for every peer) and for each peer `with_<library>(...)`.  That function
takes the arrays and returns `step`, a function of no arguments that does the work once and returns the resulting
arrays.  The harness compares the results of all peers before it times anything.  Optional names:

    units           number of units of work in a step; times are reported per unit (default 1)
    tolerance       largest relative difference between two peers' results (default 1e-4, for float32)
    not_comparable  {library: reason} for a peer that has no such work
    with_casadi     CasADi's functions of scalars, if they can express the work; absent in most cases
    multiple_of     another case; this case's time is also shown as a multiple of its time
    with_numpy      the limit: only the NumPy calls that the work cannot avoid, into existing arrays, without derivatives; results
                    of the limit are not compared
"""

CASES = (
    "multiply",
    "profiled",
    "backward_node",
    "chain",
    "chain_grad",
    "chain_no_grad",
    "deep_chain",
    "mlp_small",
    "mlp_large",
    "many_parameters",
    "module_mlp",
    "module_cnn",
    "module_gpt",
    "module_lstm",
    "cross_entropy",
    "cross_entropy_gather",
    "layer_norm",
    "layer_norm_op",
    "elementwise",
    "rosenbrock_hvp",
    "two_layers",
    "two_layers_gradient",
    "two_layers_jvp",
    "two_layers_hvp",
    "two_layers_jacobian",
    "per_sample",
    "many_problems",
    "laplacian",
    "two_layers_hessian",
    "sparse_jacobian",
    "sparse_jacobian_large",
    "jvp_layers",
    "attention",
    "gaussian_process",
    "gaussian_process_large",
    "ode_rk4",
    "hmc_logistic",
    "gru",
    "rows",
    "embedding",
)
