#include "cli/jupyter/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "base/text.h"

enum { FILE_MAX = 1 << 16, PORT_MAX = 65535 };

static const char *const port_keys[CHANNELS] = {
#define X(id, key) [id] = (key),
    CHANNEL_TABLE(X)
#undef X
};

static const char *text_at(const json_t *o, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : otherwise;
}

static int take_key(const json_t *o, struct connection *ret, struct err *e)
{
    const char *scheme = text_at(o, "signature_scheme", "hmac-sha256");
    const char *key = text_at(o, "key", "");
    if (strcmp(scheme, "hmac-sha256") != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "signature_scheme '%s' is not known: hmac-sha256 is accepted",
                       QUOTED(scheme));
    if (!*key || strlen(key) >= sizeof ret->key)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'key' has %zu bytes: 1 to %zu are accepted, because a message without a "
                       "signature could come from anybody",
                       strlen(key), sizeof ret->key - 1);
    (void)snprintf(ret->key, sizeof ret->key, "%s", key);
    return 0;
}

int connection_parse(const json_t *o, struct connection *ret, struct err *e)
{
    const char *transport = text_at(o, "transport", "tcp"), *ip = text_at(o, "ip", "127.0.0.1");
    bool is_tcp = strcmp(transport, "tcp") == 0;
    if (!is_tcp && strcmp(transport, "ipc") != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "transport '%s' is not known: tcp and ipc are accepted", QUOTED(transport));
    if (take_key(o, ret, e))
        return -1;
    for (int i = 0; i < CHANNELS; i++) {
        json_int_t port = json_integer_value(json_object_get(o, port_keys[i]));
        if (port < 1 || port > PORT_MAX)
            return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is not a port: 1 to %d are accepted",
                           port_keys[i], PORT_MAX);
        int n = snprintf(ret->endpoint[i], ENDPOINT_SIZE, "%s://%s%c%d", transport, ip,
                         is_tcp ? ':' : '-', (int)port);
        if (n >= ENDPOINT_SIZE)
            return err_set(e, ERR_BAD_REQUEST, 0, "'ip' is too long: up to 200 bytes are accepted");
    }
    return 0;
}

int connection_read(const char *path, struct connection *ret, struct err *e)
{
    scoped(buf) text = { 0 };
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open the connection file '%s'", QUOTED(path));
    if (fd_read_to_buf(fd, FILE_MAX, &text, e))
        return err_wrap(e, "read the connection file '%s'", QUOTED(path));
    json_auto_t *o = json_loadb(buf_str(&text), text.len, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(o))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the connection file '%s' is not a JSON object; a Jupyter client writes it",
                       QUOTED(path));
    return connection_parse(o, ret, e) ? err_wrap(e, "the connection file '%s'", QUOTED(path)) : 0;
}
