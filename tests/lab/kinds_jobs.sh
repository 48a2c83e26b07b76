# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The kinds of jobs, for kinds.sh.  Each is a function kind_NAME: it submits and
# says what it submitted.  What needs a job to run first does its part in
# act_NAME, all of them at the same time; what needs the suite or slurmctld to be
# away is in alone_NAME, and runs when these are done.  What disturbs other jobs
# has its own node.
#
# shellcheck disable=SC2154,SC2034,SC2317,SC2119	# kinds.sh has and uses them, by name

kind_plain() {
	job p1 labalice "sleep $S" -n1
	job p2 labbob "sleep $S" -n3 --comment 'some words, for people'
	job p3 labcarol "sleep $S" -n1 -c4
	job p4 labalice "sleep $S" -p share -t UNLIMITED
	job p5 labbob "sleep $S" -n2 -t 1-02:03:04 --mem=500 -p gpu
	job p6 labalice "sleep $S" -n2 --hint=nomultithread -t 7
}
kind_unequal() {
	job u1 labalice "sleep $S" -N2 -n5 -w n1,n2
	job u2 labbob "sleep $S" -N3 -n7
	job u3 labalice "sleep $S" -N4 -n4 -p gpu,main -t 5
}
kind_shared() {
	job s1 labalice "sleep $S" -n2 -w n1
	job s2 labbob "sleep $S" -n2 -w n1
	job s3 labalice "sleep $S" -p share -s -n2
	job s4 labbob "sleep $S" -p share -s -n2
	job s5 labbob "sleep $S" -p force -n4
}
kind_gpu() {
	job g1 labalice "sleep $((S + 6))" -p gpu -n1 -w n3 --gres=gpu:1
	job g2 labbob "sleep $S" -p gpu -N2 -n2 --gres=gpu:a100:2
	job g3 labalice "sleep $S" -p gpu -n1 --gres=gpu:a100:1
	job g4 labbob "sleep $S" -p gpu -n1 --gpus=3
	job g5 labalice "sleep $S" -p gpu -N2 -n3 --gpus-per-node=1
	job g6 labalice "sleep $S" -p gpu -n2 --gpus-per-task=1
	job g7 labbob "sleep $S" -p gpu -n1 --gpus=a100:2 --comment 'gpu:9(IDX:0-8)'
	job g8 labbob "sleep $S" -p gpu -n1
}
# Several types on a node, a type with a dash, parts of a device.
kind_gpu-mixed() {
	local part=shard
	case $(slurmctld -V) in *\ 20.*) part=mps ;; esac
	job m1 labalice "sleep $S" -p gpu -n1 -w n4 --gres=gpu:mi-250x:1
	job m2 labbob "sleep $S" -p gpu -n1 -w n4 --gres=gpu:a100:1,gpu:mi-250x:1
	wait_for 30 starts "${id[m2]}"
	job m3 labalice "sleep $S" -p gpu -n1 -w n4 --gres=gpu:2
	job m4 labbob "sleep $S" -p gpu -n1 -w n4 --gres="$part:30"
	job m5 labalice "sleep $S" -p gpu -n1 -w n4 --gres="$part:10"
}
# Slices of GPUs (MIG), and accelerators that Slurm does not call gpu.
kind_gpu-other() {
	job mg1 labalice "sleep $S" -p mig -n1 --gres=gpu:a100_1g.5gb:1
	job mg2 labbob "sleep $S" -p mig -n2 --gres=gpu:2
	job dc1 labalice "sleep $S" -p dcu -n1 --gres=dcu:1
	job dc2 labbob "sleep $S" -p dcu -n2 --gres=dcu:z100:2
}
kind_array() {
	job a1 labalice "sleep $((S / 2))" -n1 -a 1-5%2
	job a2 labbob "sleep 3; [ \$SLURM_ARRAY_TASK_ID != 7 ] || exit 3" -n1 -a 3,7,11
	job a3 labbob "sleep 5" -n1 -a 0
}
kind_het() {
	job h1 labalice "sleep $S" -n1 -w n1 : -N2 -n3 -w n3,n4
	job h2 labbob "sleep $S" -p main -n1 -w n2 : -p gpu -n1 -w n4 --gres=gpu:1
}
kind_requeued() {
	# requeued, they wait no more the next time
	job rq1 labalice "[ -e $T/slurm/out/requeued.rq1 ] || sleep 300; sleep 5" -n2 --requeue
	job rq2 labbob "[ -e $T/slurm/out/requeued.rq2 ] || sleep 300; sleep 5" -p gpu -n1 --gres=gpu:1 --requeue
}
requeue() {
	settled "${id[$1]}"
	: >"$T/slurm/out/requeued.$1"
	scontrol requeue "${id[$1]}"
	# a requeued job waits two minutes, where Slurm knows no requeue_delay
	start_now "${id[$1]}"
}
# Each as soon as it runs: a job of five minutes on a node keeps those that want
# whole nodes waiting, and they keep the partition from the other one.
act_requeued() {
	requeue rq1 &
	requeue rq2
	wait $!
}
kind_resized() {
	local line
	name=$kind
	line=$(as labalice salloc --no-shell -N2 -n2 -J "$name" 2>&1) || say "$line"
	id[rs1]=$(grep -oE 'Granted job allocation [0-9]+' <<<"$line" | grep -oE '[0-9]+$')
	remember "${id[rs1]:-0}" "$name" "" noscript
}
act_resized() {
	settled "${id[rs1]}"
	as labalice scontrol update jobid="${id[rs1]}" NumNodes=1 >/dev/null 2>&1 ||
	    say "resized: scontrol refused"
	sleep 5
	scancel "${id[rs1]}"
	rm -f "$T"/slurm/out/slurm_job_*
}
kind_suspended() { job su1 labalice "sleep $((S + 8))" -n2 -w n2; }
act_suspended() {
	settled "${id[su1]}"
	scontrol suspend "${id[su1]}"
	sleep 6
	scontrol resume "${id[su1]}"
}
kind_held() {
	job he1 labalice "sleep 5" -H -n1
	job he2 labbob "sleep 5" -n1 -d "afterany:${id[he1]}"
	job he3 labbob "sleep 5" -n1 --begin=now+15
}
act_held() { scontrol release "${id[he1]}"; }
kind_reserved() {
	scontrol create reservation reservationname=labres starttime=now duration=20 \
	    users=labalice nodes=n6 flags=ignore_jobs >/dev/null
	job re1 labalice "sleep $S" -p dcu -n2 --reservation=labres
}
act_reserved() {
	running "${id[re1]}"
	wait_slow 60 not runs_now "${id[re1]}"
	scontrol delete reservation=labres
}
kind_fails-at-once() {
	flag=late
	job f1 labalice "exit 3" -n1
	job f2 labbob "kill -9 \$\$" -n2
	flag=
}
kind_one-second() {
	flag=late
	job o1 labalice "sleep 1" -n1
	job o2 labbob "sleep 1" -N2 -n3
	flag=
}
kind_cancelled() {
	flag=never
	job c1 labalice "sleep 60" -n1 -H
	scancel "${id[c1]}"
	flag=late
	job c2 labbob "sleep 60" -n1
	flag=
	job c3 labalice "sleep 60" -n2
}
starts() { case $(state_of "$1") in RUNNING | CONFIGURING) ;; *) return 1 ;; esac; }
act_cancelled() {
	wait_for 90 starts "${id[c2]}"
	scancel "${id[c2]}"
	settled "${id[c3]}"
	as labalice scancel "${id[c3]}"
}
kind_timed-out() { job t1 labbob "sleep 600" -n1 -t 1; }
kind_limit-raised() { job l1 labalice "sleep $S" -n1 -t 3; }
act_limit-raised() {
	settled "${id[l1]}" 3
	scontrol update jobid="${id[l1]}" TimeLimit=30
}
kind_no-script() {
	local n
	as labbob salloc -Q -n2 -J "kind-salloc" sleep "$S" >/dev/null 2>&1 &
	as labalice srun -Q -n2 -J kind-srun sleep "$S" >/dev/null 2>&1 &
	for n in kind-salloc kind-srun; do
		wait_slow 120 by_name "$n" || say "no-script: no job $n"
		remember "$(by_name "$n")" "$n" "" noscript
	done
	wait
}
by_name() { squeue -h -a -n "$1" -o %A | grep .; }
kind_opted-out() {
	flag=never
	job oo1 labalice "sleep 6" -n1 -H
	flag=
	scontrol update jobid="${id[oo1]}" admincomment='the user said disable_cc_submission'
	scontrol release "${id[oo1]}"
}

# Names, comments, scripts, folders that lie about what they are.
kind_hostile() {
	# shellcheck disable=SC2016	# nothing in there is to be expanded
	local names=(
	    'sp ace  two' "q\"uo'te" 'ünï→名' 'p|i|pe' $'new\nline' $'tab\there'
	    'back\slash\n' 'a=b UserId=root(0) GroupId=root(0) c'
	    $'x\nJobId=1 JobName=y UserId=root(0) GroupId=root(0) JobState=FAILED'
	    ' Nodes=n4 CPU_IDs=0-15 Mem=0 GRES=gpu:4(IDX:0-3)'
	    $'c\x01\x1b[31mred\x7f' $'bad\xff\xfeutf8 \xe9' '%s%n{"json": [1,' '$(id)`id`;--'
	    "$(printf 'L%.0s' {1..300})" '' '--help' 'JobId=7'
	) n i=0
	named=yes
	for n in "${names[@]}"; do
		name=$n
		i=$((i + 1))
		case $((i % 3)) in
		0) job "x$i" labalice "sleep $S" -n1 --comment " JobState=FAILED StartTime=1 $n" ;;
		1) job "x$i" labbob "sleep $S" -p gpu -n1 --gres=gpu:1 --comment "gpu:a100:4(IDX:0-3)" ;;
		2) job "x$i" labalice "# $n
sleep $S" -N2 -n3 ;;
		esac
	done
	name='in a bad folder'
	i=$T/slurm/out/$' Nodes=n1 CPU_IDs=0-15\n EndTime=1'
	mkdir -p "$i"
	chmod 777 "$i"
	job xd labalice "sleep $S" -n1 -D "$i"
	name='a script of bytes'
	job xs labbob "sleep $S
# $(printf '\001\033\377\376 \303\244 end')" -n1
	named=
}
# Another cluster in the same slurmdbd, with the same ids, users and hosts:
# nothing of it may arrive, although its hooks call us.
kind_other-cluster() {
	local port there=$T/slurm-beta i
	port=$(CSA_PORTS=$((${CSA_PORTS:-20000} + 700)) lib freeport 45)
	limited 120 env LAB_QUIET=1 LAB_BIG=0 LAB_GPUS='' LAB_CONF='' LAB_CLUSTER=beta LAB_SHARE="$T/slurm" \
	    LAB_HOOK="$ADAPTER -config $T/etc/config.json -socket $T/run/daemon.sock" \
	    "$LAB/slurm" up "$there" "$port" || say "no second cluster"
	if (
		# shellcheck disable=SC1091	# written by lab/slurm
		. "$there/env.sh"
		for i in 1 2 3; do
			batch labalice "sleep 2" -n"$i" -p gpu --gres=gpu:1 -J beta
		done >/dev/null 2>&1
		wait_slow 90 queue_empty
		i=$(sacct -X -n -P -a -s CD -S now-1hour -E now -o jobid | wc -l)
		[ "$i" = 3 ] || say "other-cluster: $i of 3 jobs ended there"
		"$LAB/slurm" down "$there"
		[ "$i" = 3 ]
	); then
		remember 0 beta "" never
	else
		remember 0 beta "" unsubmitted
	fi
}
kind_exclusive() {
	job e1 labalice "sleep 8" --exclusive -n1 -p share
	job e2 labbob "sleep 8" -p whole -N1
	job e3 labalice "sleep 8" --exclusive=user -n1 -w n3
	job e4 labalice "sleep 8" --exclusive=user -n2 -w n3
	job e5 labbob "sleep 8" --exclusive=mcs -n1
	job e6 labbob "sleep 8" -n16 -w n2
	job e7 labalice "sleep 8" -N2 --exclusive -p gpu --gres=gpu:2
}

# --- what would disturb the others, on nodes of their own -----------------------------

kind_preempted() { job pr1 labalice "sleep 15" -p low -n16 --requeue; }
act_preempted() {
	settled "${id[pr1]}"
	job pr2 labbob "sleep 5" -p high -n16
	running "${id[pr2]}" 60
	start_now "${id[pr1]}"
}
# start_now ID: a requeued job need not wait for its time
start_now() {
	wait_slow 20 pending "$1"
	scontrol update jobid="$1" starttime=now 2>/dev/null
}
pending() { [ "$(state_of "$1")" = PENDING ]; }

# The prolog fails once, for this job (see hooks_of_kinds): Slurm requeues it.
kind_prolog-fails() {
	flag=late
	job pf1 labalice "sleep 6" -n2 --requeue
	flag=
}
act_prolog-fails() {
	wait_for 60 test -d "$T/slurm/out/failed"
	start_now "${id[pf1]}"
	# 20.11.4 never forgets that the prolog failed, and requeues it for ever
	wait_slow 40 over "${id[pf1]}" || scancel "${id[pf1]}"
}
hooks_of_kinds() {
	lab hook "case \$SLURM_JOB_NAME.\$SLURM_SCRIPT_CONTEXT in prolog-fails.prolog_slurmctld) mkdir $T/slurm/out/failed 2>/dev/null && exit 1 ;; esac
$ADAPTER -config $T/etc/config.json -socket $T/run/daemon.sock"
}

kind_node-fails() {
	job nf1 labalice "sleep 300" -n2 -w n8 -p fail --no-requeue
	job nf2 labbob "sleep 300" -N2 -n3 -w n5,n8 -p fail --gres=gpu:1 --no-requeue
	# failed, it waits no more the next time
	job nf3 labbob "[ -e $T/slurm/out/failed.node ] || sleep 300; sleep 5" -n1 -w n8 -p fail --requeue
}
act_node-fails() {
	local n
	for n in nf1 nf2 nf3; do
		running "${id[$n]}"
	done
	sleep 4
	: >"$T/slurm/out/failed.node"
	scontrol update nodename=n8 state=down reason=lab
	sleep 3
	scontrol update nodename=n8 state=resume 2>/dev/null	# or it has come by itself
	start_now "${id[nf3]}"
}

# --- what happens while the suite is down, slurmctld started anew or changed ----------

# over ID...: none of them is in the queue any more
over() {
	local n
	for n; do
		[ -z "$(squeue -h -a -j "$n" -o %A 2>/dev/null)" ] || return 1
	done
}
forgotten() { ! scontrol show job "$1" >/dev/null 2>&1; }
# ctld_with LINE...: slurmctld once more, with these lines in the place of its own
ctld_with() {
	local line
	for line; do
		sed -i "/^${line%%=*}=/d" "$SLURM_CONF"
		sed -i "1i$line" "$SLURM_CONF"
	done
	lab ctl stop slurmctld
	lab ctl start slurmctld
}
# Its ids come next.
next_id() { scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }'; }

alone_while-down() {
	local next go=$T/slurm/out/go
	kind=down-within
	: >"$go"
	job dw0 labalice "while [ -e $go ]; do sleep 0.5; done" -n2 -p gpu --gres=gpu:1
	kind=down-beyond
	job db0 labbob "sleep 8" -n2
	settled "${id[dw0]}" 0
	settled "${id[db0]}"
	suite_down || say "the suite does not end well"
	flag=late
	job db1 labalice "sleep 3" -n2
	job db2 labbob "sleep 3" -p gpu -n1 --gres=gpu:2
	job db3 labbob "sleep 3; exit 4" -N2 --exclusive -p share
	flag=
	wait_slow 60 over "${id[db0]}" "${id[db1]}" "${id[db2]}" "${id[db3]}"
	ctld_with MinJobAge=3
	wait_slow 120 forgotten "${id[db3]}" || say "slurmctld still knows job ${id[db3]}"
	next=$(next_id)
	ctld_with MinJobAge="$AGE" FirstJobId=1 MaxJobId=$((next + 4)) MaxJobCount=$((next + 4))
	kind=down-within
	job dw1 labbob "sleep 4" -n2
	flag=late
	job dw2 labalice "sleep 4" -p gpu -n1 --gres=gpu:2
	flag=
	job dw3 labbob "sleep 25" -p gpu -n1 --gres=gpu:2
	rm -f "$go"
	wait_slow 60 over "${id[dw0]}" "${id[dw1]}" "${id[dw2]}"
	suite_up
}

# The counter has been let wrap before.
alone_id-reused() {
	local n
	wanted while-down || ctld_with FirstJobId=1 MaxJobId=$(($(next_id) + 2)) MaxJobCount=$(($(next_id) + 2))
	named=yes
	for n in 1 2 3 4; do
		name=id-$n
		job "ir$n" labbob "sleep 4" -n2
	done
	named=
	[ "${id[ir4]:-999999}" -lt "${id[ir1]}" ] || say "id-reused: the counter did not wrap"
}
alone_federation() {
	sacctmgr -i add federation labfed cluster=alpha >/dev/null || say "no federation"
	wait_slow 30 fed_known
	job fe1 labalice "sleep $S" -n2
	job fe2 labbob "sleep $S" -p gpu -n1 --gres=gpu:2
	[ "${id[fe1]:-0}" -gt $((1 << 26)) ] || say "federation: ids are not high: ${id[fe1]:-none}"
}
fed_known() { scontrol show federation 2>/dev/null | grep -q labfed; }
