# %% [markdown]
# # Heat that spreads over a plate
# The heat equation by finite differences: each step is a sum of shifted views, written into a
# view of the same tensor. The program waits for results only to take a picture.

# %%
import matplotlib.pyplot as plt

import ftensor as ft

SIZE, STEPS = 128, 600
plate = ft.zeros(SIZE, SIZE)
plate[40:60, 30:50] = 1.0
plate[80:90, 70:110] = 1.0
inner = plate[1:-1, 1:-1]  # a view

# %%
seen = {0: plate.clone()}
for step in range(1, STEPS + 1):
    around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    inner.add_(around - 4 * inner, alpha=0.2)
    if step in (60, STEPS):
        seen[step] = plate.clone()
plate.sum().item()

# %%
figure, places = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for axes, (step, state) in zip(places, seen.items(), strict=True):
    axes.imshow(state.numpy(), cmap="inferno", vmax=0.6)
    axes.set(title=f"after {step} steps", xticks=[], yticks=[])
figure.savefig("heat.png", dpi=90)
