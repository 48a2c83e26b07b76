# SPDX-License-Identifier: MIT
# libFuzzer targets, one for each kind of input from outside.  Each compares the
# result with a property or with another reader.  tests/fuzz/run builds and runs
# them; fuzz_NAME begins with corpus/NAME.
EXTRA_DIST += tests/fuzz/run tests/fuzz/corpus

if WITH_FUZZING
noinst_PROGRAMS += fuzz_admin_output fuzz_ask_json fuzz_channel fuzz_collector_messages fuzz_conf fuzz_ctl_client fuzz_ctl_rows fuzz_details fuzz_export \
	fuzz_gres fuzz_history fuzz_hook_message fuzz_hostlist fuzz_includes fuzz_intake fuzz_job \
	fuzz_job_list fuzz_json fuzz_lease_json fuzz_log_record fuzz_migrate fuzz_nats_ack fuzz_nkey \
	fuzz_payload fuzz_question \
	fuzz_node fuzz_node_json fuzz_receiver_messages fuzz_record_json fuzz_resolver fuzz_resources fuzz_response fuzz_runner_messages fuzz_runner_questions fuzz_sacct fuzz_scontrol fuzz_slurm_conf fuzz_slurm_info \
	fuzz_spool fuzz_stream_api fuzz_submitter_messages fuzz_summary fuzz_supervisor_messages fuzz_text_clean fuzz_token_expiry fuzz_topology \
	fuzz_tres fuzz_unmunge fuzz_values fuzz_worker_messages
endif

fuzz_link = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzz_twin = tests/fuzz/fuzz.h tests/fuzz/twin.h tests/fuzz/twin.c

fuzz_neighbour = tests/fuzz/neighbour.h tests/fuzz/frames.h tests/fuzz/fuzz.h

# The functions that lifetime.c replaces.
fuzz_lifetime = tests/fuzz/lifetime.c tests/fuzz/lifetime.h tests/fuzz/fuzz.h
fuzz_lifetime_link = $(fuzz_link) -Wl,--wrap=malloc,--wrap=calloc \
	-Wl,--wrap=realloc,--wrap=free,--wrap=strdup \
	-Wl,--wrap=event_new,--wrap=event_free,--wrap=event_add \
	-Wl,--wrap=event_del,--wrap=event_pending

fuzz_admin_output_SOURCES = tests/fuzz/fuzz_admin_output.c tests/fuzz/fuzz.h
fuzz_admin_output_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_admin_output_LDFLAGS = $(fuzz_link)
fuzz_admin_output_LDADD = $(COLLECTOR_SLURM_LIBS)

fuzz_ask_json_SOURCES = tests/fuzz/fuzz_ask_json.c tests/fuzz/fuzz.h
fuzz_ask_json_LDFLAGS = $(fuzz_link)
fuzz_ask_json_LDADD = $(RECORD_LIBS)

fuzz_channel_SOURCES = tests/fuzz/fuzz_channel.c tests/fuzz/fuzz.h
fuzz_channel_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_channel_LDFLAGS = $(fuzz_link)
fuzz_channel_LDADD = $(COMMON_LIBS)

# It includes collector/main.c, and has its own clocks and runner.
fuzz_collector_messages_SOURCES = tests/fuzz/fuzz_collector_messages.c \
	$(fuzz_neighbour) $(fuzz_lifetime) \
	$(collector_files)
fuzz_collector_messages_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(ZLIB_CFLAGS)
fuzz_collector_messages_LDFLAGS = $(fuzz_lifetime_link) \
	-Wl,--wrap=delimiter_new,--wrap=deflateInit2_,--wrap=inflateInit2_
fuzz_collector_messages_LDADD = $(COLLECTOR_LIBS)

fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c
fuzz_conf_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_conf_LDFLAGS = $(fuzz_link)
fuzz_conf_LDADD = $(CONFIG_LIBS)

fuzz_ctl_client_SOURCES = tests/fuzz/fuzz_ctl_client.c tests/fuzz/fuzz.h
fuzz_ctl_client_LDFLAGS = $(fuzz_link) -Wl,--wrap=socket,--wrap=connect
fuzz_ctl_client_LDADD = ctl/libctl.a $(MODEL_LIBS)

fuzz_ctl_rows_SOURCES = tests/fuzz/fuzz_ctl_rows.c tests/fuzz/fuzz.h
fuzz_ctl_rows_LDFLAGS = $(fuzz_link)
fuzz_ctl_rows_LDADD = ctl/libctl.a exporter/libexporter.a $(MODEL_LIBS)

fuzz_details_SOURCES = tests/fuzz/fuzz_details.c tests/fuzz/fuzz.h \
	tests/fuzz/snapshot.h
fuzz_details_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_details_LDFLAGS = $(fuzz_link)
fuzz_details_LDADD = $(COLLECTOR_DETAILS_LIBS)

fuzz_export_SOURCES = tests/fuzz/fuzz_export.c tests/fuzz/fuzz.h
fuzz_export_LDFLAGS = $(fuzz_link)
fuzz_export_LDADD = submitter/spool/libspool.a $(SPOOL_LIBS) $(JANSSON_LIBS)

fuzz_gres_SOURCES = tests/fuzz/fuzz_gres.c tests/fuzz/fuzz.h
fuzz_gres_LDFLAGS = $(fuzz_link)
fuzz_gres_LDADD = $(PARSE_LIBS)

fuzz_history_SOURCES = tests/fuzz/fuzz_history.c tests/fuzz/fuzz.h
fuzz_history_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
fuzz_history_LDFLAGS = $(fuzz_link)
fuzz_history_LDADD = $(HISTORY_LIBS) $(EVENT_LIBS)

fuzz_hook_message_SOURCES = tests/fuzz/fuzz_hook_message.c
fuzz_hook_message_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_hook_message_LDFLAGS = $(fuzz_link)
fuzz_hook_message_LDADD = listener/liblistener.a $(COMMON_LIBS)

fuzz_hostlist_SOURCES = tests/fuzz/fuzz_hostlist.c tests/fuzz/fuzz.h
fuzz_hostlist_LDFLAGS = $(fuzz_link)
fuzz_hostlist_LDADD = $(PARSE_LIBS)

# The target has the files and the ruleset.
fuzz_includes_SOURCES = tests/fuzz/fuzz_includes.c tests/fuzz/fuzz.h \
	runner/confine/includes.c
fuzz_includes_LDFLAGS = $(fuzz_link) -Wl,--wrap=open
fuzz_includes_LDADD = $(SYSTEM_LIBS)

fuzz_intake_SOURCES = tests/fuzz/fuzz_intake.c $(fuzz_neighbour)
fuzz_intake_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
fuzz_intake_LDFLAGS = $(fuzz_link)
fuzz_intake_LDADD = $(SUBMITTER_LIBS)

fuzz_job_SOURCES = tests/fuzz/fuzz_job.c tests/fuzz/fuzz.h
fuzz_job_LDFLAGS = $(fuzz_link)
fuzz_job_LDADD = $(COMMON_LIBS)

fuzz_job_list_SOURCES = tests/fuzz/fuzz_job_list.c $(fuzz_twin)
fuzz_job_list_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_job_list_LDFLAGS = $(fuzz_link)
fuzz_job_list_LDADD = $(BACKEND_LIBS) $(JANSSON_LIBS)

fuzz_json_SOURCES = tests/fuzz/fuzz_json.c $(fuzz_twin)
fuzz_json_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_json_LDFLAGS = $(fuzz_link)
fuzz_json_LDADD = $(COMMON_LIBS) $(JANSSON_LIBS)

# Its box needs libnats, which this file does not.
fuzz_lease_json_SOURCES = tests/fuzz/fuzz_lease_json.c tests/fuzz/fuzz.h \
	receiver/lease/lease_json.c
fuzz_lease_json_LDFLAGS = $(fuzz_link)
fuzz_lease_json_LDADD = $(COMMON_LIBS)

fuzz_log_record_SOURCES = tests/fuzz/fuzz_log_record.c tests/fuzz/fuzz.h
fuzz_log_record_LDFLAGS = $(fuzz_link)
fuzz_log_record_LDADD = $(COMMON_LIBS)

# It includes migrate.c.
fuzz_migrate_SOURCES = tests/fuzz/fuzz_migrate.c tests/fuzz/fuzz.h
fuzz_migrate_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_migrate_LDFLAGS = $(fuzz_link)
fuzz_migrate_LDADD = $(CONFIG_LIBS)

# Its box needs libnats, which this file does not.
fuzz_nats_ack_SOURCES = tests/fuzz/fuzz_nats_ack.c tests/fuzz/fuzz.h \
	submitter/nats/nats_ack.c
fuzz_nats_ack_LDFLAGS = $(fuzz_link)
fuzz_nats_ack_LDADD = $(COMMON_LIBS)

# Its box needs libnats, which this file does not; the target has what is called of
# libcrypto.
fuzz_nkey_SOURCES = tests/fuzz/fuzz_nkey.c tests/fuzz/fuzz.h common/nats/nkey.c
fuzz_nkey_LDFLAGS = $(fuzz_link)
fuzz_nkey_LDADD = $(COMMON_NET_LIBS)

fuzz_payload_SOURCES = tests/fuzz/fuzz_payload.c $(fuzz_twin)
fuzz_payload_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_payload_LDFLAGS = $(fuzz_link)
fuzz_payload_LDADD = $(PAYLOAD_LIBS)

fuzz_question_SOURCES = tests/fuzz/fuzz_question.c tests/fuzz/fuzz.h
fuzz_question_LDFLAGS = $(fuzz_link)
fuzz_question_LDADD = $(QUESTION_LIBS)

fuzz_node_SOURCES = tests/fuzz/fuzz_node.c tests/fuzz/fuzz.h
fuzz_node_LDFLAGS = $(fuzz_link)
fuzz_node_LDADD = $(PARSE_LIBS)

fuzz_node_json_SOURCES = tests/fuzz/fuzz_node_json.c tests/fuzz/fuzz.h
fuzz_node_json_LDFLAGS = $(fuzz_link)
fuzz_node_json_LDADD = $(RECORD_LIBS)

# It includes receiver/main.c, and has its own link to NATS.
fuzz_receiver_messages_SOURCES = tests/fuzz/fuzz_receiver_messages.c \
	$(fuzz_neighbour) $(fuzz_lifetime) \
	$(receiver_asks_libasks_a_SOURCES) \
	$(receiver_base_libbase_a_SOURCES) \
	$(receiver_intake_libintake_a_SOURCES) \
	$(receiver_lease_liblease_a_SOURCES) \
	$(receiver_libreceiver_a_SOURCES) \
	$(receiver_streams_libstreams_a_SOURCES)
fuzz_receiver_messages_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_receiver_messages_LDFLAGS = $(fuzz_lifetime_link)
fuzz_receiver_messages_LDADD = $(WORKER_LIBS) $(COMMON_NATS_LIBS)

fuzz_record_json_SOURCES = tests/fuzz/fuzz_record_json.c tests/fuzz/fuzz.h
fuzz_record_json_LDFLAGS = $(fuzz_link)
fuzz_record_json_LDADD = $(RECORD_LIBS)

fuzz_resolver_SOURCES = tests/fuzz/fuzz_resolver.c tests/fuzz/fuzz.h
fuzz_resolver_CFLAGS = $(AM_CFLAGS) $(EVDNS_CFLAGS) $(EVENT_CFLAGS)
fuzz_resolver_LDFLAGS = $(fuzz_link)
fuzz_resolver_LDADD = $(COMMON_NET_LIBS)

fuzz_resources_SOURCES = tests/fuzz/fuzz_resources.c tests/fuzz/fuzz.h
fuzz_resources_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
fuzz_resources_LDFLAGS = $(fuzz_link)
fuzz_resources_LDADD = $(SPOOL_LIBS)

fuzz_response_SOURCES = tests/fuzz/fuzz_response.c tests/fuzz/fuzz.h
fuzz_response_LDFLAGS = $(fuzz_link)
fuzz_response_LDADD = $(BACKEND_LIBS)

fuzz_runner_messages_SOURCES = tests/fuzz/fuzz_runner_messages.c \
	tests/fuzz/frames.h tests/fuzz/fuzz.h
fuzz_runner_messages_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_runner_messages_LDFLAGS = $(fuzz_link)
fuzz_runner_messages_LDADD = $(COLLECTOR_SLURM_LIBS)

# It includes runner/main.c, and starts and kills no process.
fuzz_runner_questions_SOURCES = tests/fuzz/fuzz_runner_questions.c \
	$(fuzz_neighbour) $(fuzz_lifetime)
fuzz_runner_questions_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_runner_questions_LDFLAGS = $(fuzz_lifetime_link) -Wl,--wrap=kill \
	-Wl,--wrap=waitid,--wrap=wait4,--wrap=waitpid \
	-Wl,--wrap=clock_ms,--wrap=clock_left
fuzz_runner_questions_LDADD = $(RUNNER_LIBS)

fuzz_sacct_SOURCES = tests/fuzz/fuzz_sacct.c tests/fuzz/fuzz.h \
	tests/fuzz/snapshot.h
fuzz_sacct_LDFLAGS = $(fuzz_link)
fuzz_sacct_LDADD = $(PARSE_LIBS)

fuzz_scontrol_SOURCES = tests/fuzz/fuzz_scontrol.c tests/fuzz/fuzz.h \
	tests/fuzz/snapshot.h
fuzz_scontrol_LDFLAGS = $(fuzz_link)
fuzz_scontrol_LDADD = $(PARSE_LIBS)

fuzz_slurm_conf_SOURCES = tests/fuzz/fuzz_slurm_conf.c tests/fuzz/fuzz.h
fuzz_slurm_conf_LDFLAGS = $(fuzz_link)
fuzz_slurm_conf_LDADD = $(COMMON_LIBS)

fuzz_slurm_info_SOURCES = tests/fuzz/fuzz_slurm_info.c tests/fuzz/fuzz.h
fuzz_slurm_info_LDFLAGS = $(fuzz_link)
fuzz_slurm_info_LDADD = $(PAYLOAD_LIBS)

fuzz_spool_SOURCES = tests/fuzz/fuzz_spool.c tests/fuzz/fuzz.h
fuzz_spool_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
fuzz_spool_LDFLAGS = $(fuzz_link) -Wl,--wrap=fatalx,--wrap=sqlite3_open_v2
fuzz_spool_LDADD = $(SPOOL_LIBS)

# Its box needs libnats, which this file does not.
fuzz_stream_api_SOURCES = tests/fuzz/fuzz_stream_api.c tests/fuzz/fuzz.h \
	receiver/streams/api.c
fuzz_stream_api_LDFLAGS = $(fuzz_link)
fuzz_stream_api_LDADD = $(COMMON_LIBS)

# It includes two files of the submitter, and has its own clock and HTTP client.
fuzz_submitter_messages_SOURCES = tests/fuzz/fuzz_submitter_messages.c \
	$(fuzz_neighbour)
fuzz_submitter_messages_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS) \
	$(CURL_CFLAGS)
fuzz_submitter_messages_LDFLAGS = $(fuzz_link)
fuzz_submitter_messages_LDADD = $(SUBMITTER_LIBS)

fuzz_summary_SOURCES = tests/fuzz/fuzz_summary.c tests/fuzz/fuzz.h
fuzz_summary_LDFLAGS = $(fuzz_link)
fuzz_summary_LDADD = $(COMMON_LIBS)

# It includes supervisor/main.c, and starts and kills no process.
fuzz_supervisor_messages_SOURCES = tests/fuzz/fuzz_supervisor_messages.c \
	tests/fuzz/frames.h $(fuzz_lifetime)
fuzz_supervisor_messages_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
fuzz_supervisor_messages_LDFLAGS = $(fuzz_lifetime_link) -Wl,--wrap=kill \
	-Wl,--wrap=process_spawn \
	-Wl,--wrap=clock_ms,--wrap=clock_left,--wrap=accept4 \
	-Wl,--wrap=sockets_hook_repair,--wrap=resolver_files_send \
	-Wl,--wrap=resolver_files_check,--wrap=path_watch_new
fuzz_supervisor_messages_LDADD = $(SUPERVISOR_LIBS)

fuzz_text_clean_SOURCES = tests/fuzz/fuzz_text_clean.c $(fuzz_twin)
fuzz_text_clean_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_text_clean_LDFLAGS = $(fuzz_link)
fuzz_text_clean_LDADD = $(COMMON_LIBS) $(JANSSON_LIBS)

fuzz_token_expiry_SOURCES = tests/fuzz/fuzz_token_expiry.c tests/fuzz/fuzz.h
fuzz_token_expiry_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_token_expiry_LDFLAGS = $(fuzz_link)
fuzz_token_expiry_LDADD = $(NET_LIBS) $(JANSSON_LIBS)

fuzz_topology_SOURCES = tests/fuzz/fuzz_topology.c $(fuzz_twin)
fuzz_topology_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_topology_LDFLAGS = $(fuzz_link)
fuzz_topology_LDADD = $(PAYLOAD_LIBS)

fuzz_tres_SOURCES = tests/fuzz/fuzz_tres.c tests/fuzz/fuzz.h \
	tests/fuzz/snapshot.h
fuzz_tres_LDFLAGS = $(fuzz_link)
fuzz_tres_LDADD = $(PARSE_LIBS)

fuzz_unmunge_SOURCES = tests/fuzz/fuzz_unmunge.c tests/fuzz/fuzz.h
fuzz_unmunge_LDFLAGS = $(fuzz_link)
fuzz_unmunge_LDADD = $(PARSE_LIBS)

fuzz_values_SOURCES = tests/fuzz/fuzz_values.c tests/fuzz/fuzz.h
fuzz_values_LDFLAGS = $(fuzz_link)
fuzz_values_LDADD = $(PARSE_LIBS)

fuzz_worker_messages_SOURCES = tests/fuzz/fuzz_worker_messages.c \
	tests/fuzz/frames.h tests/fuzz/fuzz.h
fuzz_worker_messages_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_worker_messages_LDFLAGS = $(fuzz_link)
fuzz_worker_messages_LDADD = $(WORKERS_LIBS)
