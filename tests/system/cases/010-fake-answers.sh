#!/bin/bash
# SPDX-License-Identifier: MIT
# The stand-in answers as real servers did: without that, the other tests
# would prove nothing.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the stand-in against recorded answers"
[ -e "$SYS/../../fake/replay.sh" ] || broken "no replay.sh"
is "all recorded answers" bash "$SYS/../../fake/replay.sh" "$FAKE"
test_end
