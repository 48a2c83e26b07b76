/* SPDX-License-Identifier: MIT */
/* The system's certificates for a process that will be in a chroot. */
#ifndef SUBMITTER_NATS_SYSTEM_CA_H
#define SUBMITTER_NATS_SYSTEM_CA_H

/* Maps the bundle, if there is one; its pages cost nothing until they are read. */
void nats_cert_prepare(void);
/* The bundle as PEM text, owned; NULL when there is none. */
char *nats_cert_system(void);

#endif
