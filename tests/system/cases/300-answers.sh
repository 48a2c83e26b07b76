#!/bin/bash
# SPDX-License-Identifier: MIT
# The submitter alone: every way in which a backend can answer or fall
# silent, a run it will never take, kills at any moment.  No Slurm is needed.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "whatever the backend answers, each run arrives once"
drive=$CSA_BUILD/submitter_drive
[ -x "$drive" ] || make -C "$CSA_BUILD" submitter_drive >/dev/null ||
	broken "no submitter_drive"
for part in faults poison kills; do
	is "$part" python3 "$SYS/answers.py" "$drive" \
	    "$CSA_INST/libexec/cc-slurm-adapter/submitter" "$FAKE" "$T/$part" "$part"
done
test_end
