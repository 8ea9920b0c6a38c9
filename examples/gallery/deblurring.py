r"""
Deblurring
==========

The camera moved, and the picture is blurred and noisy. Which picture has few edges, and looks like this one when it is
blurred in the same way? That is a minimum over sixty thousand unknowns. Its gradient goes through a Fourier transform and through a norm of
differences, which no one has to derive.
"""

# %%
# A part of the temple of scikit-learn's sample, and the kernel of a shaken camera.
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_sample_image

import gradspec as gs

sharp = load_sample_image("china.jpg")[60:260, 170:470].mean(axis=2) / 255
time = np.linspace(0, 1, 400)
path = np.stack([6 * np.sin(2.2 * time), 9 * (time - 0.5) + 2 * np.cos(5 * time)])
kernel = np.histogram2d(*path, bins=21, range=[[-10.5, 10.5]] * 2)[0]
kernel = np.roll(np.pad(kernel / kernel.sum(), [(0, 200 - 21), (0, 300 - 21)]), (-10, -10), (0, 1))
transfer = np.fft.rfft2(kernel)


def blur(image):
    return gs.fft.irfft2(gs.fft.rfft2(image) * transfer, s=image.shape)


rng = np.random.default_rng(0)
taken = np.asarray(blur(sharp)) + 0.01 * rng.normal(size=sharp.shape)


# %%
# The total variation is the length of the gradients of the picture. A small constant under the root makes it smooth.
def misfit(image):
    return ((blur(image) - taken) ** 2).sum() / 2


def variation(image):
    down, right = gs.roll(image, -1, 0) - image, gs.roll(image, -1, 1) - image
    return gs.sqrt(down**2 + right**2 + 1e-4).sum()


def energy(pixels):
    image = pixels.reshape(sharp.shape)
    return misfit(image) + 1e-3 * variation(image)


def solved(cost, steps):
    """The minimum by L-BFGS; each value with its gradient is a replay of one compiled program."""
    return minimize(
        gs.compile(gs.value_and_grad(cost)),
        taken.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps},
    )


found = solved(energy, 200)
restored = found.x.reshape(sharp.shape)


# %%
# With squares in place of lengths the minimum is a formula: the filter of Wiener and Tikhonov. The same program with this energy
# comes to it.
def quadratic(pixels):
    image = pixels.reshape(sharp.shape)
    down, right = gs.roll(image, -1, 0) - image, gs.roll(image, -1, 1) - image
    return misfit(image) + 0.01 * (down**2 + right**2).sum() / 2


rows, columns = np.meshgrid(np.fft.fftfreq(200), np.fft.rfftfreq(300), indexing="ij")
roughness = 4 * np.sin(np.pi * rows) ** 2 + 4 * np.sin(np.pi * columns) ** 2
wiener = np.fft.irfft2(
    np.conj(transfer) * np.fft.rfft2(taken) / (abs(transfer) ** 2 + 0.01 * roughness), s=sharp.shape
)
same = solved(quadratic, 200).x.reshape(sharp.shape)
print(f"largest distance from Wiener's filter: {abs(same - wiener).max():.1e}")
assert abs(same - wiener).max() < 5e-3

direction = rng.normal(size=sharp.size)
slope = float((gs.grad(energy)(taken.ravel()) * direction).sum())
difference = (
    float(energy(taken.ravel() + 1e-5 * direction) - energy(taken.ravel() - 1e-5 * direction))
    / 2e-5
)
assert abs(slope - difference) < 1e-5 * abs(slope)


# %%
# The ratio of peak and noise, in decibels: the formula helps, the edges help more.
def decibels(image):
    return -10 * np.log10(((image - sharp) ** 2).mean())


pictures = {"taken": taken, "Wiener": wiener, "total variation": restored, "truth": sharp}
for title, image in list(pictures.items())[:3]:
    print(f"{title:16}{decibels(image):6.2f} dB")
assert decibels(restored) > decibels(wiener) > decibels(taken) + 2

# %%
# In the corner, the path of the camera.
figure, axes = plt.subplots(2, 2, figsize=(10, 7.2), layout="constrained")
for axis, (title, image) in zip(axes.flat, pictures.items()):
    axis.imshow(image, cmap="gray", vmin=0, vmax=1)
    axis.set(
        xticks=[],
        yticks=[],
        title=title if image is sharp else f"{title}, {decibels(image):.1f} dB",
    )
inset = axes[0, 0].inset_axes([0.02, 0.7, 0.2, 0.28])
inset.imshow(np.roll(kernel, (10, 10), (0, 1))[:21, :21], cmap="inferno")
inset.set(xticks=[], yticks=[])
plt.show()
