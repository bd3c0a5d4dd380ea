#include "cli/jupyter/message.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/moment.h"
#include "base/text.h"

static const char delimiter[] = "<IDS|MSG>";
/* The parts after the delimiter. */
enum { AT_SIGNATURE, AT_HEADER, AT_PARENT, AT_METADATA, AT_CONTENT, AFTER_DELIMITER };

void parts_done(struct parts *p)
{
    for (size_t i = 0; i < p->n; i++)
        buf_done(&p->part[i]);
    p->n = 0;
}

int parts_add(struct parts *p, const void *bytes, size_t n, struct err *e)
{
    if (p->n == PARTS_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0, "a message has more than %d parts", PARTS_MAX);
    p->part[p->n] = (struct buf){ 0 };
    if (buf_add(&p->part[p->n], bytes, n, e))
        return -1;
    p->n++;
    return 0;
}

int signer_open(struct signer *ret, const char *key, struct err *e)
{
    *ret = (struct signer){ .key = strdup(key),
                            .key_len = strlen(key),
                            .seen = calloc(SEEN_MAX, SIGNATURE_BYTES) };
    if (sodium_init() < 0 || !ret->key || !ret->seen)
        return err_no_memory(e, "the key of the connection");
    id_make("jup_", ret->session);
    return 0;
}

void signer_done(struct signer *s)
{
    free(s->key);
    free(s->seen);
    *s = (struct signer){ 0 };
}

static void sign(const struct signer *s, const struct buf *parts,
                 unsigned char out[SIGNATURE_BYTES])
{
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, (const unsigned char *)s->key, s->key_len);
    for (int i = AT_HEADER; i < AFTER_DELIMITER; i++)
        crypto_auth_hmacsha256_update(&state, (const unsigned char *)buf_str(&parts[i]),
                                      parts[i].len);
    crypto_auth_hmacsha256_final(&state, out);
}

static bool came_before(const struct signer *s, const unsigned char *signature)
{
    for (size_t i = 0; i < s->n_seen; i++)
        if (memcmp(s->seen[i], signature, SIGNATURE_BYTES) == 0)
            return true;
    return false;
}

static void remember(struct signer *s, const unsigned char *signature)
{
    memcpy(s->seen[s->next], signature, SIGNATURE_BYTES);
    s->next = (s->next + 1) % SEEN_MAX;
    s->n_seen += s->n_seen < SEEN_MAX;
}

/* `parts` begins with the signature. */
static int verify(struct signer *s, const struct buf *parts, struct err *e)
{
    unsigned char given[SIGNATURE_BYTES], right[SIGNATURE_BYTES];
    const struct buf *text = &parts[AT_SIGNATURE];
    size_t n = 0;
    if (text->len != SIGNATURE_HEX ||
        sodium_hex2bin(given, sizeof given, text->data, text->len, NULL, &n, NULL) < 0 ||
        n != sizeof given)
        return err_set(e, ERR_DENIED, 0, "a message has no signature");
    sign(s, parts, right);
    if (sodium_memcmp(given, right, sizeof right) != 0)
        return err_set(e, ERR_DENIED, 0, "a message has a wrong signature");
    if (came_before(s, right))
        return err_set(e, ERR_DENIED, 0, "a message came twice");
    remember(s, right);
    return 0;
}

void request_done(struct request *r)
{
    parts_done(&r->identities);
    buf_done(&r->header);
    json_decref(r->content);
    *r = (struct request){ 0 };
}

static int take(const struct parts *p, size_t first, struct request *ret, struct err *e)
{
    const struct buf *header = &p->part[first + AT_HEADER];
    const struct buf *content = &p->part[first + AT_CONTENT];
    json_auto_t *o = json_loadb(buf_str(header), header->len, 0, NULL);
    const char *type = json_string_value(json_object_get(o, "msg_type"));
    if (!type || strlen(type) >= sizeof ret->type)
        return err_set(e, ERR_BAD_REQUEST, 0, "the header of a message has no msg_type");
    (void)snprintf(ret->type, sizeof ret->type, "%s", type);
    ret->content = json_loadb(buf_str(content), content->len, JSON_ALLOW_NUL, NULL);
    if (!json_is_object(ret->content))
        return err_set(e, ERR_BAD_REQUEST, 0, "the content of a %s is not an object",
                       QUOTED(ret->type));
    /* The header goes into every answer, so it is not larger than a header is. */
    if (header->len > 4096)
        return err_set(e, ERR_BAD_REQUEST, 0, "the header of a message has over 4096 bytes");
    for (size_t i = 0; i + 1 < first; i++)
        if (parts_add(&ret->identities, buf_str(&p->part[i]), p->part[i].len, e))
            return -1;
    return buf_add(&ret->header, header->data, header->len, e);
}

int request_read(struct signer *s, const struct parts *p, struct request *ret, struct err *e)
{
    struct request r = { 0 };
    size_t first = 0;
    while (first < p->n && (p->part[first].len != sizeof delimiter - 1 ||
                            memcmp(p->part[first].data, delimiter, sizeof delimiter - 1) != 0))
        first++;
    first++; /* behind the delimiter */
    if (first > p->n || p->n - first < AFTER_DELIMITER)
        return err_set(e, ERR_BAD_REQUEST, 0, "a message has no delimiter or too few parts");
    if (verify(s, &p->part[first], e))
        return -1;
    if (take(p, first, &r, e)) {
        request_done(&r);
        return -1;
    }
    *ret = r;
    return 0;
}

static char *new_header(const struct signer *s, const char *type)
{
    char id[ID_SIZE], moment[MOMENT_SIZE];
    id_make("msg_", id);
    json_auto_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "msg_id", id, "session",
                               s->session, "username", "belljar", "date",
                               moment_format(clock_unix_ms(), moment), "msg_type", type, "version",
                               JUPYTER_PROTOCOL);
    return o ? json_dumps(o, JSON_COMPACT) : NULL;
}

int message_write(const struct signer *s, const char *type, const struct buf *parent,
                  const char *content, size_t content_len, struct parts *out, struct err *e)
{
    autofree char *header = new_header(s, type);
    unsigned char signature[SIGNATURE_BYTES];
    char hex[SIGNATURE_HEX + 1];
    if (!header)
        return err_no_memory(e, "a message");
    if (parts_add(out, delimiter, sizeof delimiter - 1, e))
        return -1;
    size_t first = out->n;
    if (parts_add(out, "", 0, e) || parts_add(out, header, strlen(header), e) ||
        parts_add(out, parent && parent->len ? parent->data : "{}",
                  parent && parent->len ? parent->len : 2, e) ||
        parts_add(out, "{}", 2, e) || parts_add(out, content, content_len, e))
        return -1;
    sign(s, &out->part[first], signature);
    sodium_bin2hex(hex, sizeof hex, signature, sizeof signature);
    return buf_add(&out->part[first], hex, SIGNATURE_HEX, e);
}
