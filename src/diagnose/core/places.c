/* Places in the job's files: files, lines and frames. Runs in: keeper. */
#include <string.h>

#include "diagnose/core/grammar.h"

static const char jar_root[] = "/sandbox/";
/* The file that the shell of a session reads each cell from. */
static const char cell_of_shell[] = "/dev/fd/61";

/* Paths of interpreters and their libraries on any machine. Files there are never the job's. */
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

/* The name that users know. Any path with /sandbox/ in it counts as below /sandbox: on a host
 * without namespaces the directory is elsewhere. */
static struct piece known_as(const struct diagnose_input *in, struct piece file)
{
    if (in->is_cell && in->main_name && piece_is(file, cell_of_shell))
        return piece_of(in->main_name);
    if (starts_with(file, "file://"))
        file = piece_skip(file, 7);
    while (starts_with(file, "./"))
        file = piece_skip(file, 2);
    size_t at = piece_find(file, jar_root);
    return at < file.len ? piece_skip(file, at + sizeof jar_root - 1) : file;
}

const struct source_file *find_source(const struct diagnose_input *in, struct piece name)
{
    struct piece known = known_as(in, name);
    if (!name.at || is_foreign(known))
        return NULL;
    for (size_t i = 0; i < in->n_sources; i++)
        if (piece_is(known, in->sources[i].name))
            return &in->sources[i];
    /* The same file by another path: the end of the path decides. */
    for (size_t i = 0; i < in->n_sources; i++) {
        size_t n = strlen(in->sources[i].name);
        if (known.len > n + 1 && piece_byte(known, known.len - n - 1) == '/' &&
            ends_with(known, in->sources[i].name))
            return &in->sources[i];
    }
    return NULL;
}

/* A cell of a session, as the programs of sessions call it. It is no file: the text may be that of an
 * earlier cell. */
static bool is_cell(struct piece name)
{
    return starts_with(name, "<cell ") || starts_with(name, "cell-");
}

/* When the sources are not known (they were large, or the text is from elsewhere), the name
 * decides. */
static bool is_users(const struct diagnose_input *in, struct piece file)
{
    if (find_source(in, file) || (in->is_cell && is_cell(file)))
        return true;
    struct piece known = known_as(in, file);
    if (in->main_name && piece_is(known, in->main_name))
        return true;
    return known.at && known.len > 0 && !is_foreign(known) &&
           (known.len != file.len || in->n_sources == 0);
}

bool set_place(const struct diagnose_input *in, struct place_in_code *p, struct piece file,
               struct piece line, struct piece column)
{
    const struct source_file *f = find_source(in, file);
    COPY(f ? piece_of(f->name) : known_as(in, file), p->file);
    p->line = piece_number(line);
    p->column = piece_number(column);
    p->end_column = 0;
    return is_users(in, file);
}

void set_location(struct diagnosis *d, const char *file, uint32_t line)
{
    d->location = (struct place_in_code){ .line = line };
    COPY(piece_of(file), d->location.file);
}

struct piece source_line(const struct source_file *f, uint32_t line)
{
    struct piece rest = whole_source(f), at;
    for (uint32_t i = 1; next_line(&rest, &at); i++)
        if (i == line)
            return at;
    return NO_PIECE;
}

struct piece line_at(const struct diagnose_input *in, const struct diagnosis *d)
{
    struct piece line = source_line(find_source(in, piece_of(d->location.file)), d->location.line);
    /* Without the source, the line that the error shows itself. */
    if (!line.at && d->n_excerpt == 1 && d->excerpt[0].line == d->location.line)
        line = piece_of(d->excerpt[0].text);
    return line;
}

void point_at(const struct diagnose_input *in, struct diagnosis *d, struct piece word)
{
    struct piece line = line_at(in, d);
    size_t at = find_word(line, word);
    if (d->location.column != 0 || at == line.len)
        return;
    d->location.column = piece_characters(piece_cut(line, at)) + 1;
    d->location.end_column = d->location.column + piece_characters(word);
}

void point_over_word(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece line = line_at(in, d);
    uint32_t end = d->location.column;
    while (is_word_byte(piece_at(line, end)) || piece_at(line, end) == '$')
        end++;
    if (d->location.end_column == 0 && end > d->location.column)
        d->location.end_column = end;
}

void point_at_end(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece line = piece_trim_end(line_at(in, d));
    d->location.column = line.at ? piece_characters(line) + 1 : 0;
    d->location.end_column = 0;
}

bool suggest_swap(const struct diagnose_input *in, struct diagnosis *d, struct piece from,
                  const char *to)
{
    struct piece line = line_at(in, d);
    size_t at = find_word(line, from);
    if (at == line.len)
        return false;
    suggest_replacement(d, "%.*s%s%.*s", P(piece_cut(line, at)), to,
                        P(piece_skip(line, at + from.len)));
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

void keep_as_cause(struct diagnosis *d)
{
    struct cause first = { .at = d->location };
    COPY(piece_of(d->type), first.type);
    COPY(piece_of(d->message), first.message);
    if (d->n_causes == DIAGNOSE_CAUSES)
        d->n_causes--;
    memmove(&d->causes[1], &d->causes[0], d->n_causes * sizeof first);
    d->causes[0] = first;
    d->n_causes++;
}
