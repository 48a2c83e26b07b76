/* SPDX-License-Identifier: MIT */
/* The paths that a slurm.conf names. */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/text/slurm_conf.h"
#include "tests/unit/check.h"

static char found[1024];

static void
on_found(enum slurm_conf_path kind, const char *path, void *arg)
{
	size_t n = strlen(found);

	snprintf(found + n, sizeof(found) - n, "%c %s\n", "dsfi"[kind], path);
}

static void
scan(const char *text)
{
	char path[] = "/tmp/test_slurm_conf.XXXXXX";
	int fd = mkstemp(path);

	found[0] = '\0';
	CHECK(
	    fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	slurm_conf_scan(path, on_found, NULL);
	unlink(path);
}

int
main(void)
{
	scan("ClusterName=a\n#PluginDir=/no\n"
	     "PluginDir=/opt/a/lib/slurm:/opt/b # both\n"
	     "  authinfo = ttl=60,socket=/run/m/munge.socket.2,cred_expire=3\n"
	     "Include /srv/slurm/nodes.conf\nInclude relative.conf\n"
	     "IncludeNot=/x\nPlugStackConfig=\"/srv/plugstack.conf\"\n"
	     "AuthInfo=cred_expire=1");
	CHECK_STR(found,
	    "d /opt/a/lib/slurm\nd /opt/b\ns /run/m\n"
	    "i /srv/slurm/nodes.conf\ni relative.conf\n"
	    "f /srv/plugstack.conf\n");
	scan("PluginDir=relative\nPlugStackConfig=plugstack.conf\n");
	CHECK_STR(found, "");
	scan("");
	CHECK_STR(found, "");
	scan("AuthInfo=socket=\nAuthInfo=socket\nPluginDir=::\nPluginDir=");
	CHECK_STR(found, "");
	found[0] = '\0';
	slurm_conf_scan("/nowhere/slurm.conf", on_found, NULL);
	slurm_conf_scan("/dev/zero", on_found, NULL);
	slurm_conf_scan("/", on_found, NULL);
	CHECK_STR(found, "");
	return check_done();
}
