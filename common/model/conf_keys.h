/* SPDX-License-Identifier: MIT */
/*
 * The one table of configuration keys.  A row:
 *
 * KEY(id, "nameInConfigJson", TYPE, "default", min, max, roles, EFFECT)
 *
 * TYPE is STR, INT, BOOL, LIST (array of strings) or JSON (a structure that
 * the parser checks).  roles: the processes that get the value
 * (L, C, R, W, V for listener, collector, runner, submitter, receiver, S for
 * supervisor; conf_is_for() has the keys of NATS).  EFFECT of a
 * change at reload: LIVE, RESTART (of these workers, but not of V) or SERVICE
 * (the service must be restarted; the log says so).  SECRET values are only in
 * the sealed memfd.
 */
#define S_ (1u << ROLE_SUPERVISOR)
#define L_ (1u << ROLE_LISTENER)
#define C_ (1u << ROLE_COLLECTOR)
#define R_ (1u << ROLE_RUNNER)
#define W_ (1u << ROLE_SUBMITTER)
#define V_ (1u << ROLE_RECEIVER)

/* Each row stays on one line: tests read this file line by line. */
/* clang-format off */
/* Keys of the Go adapter. */
KEY(PID_FILE, "pidFilePath", STR, "/run/cc-slurm-adapter/daemon.pid", 1, 4095, S_, SERVICE)
KEY(PREP_LISTEN, "prepSockListenPath", STR, "/run/cc-slurm-adapter/daemon.sock", 1, 4095, S_, SERVICE)
KEY(PREP_CONNECT, "prepSockConnectPath", STR, "/run/cc-slurm-adapter/daemon.sock", 1, 4095, 0, LIVE)
KEY(LAST_RUN, "lastRunPath", STR, "/var/lib/cc-slurm-adapter/lastrun", 1, 4095, S_, SERVICE)
KEY(POLL_INTERVAL, "slurmPollInterval", INT, "60", 1, 86400, C_, LIVE)
KEY(QUERY_DELAY, "slurmQueryDelay", INT, "1", 0, 3600, C_, LIVE)
KEY(QUERY_MAX_SPAN, "slurmQueryMaxSpan", INT, "604800", 60, 31536000, C_ | W_, LIVE)
KEY(QUERY_MAX_RETRIES, "slurmQueryMaxRetries", INT, "10", 0, 1000, C_, LIVE)
KEY(CC_POLL_INTERVAL, "ccPollInterval", INT, "21600", 1, 604800, C_ | W_, LIVE)
KEY(CC_REST_SUBMIT, "ccRestSubmitJobs", BOOL, "true", 0, 0, W_, LIVE)
KEY(CC_REST_URL, "ccRestUrl", STR, "", 0, 2048, W_, LIVE)
KEY(CC_REST_JWT, "ccRestJwt", SECRET, "", 0, 65536, W_, LIVE)
KEY(GPU_PCI_ADDRS, "gpuPciAddrs", JSON, "{}", 0, 1048576, C_, LIVE)
KEY(IGNORE_HOSTS, "ignoreHosts", STR, "", 0, 4095, C_, LIVE)
KEY(NATS_SERVER, "natsServer", STR, "", 0, 2048, W_ | V_, LIVE)
KEY(NATS_PORT, "natsPort", INT, "4222", 1, 65535, W_ | V_, LIVE)
KEY(NATS_SUBJECT, "natsSubject", STR, "jobs", 1, 255, W_, LIVE)
KEY(NATS_USER, "natsUser", SECRET, "", 0, 4096, W_ | V_, LIVE)
KEY(NATS_PASSWORD, "natsPassword", SECRET, "", 0, 4096, W_ | V_, LIVE)
KEY(NATS_CREDS_FILE, "natsCredsFile", SECRET_FILE, "", 0, 4095, W_ | V_, LIVE)
KEY(NATS_NKEY_SEED_FILE, "natsNKeySeedFile", SECRET_FILE, "", 0, 4095, W_ | V_, LIVE)

/* Keys that the Go adapter does not have. */
KEY(CC_REST_JWT_FILE, "ccRestJwtFile", SECRET_FILE, "", 0, 4095, W_, LIVE)
KEY(CC_REST_CA_FILE, "ccRestCaFile", FILE, "", 0, 4095, W_, LIVE)
KEY(CC_BACKEND_VERSION, "ccBackendVersion", STR, "auto", 3, 16, W_, LIVE)
KEY(CC_COMMIT_INTERVAL, "ccCommitInterval", INT, "120", 1, 86400, W_, LIVE)
KEY(CC_UPDATE_SLURM_INFO, "ccUpdateSlurmInfo", BOOL, "true", 0, 0, W_, LIVE)
KEY(NATS_TOKEN, "natsToken", SECRET, "", 0, 4096, W_ | V_, LIVE)
KEY(NATS_TLS, "natsTls", BOOL, "false", 0, 0, W_ | V_, LIVE)
KEY(NATS_CA_FILE, "natsCaFile", FILE, "", 0, 4095, W_ | V_, LIVE)
KEY(NATS_CERT_FILE, "natsCertFile", FILE, "", 0, 4095, W_ | V_, LIVE)
KEY(NATS_KEY_FILE, "natsKeyFile", SECRET_FILE, "", 0, 4095, W_ | V_, LIVE)
KEY(NATS_FORMAT, "natsFormat", STR, "line-protocol", 4, 16, W_, LIVE)
KEY(NATS_JETSTREAM, "natsJetStream", BOOL, "false", 0, 0, W_, LIVE)
KEY(SLURM_USER, "slurmUser", STR, "", 0, 32, S_, SERVICE)
KEY(SUBMITTER_USER, "submitterUser", STR, "cc-slurm-submit", 1, 32, S_, SERVICE)
KEY(LISTENER_USER, "listenerUser", STR, "cc-slurm-listen", 1, 32, S_, SERVICE)
KEY(COLLECTOR_USER, "collectorUser", STR, "cc-slurm-collect", 1, 32, S_, SERVICE)
KEY(SANDBOX, "sandbox", STR, "enforce", 2, 16, S_, SERVICE)
KEY(STRICT_MODES, "strictModes", BOOL, "false", 0, 0, S_, LIVE)
KEY(SPOOL_DIR, "spoolDir", STR, "", 0, 4095, S_, SERVICE)
KEY(SPOOL_MAX_BYTES, "spoolMaxBytes", INT, "2147483648", 1048576, 1099511627776, W_, LIVE)
/* Derived from pidFilePath (common/model/conf_paths.c): never empty after the parser. */
KEY(CTL_SOCK, "ctlSockPath", STR, "", 0, 4095, S_, SERVICE)
KEY(CTL_USERS, "ctlUsers", LIST, "[]", 0, 64, S_, LIVE)
KEY(PREP_ALLOWED_HOSTS, "prepAllowedHosts", LIST, "[]", 0, 1024, L_, LIVE)
/* User names; the workers get user ids (supervisor/system/allowed_uids.c). */
KEY(PREP_ALLOWED_UIDS, "prepAllowedUids", LIST, "[]", 0, 64, L_, LIVE)
KEY(SLURM_BIN_DIR, "slurmBinDir", STR, "", 0, 1000, C_ | R_ | S_, LIVE)
KEY(SLURM_CONF, "slurmConf", STR, "", 0, 4095, R_ | S_, LIVE)
KEY(SLURM_EXTRA_PATHS, "slurmExtraPaths", LIST, "[]", 0, 64, R_ | S_, LIVE)
KEY(ACCOUNTING_LAG, "slurmAccountingLag", INT, "900", 0, 604800, C_, LIVE)
KEY(CLUSTERS, "clusters", LIST, "[]", 0, 256, C_ | R_ | W_ | V_, RESTART)
KEY(CLUSTER_NAMES, "clusterNames", JSON, "{}", 0, 65536, W_, LIVE)
KEY(CPU_MAP, "cpuMap", JSON, "{}", 0, 1048576, W_, LIVE)
KEY(GPU_GRES_NAMES, "gpuGresNames", LIST, "[\"gpu\"]", 0, 16, C_, LIVE)
KEY(JOB_SCRIPT_MAX, "jobScriptMaxBytes", INT, "65536", 0, 4194304, C_, LIVE)
KEY(META_DATA_FIELDS, "metaDataFields", LIST, "[\"jobName\",\"jobScript\",\"slurmInfo\",\"submitTime\",\"arrayTaskId\",\"hetJobId\",\"exitCode\",\"reason\",\"message\"]", 0, 32, W_, LIVE)
KEY(OPT_OUT_WORD, "optOutWord", STR, "disable_cc_submission", 1, 255, C_, LIVE)
KEY(ACTIVE_ONLY, "activeOnly", BOOL, "false", 0, 0, C_ | W_ | V_, LIVE)
KEY(NODE_STATE_POLL, "nodeStatePollInterval", INT, "60", 0, 86400, C_, LIVE)
KEY(NODE_STATE_REFRESH, "nodeStateRefresh", INT, "600", 0, 86400, C_ | W_, LIVE)
KEY(TAGS, "tags", JSON, "[]", 0, 65536, W_, LIVE)
KEY(REQUEUED_STATE, "requeuedState", STR, "preempted", 1, 16, W_, LIVE)
KEY(REQUEUED_RUNS, "requeuedRuns", STR, "first", 1, 16, W_, LIVE)
KEY(METRICS_LISTEN, "metricsListen", STR, "", 0, 256, S_, SERVICE)
KEY(EXPORTER_USER, "exporterUser", STR, "cc-slurm-export", 1, 32, S_, SERVICE)
KEY(HISTORY_DAYS, "historyDays", INT, "30", 0, 3650, W_, LIVE)
KEY(HISTORY_MAX_BYTES, "historyMaxBytes", INT, "67108864", 1048576, 1099511627776, W_, LIVE)
KEY(PREP_AUTH, "prepAuth", STR, "none", 1, 16, L_ | C_, LIVE)
KEY(PREP_MUNGE_SOCKET, "prepMungeSocket", STR, "/run/munge/munge.socket.2", 1, 107, C_ | R_, LIVE)
KEY(DELIVER, "deliver", STR, "direct", 1, 16, S_ | W_, SERVICE)
KEY(SOURCE, "source", STR, "slurm", 1, 16, S_ | W_ | V_, SERVICE)
KEY(RECEIVER_USER, "receiverUser", STR, "cc-slurm-receive", 1, 32, S_, SERVICE)
KEY(NATS_STREAM_REPLICAS, "natsStreamReplicas", INT, "3", 1, 5, V_, LIVE)
KEY(NATS_STREAM_MAX_AGE, "natsStreamMaxAge", INT, "1209600", 3600, 31536000, W_ | V_, LIVE)
KEY(NATS_STREAM_MAX_BYTES, "natsStreamMaxBytes", INT, "10737418240", 1048576, 1099511627776, V_, LIVE)
KEY(NATS_LEASE_TIME, "natsLeaseTime", INT, "30", 2, 300, V_, LIVE)
/* clang-format on */

#undef S_
#undef L_
#undef C_
#undef R_
#undef W_
#undef V_
