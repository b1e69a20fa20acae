# %% [markdown]
# # Edges of a photograph
# Sobel's two 3 x 3 derivatives as one convolution with two output channels, combined by `hypot`.
# The photograph comes with scikit-learn.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import ftensor as ft

photo = load_sample_image("flower.jpg")[::2, ::2]
grey = ft.tensor(photo.astype(np.float32)).mean(2)
across = ft.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])

# %%
kernels = ft.stack([across, across.t()]).unsqueeze(1)
both = ft.nn.functional.conv2d(grey[None, None], kernels)[0]
edges = ft.hypot(both[0], both[1])
edges.shape, edges.max().item()

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.imshow(photo)
left.set(title="The photograph", xticks=[], yticks=[])
right.imshow(edges.numpy(), cmap="gray", vmax=300)
right.set(title="Where it changes", xticks=[], yticks=[])
figure.savefig("edges.png", dpi=90)
