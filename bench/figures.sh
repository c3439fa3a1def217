#!/usr/bin/env bash
# Builds the program as it is released, and measures it against its targets.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo --locked xtask bench size
