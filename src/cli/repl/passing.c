#include "cli/repl/passing.h"

#include <string.h>

#include "base/auto.h"
#include "cli/repl/link.h"
#include "cli/run/remote.h"

/* "HOST\nKEY", each perhaps empty. Neither has a control character. */
static int send_connection(int link_fd, const struct client *c, struct err *e)
{
    scoped(buf) identity = { 0 };
    const char *host = client_host(c), *key = client_key(c);
    if (buf_addf(&identity, e, "%s\n%s", host ? host : "", key ? key : ""))
        return -1;
    return link_send_fd(link_fd, ASK_CONNECTED, buf_str(&identity), identity.len, client_fd(c), e);
}

int passing_send(int link_fd, const struct service_choice *s, struct err *e)
{
    struct client *c = NULL;
    struct err why = { .text = "the service is not running any more" };
    if (remote_connect(s, &c, &why))
        return link_send_fd(link_fd, ASK_CONNECTED, why.text, strlen(why.text), -1, e);
    int rc = send_connection(link_fd, c, e);
    client_done(&c);
    return rc;
}

int passing_take(const struct buf *record, int fd, struct client **ret, struct err *e)
{
    struct client *c = NULL;
    const char *host = buf_str(record), *newline = strchr(host, '\n');
    if (fd < 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "%s", host);
    if (client_adopt(&c, fd, e))
        return -1;
    autofree char *name = newline ? strndup(host, (size_t)(newline - host)) : NULL;
    const char *key = newline && newline[1] ? newline + 1 : NULL;
    if ((newline && !name) || client_identify(c, name && *name ? name : NULL, key, e)) {
        client_free(c);
        return err_no_memory(e, "a connection");
    }
    *ret = c;
    return 0;
}
