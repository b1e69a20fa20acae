# %% [markdown]
# # The spectrum of a chirp
# A tone that rises from 50 to 400 Hz, with noise. `ft.stft` cuts it into frames and transforms
# them on the device; its result is complex, and `abs` of it is what is drawn.

# %%
import matplotlib.pyplot as plt

import ftensor as ft

RATE, SECONDS = 1000, 4
ft.manual_seed(0)
t = ft.arange(RATE * SECONDS) / RATE
tone = (2 * ft.pi * (50 * t + 0.5 * (400 - 50) / SECONDS * t * t)).sin()
signal = tone + 0.3 * ft.randn(t.shape)

# %%
frames = ft.stft(signal, 256, hop_length=32, window=ft.hann_window(256), return_complex=True)
power = frames.abs().log1p()
power.shape

# %%
figure, (above, below) = plt.subplots(2, figsize=(8, 5), height_ratios=(1, 3), layout="constrained")
above.plot(t.numpy()[:300], signal.numpy()[:300])
above.set(title="The first 0.3 s", xlabel="s")
below.imshow(power.numpy(), origin="lower", aspect="auto", extent=(0, SECONDS, 0, RATE / 2))
below.set(title="Its spectrum", xlabel="s", ylabel="Hz")
figure.savefig("spectrum.png", dpi=90)
