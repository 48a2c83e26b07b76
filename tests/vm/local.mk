# SPDX-License-Identifier: MIT
# What takes a virtual machine; only on demand.
EXTRA_DIST += tests/vm/run tests/vm/machine tests/vm/inside \
	tests/vm/systemd.sh tests/vm/feed.py tests/vm/.shellcheckrc
