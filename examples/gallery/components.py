# %% [markdown]
# # Principal components of digits
# 1797 handwritten digits of 64 pixels each, seen along the two directions in which they differ
# most. The product with the directions runs on the device; `ft.linalg.svd` of a 64 x 64 matrix is
# NumPy's, as [the ops table](../ops.md) says.

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import ftensor as ft

digits = load_digits()
x = ft.tensor(digits.data, dtype=ft.float32)
x = x - x.mean(0)
names = ft.tensor(digits.target)

# %%
directions, sizes, _ = ft.linalg.svd(x.t() @ x)
places = x @ directions[:, :2]
share = (sizes[:2].sum() / sizes.sum()).item()
print(f"two directions hold {share:.0%} of the variance")

# %%
figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
for digit in range(10):
    some = places[names == digit].numpy()
    axes.scatter(some[:, 0], some[:, 1], s=6, label=str(digit))
axes.set(title="Digits along two directions", xlabel="first", ylabel="second")
axes.legend(ncols=2, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
figure.savefig("components.png", dpi=90)
