# SPDX-License-Identifier: MIT
# The supervisor and, in the same program, the short-lived process that reads
# config.json.  jansson is for that process alone.  A box calls only the boxes above it in this file.

# The parser of config.json.
noinst_LIBRARIES += supervisor/config/libconfig.a
supervisor_config_libconfig_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) \
	$(PCRE2_CFLAGS) $(CAP_CFLAGS) $(SECCOMP_CFLAGS)
supervisor_config_libconfig_a_SOURCES = \
	supervisor/config/check_all.c \
	supervisor/config/check_fan_in.c \
	supervisor/config/check_object.c \
	supervisor/config/check_regex.c \
	supervisor/config/check_value.c \
	supervisor/config/config_file.h \
	supervisor/config/format.c \
	supervisor/config/key_names.c \
	supervisor/config/line_numbers.c \
	supervisor/config/migrate.c \
	supervisor/config/name_filter.c \
	supervisor/config/name_service.c \
	supervisor/config/nats_login.c \
	supervisor/config/parse.c \
	supervisor/config/parser_confine.c \
	supervisor/config/parser_main.c \
	supervisor/config/report.c \
	supervisor/config/safe_path.c \
	supervisor/config/safe_path.h \
	supervisor/config/secrets.c \
	supervisor/config/user_names.c \
	supervisor/config/values.c

# Users, directories, sockets, capabilities, sandbox paths, exec, systemd.
noinst_LIBRARIES += supervisor/system/libsystem.a
supervisor_system_libsystem_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) \
	$(CAP_CFLAGS) $(SECCOMP_CFLAGS) $(JANSSON_CFLAGS)
supervisor_system_libsystem_a_SOURCES = \
	supervisor/system/allowed_uids.c \
	supervisor/system/capabilities.c \
	supervisor/system/directories.c \
	supervisor/system/env.c \
	supervisor/system/exit_reason.c \
	supervisor/system/metrics_socket.c \
	supervisor/system/host_check.c \
	supervisor/system/log_output.c \
	supervisor/system/log_output.h \
	supervisor/system/log_pipe.c \
	supervisor/system/log_pipe.h \
	supervisor/system/not_protected.c \
	supervisor/system/path_watch.c \
	supervisor/system/path_watch.h \
	supervisor/system/pidfile.c \
	supervisor/system/recent_warnings.c \
	supervisor/system/recent_warnings.h \
	supervisor/system/sandbox_paths.c \
	supervisor/system/script_check.c \
	supervisor/system/script_read.c \
	supervisor/system/script_read.h \
	supervisor/system/sd_notify.c \
	supervisor/system/slurm_user.c \
	supervisor/system/sockets.c \
	supervisor/system/spawn.c \
	supervisor/system/spool_path.c \
	supervisor/system/system.h \
	supervisor/system/wanted_workers.c \
	supervisor/system/users.c

# Worker processes, their channels, watchdog, quarantine.
noinst_LIBRARIES += supervisor/workers/libworkers.a
supervisor_workers_libworkers_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
supervisor_workers_libworkers_a_SOURCES = \
	supervisor/workers/activate.c \
	supervisor/workers/neighbours.c \
	supervisor/workers/process.c \
	supervisor/workers/quarantine.c \
	supervisor/workers/start.c \
	supervisor/workers/watchdog.c \
	supervisor/workers/worker_channel.c \
	supervisor/workers/workers.h

# Reload, admin socket, status, shutdown.
noinst_LIBRARIES += supervisor/libsupervisor.a
supervisor_libsupervisor_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
supervisor_libsupervisor_a_SOURCES = \
	supervisor/checklist.c \
	supervisor/children.c \
	supervisor/control.c \
	supervisor/control.h \
	supervisor/control_client.c \
	supervisor/options.c \
	supervisor/orphans.c \
	supervisor/parser_process.c \
	supervisor/reload.c \
	supervisor/removed_paths.c \
	supervisor/scrape.c \
	supervisor/sentence.c \
	supervisor/shutdown.c \
	supervisor/status.c \
	supervisor/summary.c \
	supervisor/summary.h \
	supervisor/supervisor.h

# The first n boxes link without the rest; the parser loads libpcre2 itself,
# and before glibc 2.34 dlopen() was in a library.
CONFIG_LIBS = supervisor/config/libconfig.a $(WORKER_LIBS) $(JANSSON_LIBS) -ldl
SYSTEM_LIBS = supervisor/system/libsystem.a supervisor/config/libconfig.a \
	$(WORKER_LIBS) $(JANSSON_LIBS) -ldl
WORKERS_LIBS = supervisor/workers/libworkers.a $(SYSTEM_LIBS)
SUPERVISOR_LIBS = supervisor/libsupervisor.a $(WORKERS_LIBS)

worker_PROGRAMS += supervisor/supervisor
supervisor_supervisor_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
supervisor_supervisor_SOURCES = supervisor/main.c
supervisor_supervisor_LDADD = $(SUPERVISOR_LIBS)
