import numpy as np
from scipy import stats

import gradspec as gs

data = np.random.default_rng(0).normal(2.0, 0.5, size=100)


def negative_log_likelihood(p):
    return -np.sum(stats.norm.logpdf(data, loc=p[0], scale=np.exp(p[1])))


print(gs.grad(negative_log_likelihood)(np.array([1.0, 0.0])))
