#include "cli/service_choice.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/commands/service_db.h"
#include "client/address.h"
#include "run/keeper_uid.h"

enum { KEY_SIZE = 1024 };

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

const char *service_choice_url(const struct service_choice *s)
{
    if (s && s->url)
        return s->url;
    return s && (s->state || s->here) ? NULL : variable("BELLJAR_URL");
}

int service_choice_check(const struct service_choice *s, struct err *e)
{
    if (s->url && s->state)
        return err_set(e, ERR_USAGE, 0,
                       "--service '%s' and --state '%s' name two services: give one of them",
                       QUOTED(s->url), QUOTED(s->state));
    if (s->key_file && !service_choice_url(s))
        return err_set(e, ERR_USAGE, 0,
                       "--key-file is for a service with a URL: give --service URL, or set "
                       "BELLJAR_URL; the service of this machine needs no key");
    return 0;
}

/* "": there is none. */
static int read_key(const struct service_choice *s, char out[KEY_SIZE], struct err *e)
{
    const char *key = variable("BELLJAR_API_KEY");
    out[0] = '\0';
    if (!s || !s->key_file) {
        if (!key || client_key_check(key, e))
            return key ? err_wrap(e, "BELLJAR_API_KEY") : 0;
        memcpy(out, key, strlen(key) + 1);
        return 0;
    }
    if (fd_read_file(AT_FDCWD, s->key_file, out, KEY_SIZE) < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "--key-file '%s'", QUOTED(s->key_file));
    out[strcspn(out, "\r\n")] = '\0';
    return client_key_check(out, e) ? err_wrap(e, "--key-file '%s'", QUOTED(s->key_file)) : 0;
}

static void client_address_free(struct client_address *a)
{
    client_address_done(a);
}

int service_choice_connect(const struct service_choice *s, struct client **ret, struct err *e)
{
    __attribute__((cleanup(client_address_free))) struct client_address address = { 0 };
    const char *url = service_choice_url(s);
    char key[KEY_SIZE];
    if ((s && service_choice_check(s, e)) || client_address_parse(url, &address, e) ||
        read_key(s, key, e))
        return -1;
    int rc = client_address_connect(&address, key[0] ? key : NULL, ret, e);
    explicit_bzero(key, sizeof key);
    if (rc == 0)
        return 0;
    struct err why = *e;
    return err_set(e, why.code, 0, "%.130s: 'belljar serve' starts a service there; %s names it",
                   why.text, s && s->url ? "--service" : "BELLJAR_URL");
}

int service_choice_drop_root(const struct service_choice *s, struct err *e)
{
    struct keeper_uid uid = KEEPER_UID_INIT;
    if (!service_choice_url(s))
        return service_db_become_owner(s ? s->state : NULL, e);
    if (keeper_uid_for_command(&uid, e))
        return -1;
    if (uid.lock_fd < 0) /* not root */
        return 0;
    /* The lock stays until this process ends. */
    if (setgroups(0, NULL) < 0 || setresgid(uid.uid, uid.uid, uid.uid) < 0 ||
        setresuid(uid.uid, uid.uid, uid.uid) < 0)
        return err_set(e, ERR_KERNEL, errno, "become uid %u", uid.uid);
    return 0;
}

int service_refusal(const struct client *c, struct err *e)
{
    size_t len;
    const char *host = client_host(c), *body = client_body(c, &len);
    (void)!client_refusal(c, e);
    if (!host)
        return -1;
    if (e->code == ERR_NO_KEY)
        return err_set(e, ERR_NO_KEY, 0,
                       "the service at %.100s %s: 'belljar keys add NAME --scopes run,read' on its "
                       "machine makes a key for BELLJAR_API_KEY",
                       host, client_key(c) ? "does not know this key" : "needs a key");
    if (!memmem(body, len, "\"error\"", strlen("\"error\"")) &&
        !memmem(body, len, "\"detail\"", strlen("\"detail\"")))
        return err_set(e, ERR_PROTOCOL, 0,
                       "%.100s answered with status %d as no service of belljar does: give the "
                       "address that 'belljar serve' prints",
                       host, client_response(c)->status);
    return -1;
}
