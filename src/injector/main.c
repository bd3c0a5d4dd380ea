/* The injector: reads the secrets, gives up its rights, and forks a child for each run that has one.
 * See injector/injector.h. */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/caps.h"
#include "base/fdio.h"
#include "base/process.h"
#include "injector/injector.h"
#include "injector/machine.h"
#include "jar/confinement.h"
#include "network/policy.h"
#include "wire/wire.h"

enum { CONTROL_FD = INJECTOR_FIRST_FD + INJECTOR_CONTROL, GRANTS_MAX = 64 << 10 };

static int read_grants(struct injector_machine *m, struct err *e)
{
    struct buf text = { 0 };
    if (fd_read_to_buf(INJECTOR_FIRST_FD + INJECTOR_GRANTS, GRANTS_MAX, &text, e))
        return -1;
    m->grants = text.data ? text.data : strdup("");
    return network_secrets_check(buf_str(&text), e);
}

/* Every secret that a run may ask for has a value. */
static int check_values(const char *grants, const struct values *v, struct err *e)
{
    char name[NETWORK_SECRET_MAX + 1];
    for (const char *at = grants; network_secret_next(&at, name);)
        if (!values_find(v, name))
            return err_set(
                e, ERR_BAD_REQUEST, 0,
                "the secret '%s' has no value: set BELLJAR_SECRET_%s, or add a line %s=… "
                "to the file of network.secrets_file",
                name, name, name);
    return 0;
}

static int read_all(struct injector_machine *m, struct values *v, struct err *e)
{
    if (read_grants(m, e) || values_init(v, e))
        return -1;
    for (int i = INJECTOR_FILE; i >= INJECTOR_ENVIRONMENT; i--) {
        off_t size = lseek(INJECTOR_FIRST_FD + i, 0, SEEK_END); /* /dev/null: 0 */
        if (size > 0 && values_read(v, INJECTOR_FIRST_FD + i, e))
            return -1;
    }
    return check_values(m->grants, v, e) || machine_open(m, e) ? -1 : 0;
}

/* Everything that OpenSSL reads from files is read by now. */
static int give_up_rights(uid_t uid, struct err *e)
{
    const struct rlimit no_core = { 0, 0 };
    const int kept = CONTROL_FD;
    (void)prctl(PR_SET_NAME, "belljar-inject", 0, 0, 0);
    if (setrlimit(RLIMIT_CORE, &no_core) < 0 || fd_keep_only(&kept, 1, e) ||
        process_null_fds(3, e) || confinement_leave_network(e) || caps_drop_bounding(e))
        return -1;
    if (uid != geteuid() &&
        (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
        return err_set(e, ERR_KERNEL, errno, "become uid %u", uid);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || caps_clear(0, e))
        return err_set(e, ERR_KERNEL, errno, "give up privileges");
    return confinement_enter(ROLE_INJECTOR_PARENT, NULL, e);
}

static bool may_have(const struct network_policy *p, const struct injector_machine *m,
                     const struct values *v)
{
    struct err ignored;
    for (size_t i = 0; i < p->n_injects; i++)
        if (network_secret_may_go(m->grants, &p->injects[i], &ignored) ||
            !values_find(v, p->injects[i].secret))
            return false;
    return p->n_injects > 0;
}

/* A request that cannot be met is answered by the end of its socket. */
static void on_open(struct wire_message *m, const struct injector_machine *machine,
                    struct values *v)
{
    struct wire_net x;
    struct err ignored;
    scoped(network_policy) p = { 0 };
    if (wire_read_net(m, WIRE_NET_OPEN, &x, &ignored) ||
        network_policy_decode(x.bytes, x.n, &p, &ignored) || !may_have(&p, machine, v))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(CONTROL_FD);
        injection_run(fd_take(&m->fds[0]), &p, v, machine);
    }
}

int main(int argc, char **argv)
{
    static struct wire_message message;
    struct injector_machine machine = { 0 };
    struct values values = { 0 };
    struct err e = { 0 };
    uid_t uid = argc == 2 ? (uid_t)strtoul(argv[1], NULL, 10) : 0;
    struct sockaddr_storage who;
    socklen_t len = sizeof who;
    if (argc != 2 || getsockname(CONTROL_FD, (struct sockaddr *)&who, &len) < 0) {
        (void)fputs("belljar-inject is a part of belljar and is started by it\n", stderr);
        return 64;
    }
    (void)signal(SIGCHLD, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN); /* of a terminal; the end of the socket ends us */
    int rc = read_all(&machine, &values, &e) || give_up_rights(uid, &e);
    if (rc && e.text[0] == '\0')
        (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the injector cannot start");
    if (send(CONTROL_FD, &e, sizeof e, MSG_NOSIGNAL) < 0 || rc)
        return 1;
    for (;;) {
        int got = wire_receive(CONTROL_FD, &message, &e);
        if (got < 0 && e.sys == EINTR)
            continue;
        if (got <= 0)
            break;
        if (message.type == WIRE_NET_OPEN)
            on_open(&message, &machine, &values);
        wire_message_done(&message);
    }
    values_done(&values);
    return 0;
}
