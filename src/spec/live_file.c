#include "spec/live_file.h"

#include <string.h>

#include "base/text.h"
#include "spec/bundle.h"

static const struct {
    enum err_code code;
    const char *sentence;
} statuses[] = {
#define X(id, code_, sentence_) [id] = { code_, sentence_ },
    LIVE_FILE_STATUS_TABLE(X)
#undef X
};

int live_answer_read(const struct buf *answer, const char *name, struct live_file_record *ret_last,
                     struct err *e)
{
    struct live_file_record last = { 0 };
    if (answer->len >= sizeof last)
        memcpy(&last, answer->data + answer->len - sizeof last, sizeof last);
    if (!last.is_last || last.size != answer->len - sizeof last ||
        last.status >= LIVE_FILE_STATUS_COUNT_)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the files of the session could not be reached in time: the session ended, "
                       "or has no memory or CPU time left; try again");
    if (statuses[last.status].code != ERR_NONE)
        return err_set(e, statuses[last.status].code, 0, "'%s' in /sandbox %s", QUOTED(name),
                       statuses[last.status].sentence);
    *ret_last = last;
    return 0;
}

bool live_list_next(const struct buf *answer, size_t *pos, struct live_file_row *ret)
{
    struct live_file_row row;
    struct err ignored;
    size_t end = answer->len - sizeof row.record, left = end - *pos;
    if (left < sizeof row.record)
        return false;
    memcpy(&row.record, answer->data + *pos, sizeof row.record);
    row.name = answer->data + *pos + sizeof row.record;
    if (row.record.is_last || row.record.name_len > left - sizeof row.record ||
        bundle_name_check(row.name, row.record.name_len, &ignored))
        return false;
    *pos += sizeof row.record + row.record.name_len;
    *ret = row;
    return true;
}
