# SPDX-License-Identifier: MIT
# The supervisor's boxes.

# supervisor/config
check_PROGRAMS += test_config_file
TESTS += test_config_file
test_config_file_SOURCES = tests/unit/supervisor/config/test_config_file.c
test_config_file_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
test_config_file_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_migrate
TESTS += test_migrate
test_migrate_SOURCES = tests/unit/supervisor/config/test_migrate.c
test_migrate_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
test_migrate_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_parser_confine
TESTS += test_parser_confine
test_parser_confine_SOURCES = tests/unit/supervisor/config/test_parser_confine.c
test_parser_confine_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SECCOMP_CFLAGS)
test_parser_confine_LDFLAGS = $(AM_LDFLAGS) -pthread -Wl,--wrap,getpwnam
test_parser_confine_LDADD = $(SYSTEM_LIBS)

# supervisor/system
check_PROGRAMS += test_pidfile test_sandbox_paths
TESTS += test_pidfile test_sandbox_paths
check_PROGRAMS += test_slurm_user test_spool_path
TESTS += test_slurm_user test_spool_path
test_pidfile_SOURCES = tests/unit/supervisor/system/test_pidfile.c
test_pidfile_LDADD = $(SYSTEM_LIBS)
test_sandbox_paths_SOURCES = tests/unit/supervisor/system/test_sandbox_paths.c
test_sandbox_paths_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_env
TESTS += test_env
test_env_SOURCES = tests/unit/supervisor/system/test_env.c
test_env_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_directories
TESTS += test_directories
test_directories_SOURCES = tests/unit/supervisor/system/test_directories.c
test_directories_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_host_check
TESTS += test_host_check
test_host_check_SOURCES = tests/unit/supervisor/system/test_host_check.c
test_host_check_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_sockets
TESTS += test_sockets
test_sockets_SOURCES = tests/unit/supervisor/system/test_sockets.c \
	tests/unit/supervisor/system/log_capture.h
test_sockets_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_log_output test_log_pipe
TESTS += test_log_output test_log_pipe
test_log_output_SOURCES = tests/unit/supervisor/system/test_log_output.c \
	tests/unit/supervisor/system/log_capture.h
test_log_output_LDADD = $(SYSTEM_LIBS)
test_log_pipe_SOURCES = tests/unit/supervisor/system/test_log_pipe.c \
	tests/unit/supervisor/system/log_capture.h
test_log_pipe_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_log_pipe_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_path_watch
TESTS += test_path_watch
test_path_watch_SOURCES = tests/unit/supervisor/system/test_path_watch.c
test_path_watch_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_path_watch_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_recent_warnings
TESTS += test_recent_warnings
test_recent_warnings_SOURCES = tests/unit/supervisor/system/test_recent_warnings.c \
	tests/unit/supervisor/system/log_capture.h
test_recent_warnings_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_spawn
TESTS += test_spawn
test_spawn_SOURCES = tests/unit/supervisor/system/test_spawn.c
test_spawn_LDADD = $(SYSTEM_LIBS)
test_slurm_user_SOURCES = tests/unit/supervisor/system/test_slurm_user.c
test_slurm_user_LDADD = $(SYSTEM_LIBS)
test_spool_path_SOURCES = tests/unit/supervisor/system/test_spool_path.c
test_spool_path_LDADD = $(SYSTEM_LIBS)

check_PROGRAMS += test_allowed_uids test_not_protected
TESTS += test_allowed_uids test_not_protected
test_allowed_uids_SOURCES = tests/unit/supervisor/system/test_allowed_uids.c
test_allowed_uids_LDADD = $(SYSTEM_LIBS)
check_PROGRAMS += test_capabilities
TESTS += test_capabilities
test_capabilities_SOURCES = tests/unit/supervisor/system/test_capabilities.c
test_capabilities_LDADD = $(SYSTEM_LIBS)
test_not_protected_SOURCES = tests/unit/supervisor/system/test_not_protected.c
test_not_protected_LDADD = $(SYSTEM_LIBS)

# supervisor/workers
check_PROGRAMS += test_quarantine test_worker_channel
TESTS += test_quarantine test_worker_channel
test_quarantine_SOURCES = tests/unit/supervisor/workers/test_quarantine.c
test_quarantine_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_quarantine_LDADD = $(WORKERS_LIBS)
test_worker_channel_SOURCES = \
	tests/unit/supervisor/workers/test_worker_channel.c \
	tests/unit/supervisor/system/log_capture.h
test_worker_channel_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_worker_channel_LDADD = $(WORKERS_LIBS)
check_PROGRAMS += test_process
TESTS += test_process
test_process_SOURCES = tests/unit/supervisor/workers/test_process.c \
	tests/unit/supervisor/system/log_capture.h
test_process_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_process_LDADD = $(WORKERS_LIBS)

# supervisor
check_PROGRAMS += test_children test_control
TESTS += test_children test_control
test_children_SOURCES = tests/unit/supervisor/test_children.c
test_children_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_children_LDADD = $(SUPERVISOR_LIBS)
test_control_SOURCES = tests/unit/supervisor/test_control.c
test_control_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_control_LDADD = $(SUPERVISOR_LIBS)
check_PROGRAMS += test_removed_paths
TESTS += test_removed_paths
test_removed_paths_SOURCES = tests/unit/supervisor/test_removed_paths.c
test_removed_paths_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_removed_paths_LDADD = $(SUPERVISOR_LIBS)
check_PROGRAMS += test_sentence
TESTS += test_sentence
test_sentence_SOURCES = tests/unit/supervisor/test_sentence.c
test_sentence_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_sentence_LDADD = $(SUPERVISOR_LIBS)
check_PROGRAMS += test_options test_parser_process test_reload
TESTS += test_options test_parser_process test_reload
test_options_SOURCES = tests/unit/supervisor/test_options.c
test_options_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_options_LDADD = $(SUPERVISOR_LIBS)
test_parser_process_SOURCES = tests/unit/supervisor/test_parser_process.c
test_parser_process_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_parser_process_LDADD = $(SUPERVISOR_LIBS)
test_reload_SOURCES = tests/unit/supervisor/test_reload.c
test_reload_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_reload_LDADD = $(SUPERVISOR_LIBS)
