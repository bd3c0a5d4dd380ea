/* Places in the job's files: which file, which line, who called. */
#include <string.h>

#include "diagnose/core/grammar.h"

static const char jar_root[] = "/sandbox/";

/* Where interpreters and their libraries are, on any machine: never what somebody sent. */
static const char *const foreign[] = { "/usr/",         "/opt/",        "/lib/",
                                       "node:",         "<frozen ",     "/rustc/",
                                       "internal/",     "<internal:",   "site-packages",
                                       "dist-packages", "node_modules", NULL };

static bool is_foreign(struct piece file)
{
    for (const char *const *f = foreign; *f; f++)
        if ((*f)[0] == '/' || (*f)[0] == '<' || strchr(*f, ':') ? starts_with(file, *f)
                                                                : piece_has(file, *f))
            return true;
    return false;
}

/* As people know it. A program below /sandbox may be found by any path that has it in it: on a host without namespaces the
 * directory is elsewhere. */
static struct piece known_as(struct piece file)
{
    if (starts_with(file, "file://")) {
        file.at += 7;
        file.len -= 7;
    }
    while (starts_with(file, "./")) {
        file.at += 2;
        file.len -= 2;
    }
    size_t at = piece_find(file, jar_root);
    if (at < file.len) {
        file.at += at + sizeof jar_root - 1;
        file.len -= at + sizeof jar_root - 1;
    }
    return file;
}

const struct source_file *find_source(const struct diagnose_input *in, struct piece name)
{
    struct piece known = known_as(name);
    if (!name.at || is_foreign(known))
        return NULL;
    for (size_t i = 0; i < in->n_sources; i++)
        if (piece_is(known, in->sources[i].name))
            return &in->sources[i];
    /* By another path: the last part of it decides. */
    for (size_t i = 0; i < in->n_sources; i++) {
        size_t n = strlen(in->sources[i].name);
        if (known.len > n + 1 && known.at[known.len - n - 1] == '/' &&
            memcmp(known.at + known.len - n, in->sources[i].name, n) == 0)
            return &in->sources[i];
    }
    return NULL;
}

/* Without the sources at hand (they were large, or the text is from elsewhere) the name has to do. */
static bool is_users(const struct diagnose_input *in, struct piece file)
{
    if (find_source(in, file))
        return true;
    struct piece known = known_as(file);
    if (in->main_name && piece_is(known, in->main_name))
        return true;
    return known.at && known.len > 0 && !is_foreign(known) &&
           (known.len != file.len || in->n_sources == 0);
}

bool set_place(const struct diagnose_input *in, struct place_in_code *p, struct piece file,
               struct piece line, struct piece column)
{
    const struct source_file *f = find_source(in, file);
    COPY(f ? piece_of(f->name) : known_as(file), p->file);
    p->line = piece_number(line);
    p->column = piece_number(column);
    p->end_column = 0;
    return is_users(in, file);
}

struct piece source_line(const struct source_file *f, uint32_t line)
{
    struct piece rest = { f ? f->text : NULL, f ? f->len : 0 }, at;
    for (uint32_t i = 1; next_line(&rest, &at); i++)
        if (i == line)
            return at;
    return NO_PIECE;
}

struct piece line_at(const struct diagnose_input *in, const struct diagnosis *d)
{
    struct piece line = source_line(find_source(in, piece_of(d->location.file)), d->location.line);
    /* Without the source, what the error showed of it itself. */
    if (!line.at && d->n_excerpt == 1 && d->excerpt[0].line == d->location.line)
        line = piece_of(d->excerpt[0].text);
    return line;
}

static bool in_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

/* Where a word stands in a line by itself, not as a part of a longer one; line.len: nowhere. */
static size_t find_word(struct piece line, struct piece word)
{
    if (word.len == 0)
        return line.len;
    for (size_t i = 0; i + word.len <= line.len; i++) {
        if (memcmp(line.at + i, word.at, word.len) != 0)
            continue;
        bool begins = i == 0 || !in_word(word.at[0]) || !in_word(line.at[i - 1]);
        bool ends = i + word.len == line.len || !in_word(word.at[word.len - 1]) ||
                    !in_word(line.at[i + word.len]);
        if (begins && ends)
            return i;
    }
    return line.len;
}

static uint32_t characters(const char *bytes, size_t n)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return count;
}

void point_at(const struct diagnose_input *in, struct diagnosis *d, struct piece word)
{
    struct piece line = line_at(in, d);
    if (d->location.column != 0 || !line.at || !word.at)
        return;
    size_t at = find_word(line, word);
    if (at == line.len)
        return;
    d->location.column = characters(line.at, at) + 1;
    d->location.end_column = d->location.column + characters(word.at, word.len);
}

void point_over_word(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece line = line_at(in, d);
    size_t at = d->location.column;
    if (at == 0 || d->location.end_column != 0 || at > line.len)
        return;
    while (at < line.len && (in_word(line.at[at]) || line.at[at] == '$'))
        at++;
    d->location.end_column = (uint32_t)at + 1;
}

bool suggest_swap(const struct diagnose_input *in, struct diagnosis *d, struct piece from,
                  const char *to)
{
    struct piece line = line_at(in, d);
    size_t at = line.at && from.at ? find_word(line, from) : 0;
    if (!line.at || !from.at || at == line.len)
        return false;
    suggest_replacement(d, "%.*s%s%.*s", (int)at, line.at, to, (int)(line.len - at - from.len),
                        line.at + at + from.len);
    return true;
}

void show_line(struct diagnosis *d, uint32_t line, struct piece text)
{
    if (d->n_excerpt > 0 || line == 0)
        return;
    d->n_excerpt = 1;
    d->excerpt[0] = (struct excerpt_line){ .line = line };
    COPY(text, d->excerpt[0].text);
}

void add_frame(const struct diagnose_input *in, struct diagnosis *d, struct piece file,
               struct piece line, struct piece column, struct piece function)
{
    struct frame f = { 0 };
    size_t at = d->n_frames;
    f.user = set_place(in, &f.at, file, line, column);
    COPY(function, f.function);
    while (f.user && at > 0 && !d->frames[at - 1].user)
        at--;
    if (at == DIAGNOSE_FRAMES)
        return;
    if (d->n_frames == DIAGNOSE_FRAMES)
        d->n_frames--; /* the last of the others */
    memmove(&d->frames[at + 1], &d->frames[at], (d->n_frames - at) * sizeof f);
    d->frames[at] = f;
    d->n_frames++;
}

void locate_by_frames(struct diagnosis *d)
{
    if (d->location.line == 0 && d->n_frames > 0 && d->frames[0].user)
        d->location = d->frames[0].at;
}

struct cause *add_cause(struct diagnosis *d)
{
    if (d->n_causes == DIAGNOSE_CAUSES)
        return NULL;
    struct cause *c = &d->causes[d->n_causes++];
    *c = (struct cause){ 0 };
    return c;
}
