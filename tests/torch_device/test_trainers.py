"""accelerate, transformers' Trainer and Lightning train on the device.

They are large and in no extra, so the test of a missing package is skipped.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
SETUP = """
import os
os.environ["ACCELERATE_TORCH_DEVICE"] = "fpga"
import torch
from torch import nn
import ftensor as ft
import ftensor.torch

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x @ torch.tensor([[1.0], [2.0], [-1.0], [0.5]])
parts = [{"x": a, "labels": b} for a, b in zip(x, y)]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
    def forward(self, x, labels=None):
        found = self.layer(x)
        return {"loss": nn.functional.mse_loss(found, labels), "logits": found}

def loss(net):
    with torch.no_grad():
        assert net.layer.weight.device.type == "fpga"
        return net(x.to("fpga"), y.to("fpga"))["loss"].item()

net = Net()
"""
PROGRAMS = {
    "accelerate": """
from accelerate import Accelerator
accelerator = Accelerator()
loader = torch.utils.data.DataLoader(parts, 16)
net, optimizer, loader = accelerator.prepare(net, torch.optim.Adam(net.parameters(), 0.1), loader)
for _ in range(20):
    for batch in loader:
        optimizer.zero_grad()
        accelerator.backward(net(**batch)["loss"])
        optimizer.step()
assert loss(net) < 0.1
""",
    "transformers": """
import sys
from transformers import Trainer, TrainingArguments
options = TrainingArguments(
    sys.argv[1], num_train_epochs=20, per_device_train_batch_size=16, learning_rate=0.1,
    report_to=[], disable_tqdm=True, save_strategy="no", logging_strategy="no",
)
assert options.device.type == "fpga"
Trainer(net, options, train_dataset=parts).train()
assert loss(net) < 0.1
""",
    "transformers in half precision": """
import os, sys
os.environ["ACCELERATE_MIXED_PRECISION"] = "bf16"
from transformers import Trainer, TrainingArguments
dtypes = set()
net.layer.register_forward_hook(lambda layer, args, found: dtypes.add(found.dtype) if layer.training else None)
words = dict(
    num_train_epochs=20, per_device_train_batch_size=16, learning_rate=0.1, report_to=[], disable_tqdm=True,
    save_strategy="no", logging_strategy="no",
)
Trainer(net, TrainingArguments(sys.argv[1], **words), train_dataset=parts).train()
assert dtypes == {torch.bfloat16} and net.layer.weight.dtype is torch.float32
assert loss(net) < 0.1
for wrong in ("bf16", "fp16", "bf16_full_eval"):
    try:
        Trainer(net, TrainingArguments(sys.argv[1], **words, **{wrong: True}), train_dataset=parts)
    except ValueError as error:
        assert "bf16" in str(error) or "fp16" in str(error)
    else:
        raise AssertionError(f"{wrong} works: say so in docs/torch-device.md")
""",
    "lightning": """
import sys, warnings
import lightning.pytorch as lightning
from lightning.pytorch.strategies import SingleDeviceStrategy
from ftensor.torch.lightning import FpgaAccelerator, FpgaPrecision, FpgaStrategy

dtypes = set()

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()
    def training_step(self, batch, index):
        found = self.net(**batch)
        dtypes.add(found["logits"].dtype)
        return found["loss"]
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 0.1)
    def on_train_end(self):
        assert loss(self.net) < 0.1

def fit(**options):
    dtypes.clear()
    trainer = lightning.Trainer(
        max_epochs=20, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=sys.argv[1], **options,
    )
    trainer.fit(Module(), torch.utils.data.DataLoader(parts, 16))
    (dtype,) = dtypes
    return dtype

def here():
    return SingleDeviceStrategy(torch.device("fpga", 0))

assert fit(accelerator="fpga") is torch.float32
assert fit(accelerator=FpgaAccelerator()) is torch.float32
assert fit(accelerator="fpga", precision="bf16-mixed") is torch.bfloat16
assert fit(accelerator="fpga", precision="16-mixed") is torch.float16
assert fit(accelerator=FpgaAccelerator(), strategy="fpga", precision="bf16-mixed") is torch.bfloat16
assert fit(accelerator=FpgaAccelerator(), plugins=FpgaPrecision("bf16-mixed"), strategy=here()) is torch.bfloat16
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    assert fit(accelerator=FpgaAccelerator(), precision="bf16-mixed", strategy=here()) is torch.float32
assert any("leaves float32 on fpga" in str(w.message) for w in heard)
try:
    fit(accelerator=FpgaAccelerator(), strategy=SingleDeviceStrategy("cpu"))
except ValueError as error:
    assert "would train there" in str(error)
else:
    raise AssertionError("trained on the CPU")
print("trained")
""",
}


@pytest.mark.parametrize("library", PROGRAMS)
def test_trainer_uses_the_device(library: str, tmp_path: Path) -> None:
    needs = ("transformers", "accelerate") if library.startswith("transformers") else (library,)
    if missing := [name for name in needs if find_spec(name) is None]:
        pytest.skip(f"pip install {' '.join(missing)}: too large for the test extra")
    program = SETUP + PROGRAMS[library]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)],
        text=True,
        capture_output=True,
        timeout=600,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert library != "lightning" or "trained" in done.stdout
