#!/usr/bin/env bash
# Gradescope runs this once, as root, while it builds the image of the autograder.
set -euo pipefail

apt-get update
apt-get install -y --no-install-recommends python3 python3-venv bubblewrap libseccomp2

cd "${AUTOGRADER:-/autograder}/source/torchkata"
python3 -m venv .venv
pip=(.venv/bin/python -m pip --disable-pip-version-check --no-cache-dir install -c constraints.txt)
# torch first and from its own index: the build without CUDA is a tenth of the size.
"${pip[@]}" --index-url https://download.pytorch.org/whl/cpu torch
"${pip[@]}" -e '.[deploy]' pyseccomp
