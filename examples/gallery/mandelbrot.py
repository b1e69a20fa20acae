# %% [markdown]
# # The Mandelbrot set
# Complex numbers on the device: z becomes z * z + c, and a point's colour is the step at which it
# leaves the circle of radius 2.

# %%
import matplotlib.pyplot as plt

import ftensor as ft

WIDTH, HEIGHT, STEPS = 480, 320, 40
real = ft.linspace(-2.2, 0.8, WIDTH)
imaginary = ft.linspace(-1.0, 1.0, HEIGHT)
c = ft.complex(real.expand(HEIGHT, WIDTH), imaginary[:, None].expand(HEIGHT, WIDTH))

# %%
z = ft.zeros_like(c)
count = ft.zeros(HEIGHT, WIDTH)
for _ in range(STEPS):
    inside = z.abs() < 2
    z = ft.where(inside, z * z + c, z)
    count += inside
count.max().item()

# %%
figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
axes.imshow(count.numpy(), cmap="magma", extent=(-2.2, 0.8, -1, 1))
axes.set(title=f"Steps until |z| > 2, at most {STEPS}", xlabel="real", ylabel="imaginary")
figure.savefig("mandelbrot.png", dpi=90)
