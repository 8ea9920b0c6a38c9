"""Time and memory of a training step: a table, a trace for Perfetto, and the memory that the graph keeps.

Run it with `python examples/profiling.py`, or with `--output FOLDER` for the trace and the flame graph as files.
"""

import argparse
from pathlib import Path

import numpy as np

import gradspec as gs
from gradspec.profiler import profile, record_function

parser = argparse.ArgumentParser()
parser.add_argument("--output", type=Path, help="where to write trace.json and profile.html")
options = parser.parse_args()

rng = np.random.default_rng(0)
inputs, targets = rng.normal(size=(512, 64)), rng.integers(10, size=512)
weights = [gs.tensor(rng.normal(size=shape) / 8, requires_grad=True) for shape in ((64, 256), (256, 256), (256, 10))]
optimizer = gs.optim.SGD(weights, lr=0.1)


def loss_of_batch():
    x = gs.asarray(inputs)
    for weight in weights[:-1]:
        x = gs.tanh(x @ weight)
    return gs.nn.cross_entropy(x @ weights[-1], targets)


def train_step():
    optimizer.zero_grad()
    with record_function("forward"):
        loss = loss_of_batch()
    loss.backward()
    with record_function("update"):
        optimizer.step()


train_step()  # work of the first step only is not profiled
with profile(profile_memory=True, with_flops=True) as prof:
    for _ in range(5):
        train_step()

print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=8))
print("saved for backward, in one step:")
print(gs.autograd.graph.saved_memory(loss_of_batch()))
if options.output is not None:
    prof.export_chrome_trace(str(options.output / "trace.json"))  # open it at ui.perfetto.dev
    (options.output / "profile.html").write_text(prof._repr_html_() or "")
