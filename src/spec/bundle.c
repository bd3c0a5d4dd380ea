#include "spec/bundle.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

static const struct {
    const char *word, *why;
} statuses[] = {
#define X(id, word_, why_) [id] = { word_, why_ },
    OUTPUT_STATUS_TABLE(X)
#undef X
};

const char *output_status_word(enum output_status s)
{
    return statuses[(unsigned)s < OUTPUT_STATUS_COUNT_ ? s : OUTPUT_REFUSED].word;
}

const char *output_status_why(enum output_status s)
{
    return statuses[(unsigned)s < OUTPUT_STATUS_COUNT_ ? s : OUTPUT_REFUSED].why;
}

/* Where a name may lead. */
struct name_rule {
    const char *accepted;
    const char *prefix; /* of an absolute name; NULL: none is accepted */
};
static const struct name_rule file_rule = {
    .accepted = "a relative name inside /sandbox such as data/in.csv is accepted"
};
static const struct name_rule output_rule = {
    .accepted =
        "a name inside /sandbox such as out/a.csv, or one below /tmp such as /tmp/a.csv, is "
        "accepted",
    .prefix = OUTPUT_IN_TMP
};

static int name_refused(const struct name_rule *rule, const char *name, size_t len, const char *why,
                        struct err *e)
{
    char shown[128], quoted[96];
    (void)snprintf(shown, sizeof shown, "%.*s", (int)(len < 100 ? len : 100), name);
    return err_set(e, ERR_BAD_REQUEST, 0, "file name '%s' %s: %s",
                   text_quote(shown, quoted, sizeof quoted), why, rule->accepted);
}

static int check_name(const struct name_rule *rule, const char *name, size_t len, struct err *e)
{
    size_t start = 0;
    if (len == 0)
        return name_refused(rule, name, len, "is empty", e);
    if (len > BUNDLE_NAME_MAX)
        return name_refused(rule, name, len, "is longer than 1024 bytes", e);
    if (memchr(name, '\0', len))
        return name_refused(rule, name, len, "holds a NUL byte", e);
    if (rule->prefix && len > strlen(rule->prefix) &&
        memcmp(name, rule->prefix, strlen(rule->prefix)) == 0)
        start = strlen(rule->prefix);
    if (name[start] == '/')
        return name_refused(rule, name, len, start > 0 ? "has an empty part" : "is absolute", e);
    while (start <= len) {
        const char *slash = memchr(name + start, '/', len - start);
        size_t part = slash ? (size_t)(slash - name) - start : len - start;
        const char *p = name + start;
        if (part == 0)
            return name_refused(rule, name, len, "has an empty part", e);
        if (part > BUNDLE_PART_MAX)
            return name_refused(rule, name, len, "has a part longer than 255 bytes", e);
        if ((part == 1 && p[0] == '.') || (part == 2 && p[0] == '.' && p[1] == '.'))
            return name_refused(rule, name, len, "has a '.' or '..' part", e);
        start += part + 1;
    }
    return 0;
}

int bundle_name_check(const char *name, size_t len, struct err *e)
{
    return check_name(&file_rule, name, len, e);
}

int output_name_check(const char *name, size_t len, struct err *e)
{
    return check_name(&output_rule, name, len, e);
}

bool output_is_in_tmp(const char *name)
{
    return strncmp(name, OUTPUT_IN_TMP, strlen(OUTPUT_IN_TMP)) == 0;
}

int bundle_add_head(struct buf *b, const char *name, enum output_status status, uint32_t mode,
                    uint64_t size, struct err *e)
{
    struct bundle_head head = { .name_len = (uint32_t)strlen(name),
                                .mode = (uint16_t)mode,
                                .status = (uint16_t)status,
                                .size = size };
    return buf_add(b, &head, sizeof head, e) || buf_add(b, name, head.name_len, e) ? -1 : 0;
}

int bundle_add(struct buf *b, const char *name, uint32_t mode, const void *bytes, size_t size,
               struct err *e)
{
    if (bundle_add_head(b, name, OUTPUT_OK, mode, size, e))
        return -1;
    return buf_add(b, bytes, size, e);
}

static int next_entry(const struct name_rule *rule, const struct buf *b, size_t *pos,
                      struct bundle_entry *ret_entry, bool *ret_more, struct err *e)
{
    size_t left = b->len - *pos;
    struct bundle_entry entry;
    if (left == 0) {
        *ret_more = false;
        return 0;
    }
    if (left < sizeof entry.head)
        return err_set(e, ERR_PROTOCOL, 0, "a bundle of files ends in the middle");
    memcpy(&entry.head, b->data + *pos, sizeof entry.head);
    left -= sizeof entry.head;
    if (entry.head.name_len > left || entry.head.size > left - entry.head.name_len)
        return err_set(e, ERR_PROTOCOL, 0, "a bundle of files ends in the middle");
    entry.name = b->data + *pos + sizeof entry.head;
    entry.bytes = entry.name + entry.head.name_len;
    if (check_name(rule, entry.name, entry.head.name_len, e))
        return -1;
    *pos += sizeof entry.head + entry.head.name_len + entry.head.size;
    *ret_entry = entry;
    *ret_more = true;
    return 0;
}

int bundle_next(const struct buf *b, size_t *pos, struct bundle_entry *ret_entry, bool *ret_more,
                struct err *e)
{
    return next_entry(&file_rule, b, pos, ret_entry, ret_more, e);
}

int bundle_next_output(const struct buf *b, size_t *pos, struct bundle_entry *ret_entry,
                       bool *ret_more, struct err *e)
{
    return next_entry(&output_rule, b, pos, ret_entry, ret_more, e);
}

bool bundle_is_directory(const struct bundle_entry *f)
{
    return S_ISDIR(f->head.mode);
}

bool bundle_is_named(const struct bundle_entry *f, const char *name)
{
    return f->head.name_len == strlen(name) && memcmp(f->name, name, f->head.name_len) == 0;
}
