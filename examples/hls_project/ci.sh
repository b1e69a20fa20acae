#!/bin/sh
# The tests without a board, on Debian or Ubuntu, for any CI system.
# FTENSOR is what pip installs ftensor from: git+URL of its repository, or the folder of a checkout.
set -eu
cd "$(dirname "$0")"

FTENSOR=${FTENSOR:-}
if [ -n "$FTENSOR" ]; then
  python3 -m venv .venv
  .venv/bin/python -m pip install --quiet "$FTENSOR" pytest
  PATH=$PWD/.venv/bin:$PATH
fi

# g++ compiles the kernels; libxrt1 and libxrt-utils are Xilinx's runtime.
root=$([ "$(id -u)" = 0 ] || echo sudo)
if ! command -v g++ >/dev/null || ! ls /usr/lib/*/libxilinxopencl.so.2 >/dev/null 2>&1; then
  $root apt-get update -qq
  $root apt-get install -y -qq --no-install-recommends g++ libxrt1 libxrt-utils
fi

FTENSOR_DEVICE=csim python -m pytest tests    # in the C simulation
python -m pytest --ftensor-emulate tests      # the same on Xilinx's runtime
