"""Programs in the manner of HIPS autograd's examples, changed in their imports alone.

Each is written against `np` and the names of that library's own module.  It runs twice: with `np` as gradspec, and with `np` as
NumPy itself, whose functions take tensors.
"""

import numpy

from tests.asked import each

NAMES = ("elementwise_grad grad grad_and_aux grad_named hessian hessian_vector_product jacobian make_hvp make_jvp make_vjp "
         "multigrad_dict value_and_grad").split()  # fmt: skip
IMPORTS = {
    "gradspec": "import gradspec as np\nimport numpy\nimport numpy.random as npr\n",
    "numpy": "import numpy as np\nimport numpy\nimport numpy.random as npr\n",
}

PROGRAMS = {
    "tanh and its derivatives": """
def tanh(x):
    return (1.0 - np.exp(-x)) / (1.0 + np.exp(-x))

x = numpy.linspace(-7, 7, 50)
f, found = tanh, []
for _ in range(6):
    found.append(f(x))
    f = elementwise_grad(f)
t = numpy.tanh(x / 2)
result = [numpy.asarray(y) for y in found[:3]]
expected = [t, (1 - t**2) / 2, -t * (1 - t**2) / 2]
assert numpy.isfinite(numpy.asarray(found[5])).all()
""",
    "sine by its Taylor series": """
def sine(x):
    ans = currterm = x
    i = 0
    while abs(currterm) > 1e-12:
        currterm = -currterm * x**2 / ((2 * i + 3) * (2 * i + 2))
        ans = ans + currterm
        i += 1
    return ans

result = [float(v) for v in (grad(sine)(1.2), grad(grad(sine))(1.2))]
expected = [numpy.cos(1.2), -numpy.sin(1.2)]
""",
    "logistic regression": """
def sigmoid(x):
    return 0.5 * (np.tanh(x / 2.0) + 1)

inputs = numpy.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30], [0.74, -2.49, 1.39]])
targets = numpy.array([True, True, False, True])

def training_loss(weights):
    preds = sigmoid(np.dot(inputs, weights))
    label_probabilities = preds * targets + (1 - preds) * (1 - targets)
    return -np.sum(np.log(label_probabilities))

training_gradient_fun = grad(training_loss)
weights = numpy.zeros(3)
before = float(training_loss(weights))
for i in range(100):
    weights = weights - training_gradient_fun(weights) * 0.01
result, expected = [before, float(training_loss(weights)) < before - 0.5], [4 * numpy.log(2), True]
""",
    "Rosenbrock by scipy.optimize": """
from scipy.optimize import minimize

def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

def plain(f):
    return lambda *args: numpy.asarray(f(*args))

found = minimize(value_and_grad(rosenbrock), numpy.array([-1.0, 2.0]), jac=True, method="CG", tol=1e-10)
newton = minimize(plain(rosenbrock), numpy.array([-1.0, 2.0]), jac=plain(grad(rosenbrock)), hess=plain(hessian(rosenbrock)),
                  method="Newton-CG", tol=1e-10)
product = minimize(plain(rosenbrock), numpy.array([-1.0, 2.0]), jac=plain(grad(rosenbrock)),
                   hessp=plain(hessian_vector_product(rosenbrock)), method="trust-ncg", tol=1e-10)
result, expected = [found.x, newton.x, product.x], numpy.ones((3, 2))
""",
    "a network of dictionaries": """
rs = npr.RandomState(0)
params = [{"weights": rs.normal(size=(m, n)), "biases": numpy.zeros(n)} for m, n in ((3, 8), (8, 2))]
inputs, targets = rs.normal(size=(20, 3)), numpy.eye(2)[rs.randint(2, size=20)]

def predict(params, inputs):
    for layer in params:
        outputs = np.dot(inputs, layer["weights"]) + layer["biases"]
        inputs = np.tanh(outputs)
    return outputs - np.log(np.sum(np.exp(outputs), axis=1, keepdims=True))

def objective(params, iter=0):
    return -np.sum(predict(params, inputs) * targets)

before = float(objective(params))
for i in range(60):
    gradient = grad(objective)(params, i)
    params = [{name: layer[name] - 0.02 * slope[name] for name in layer} for layer, slope in zip(params, gradient)]
result, expected = [float(objective(params)) < 0.8 * before], [True]
""",
    "a Gaussian process": """
def rbf_covariance(params, x, xp):
    output_scale, lengthscales = np.exp(params[0]), np.exp(params[1:])
    diffs = (x[:, None] - xp[None, :]) / lengthscales
    return output_scale * np.exp(-0.5 * np.sum(diffs**2, axis=2))

x = numpy.linspace(-3, 3, 12)[:, None]
y = numpy.sin(x[:, 0])

def log_marginal_likelihood(params):
    cov = rbf_covariance(params[1:], x, x) + np.exp(params[0]) * numpy.eye(12)
    sign, logdet = np.linalg.slogdet(cov)
    return -0.5 * np.dot(y, np.linalg.solve(cov, y)) - 0.5 * logdet

point, step = numpy.array([-2.0, 0.1, 0.2]), 1e-6
result = numpy.asarray(grad(log_marginal_likelihood)(point))
expected = [(float(log_marginal_likelihood(point + step * e)) - float(log_marginal_likelihood(point - step * e))) / (2 * step)
            for e in numpy.eye(3)]
""",
    "a mixture of Gaussians": """
rs = npr.RandomState(1)
data = numpy.concatenate([rs.normal(-2, 0.5, 40), rs.normal(1, 0.7, 60)])

def log_likelihood(params):
    logits, means, scales = params["logits"], params["means"], params["scales"]
    weights = logits - np.log(np.sum(np.exp(logits)))
    z = (data[:, None] - means) / np.exp(scales)
    return np.sum(np.log(np.sum(np.exp(weights - 0.5 * z**2 - scales), axis=1)))

params = {"logits": numpy.zeros(2), "means": numpy.array([-1.0, 0.5]), "scales": numpy.zeros(2)}
values = []
for _ in range(400):
    value, gradient = value_and_grad(log_likelihood)(params)
    values.append(float(value))
    params = {name: params[name] + 0.001 * gradient[name] for name in params}
result, expected = numpy.asarray(params["means"]), [data[:40].mean(), data[40:].mean()]
tolerance = 0.1
assert min(numpy.diff(values)) > -1e-9
""",
    "a recurrent network": """
rs = npr.RandomState(2)
params = {"init": rs.normal(size=4) * 0.1, "change": rs.normal(size=(6, 4)) * 0.3, "predict": rs.normal(size=(4, 2)) * 0.3}
inputs = rs.normal(size=(5, 3, 2))

def rnn_predict(params, inputs):
    hiddens = np.repeat(params["init"][None, :], inputs.shape[1], axis=0)
    output = []
    for input in inputs:
        hiddens = np.tanh(np.dot(np.concatenate((input, hiddens), axis=1), params["change"]))
        output.append(np.dot(hiddens, params["predict"]))
    return output

def loss(params):
    return sum([np.sum((out - x) ** 2) for out, x in zip(rnn_predict(params, inputs), inputs)])

gradient, step = grad(loss)(params), 1e-6
moved = {name: params[name] + step * numpy.asarray(gradient[name]) for name in params}
result = (float(loss(moved)) - float(loss(params))) / step
expected = sum((numpy.asarray(part) ** 2).sum() for part in gradient.values())
tolerance = 1e-3
""",
    "black-box variational inference": """
def log_density(x):
    mu, log_sigma = x[:, 0], x[:, 1]
    return -0.5 * (log_sigma**2 / 1.35**2 + mu**2 / np.exp(2 * log_sigma)) - log_sigma

rs = npr.RandomState(0)

def objective(params, t):
    mean, log_std = params[:2], params[2:]
    samples = npr.RandomState(t).randn(200, 2) * np.exp(log_std) + mean
    return -(np.sum(log_std) + np.mean(log_density(samples)))

params = numpy.array([-1.0, -1.0, -0.5, -0.5])
start = float(objective(params, 0))
for t in range(150):
    params = params - 0.05 * grad(objective)(params, t)
result, expected = [float(objective(params, 0)) < start - 0.5], [True]
""",
    "an ordinary differential equation, step by step": """
def simulate(params, steps=50, dt=0.05):
    state = np.stack([params["x"], params["v"]])
    matrix = np.stack([np.stack([0.0 * params["k"], 1.0 + 0.0 * params["k"]]), np.stack([-params["k"], -params["c"]])])
    for _ in range(steps):
        state = state + dt * np.dot(matrix, state)
    return state[0] ** 2

params, step = {"x": 1.0, "v": 0.0, "k": 4.0, "c": 0.3}, 1e-6
gradient = grad(simulate)(params)
result = [float(gradient[name]) for name in params]
expected = []
for name in params:
    ends = [float(simulate({n: np.asarray(v + sign * step * (n == name)) for n, v in params.items()})) for sign in (1, -1)]
    expected.append((ends[0] - ends[1]) / (2 * step))
tolerance = 1e-6
""",
    "Jacobians, products and gradients by name": """
def f(x, y):
    return np.sin(x) * np.sum(y**2)

x, y, v = numpy.array([0.3, 0.7]), numpy.array([1.0, 2.0, 3.0]), numpy.array([1.0, -1.0])
pullback, value = make_vjp(f)(x, y)
pushed = make_jvp(f)(x, y)(v)[1]
energy = lambda a, b: np.sum(a**2 * b)
named = multigrad_dict(energy)(x, v)
result = [numpy.asarray(jacobian(f)(x, y)), numpy.asarray(jacobian(f, 1)(x, y)).sum(), numpy.asarray(pullback(v)), numpy.asarray(pushed),
          numpy.asarray(named["b"]), numpy.asarray(grad_named(energy, "b")(x, v)), numpy.asarray(make_hvp(energy)(x, v)[0](v))]
expected = [numpy.diag(14 * numpy.cos(x)), (numpy.sin(x) * 12).sum(), 14 * numpy.cos(x) * v, 14 * numpy.cos(x) * v, x**2, x**2, 2 * v * v]
""",
    "a fixed point and its derivative": """
def fixed_point(f, a, guess=1.0):
    x = guess
    for _ in range(60):
        x = f(a, x)
    return x

def newton_sqrt(a, x):
    return 0.5 * (x + a / x)

def sqrt(a):
    return fixed_point(newton_sqrt, a)

result = [float(v) for v in (sqrt(2.0), grad(sqrt)(2.0), grad(grad(sqrt))(2.0))]
expected = [2**0.5, 0.5 / 2**0.5, -0.25 / 2**1.5]
""",
    "an auxiliary result": """
def loss(w, x):
    prediction = np.dot(x, w)
    return np.sum(prediction**2), prediction

x = numpy.array([[1.0, 2.0], [3.0, 4.0]])
gradient, prediction = grad_and_aux(loss)(numpy.array([1.0, -1.0]), x)
result, expected = [numpy.asarray(gradient), numpy.asarray(prediction)], [2 * x.T @ x @ [1.0, -1.0], x @ [1.0, -1.0]]
""",
}


@each("imports", IMPORTS)
@each("name", PROGRAMS)
def test_a_program_runs(name, imports):
    source = IMPORTS[imports] + f"from gradspec.func import {', '.join(NAMES)}\n" + PROGRAMS[name]
    space = {"tolerance": 1e-5}
    exec(compile(source, name, "exec"), space)
    found, expected = space["result"], space["expected"]
    pairs = zip(found, expected) if isinstance(found, list) else [(found, expected)]
    for one, other in pairs:
        numpy.testing.assert_allclose(numpy.asarray(one, float), numpy.asarray(other, float), rtol=space["tolerance"], atol=space["tolerance"])
