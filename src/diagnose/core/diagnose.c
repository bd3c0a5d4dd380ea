/* From a text to a diagnosis: the grammar reads, the system adds the measurements, then both
 * advise. Runs in: keeper. */
#include "diagnose/core/diagnose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "diagnose/core/grammar.h"

/* The length of the first lines of a text: at most max_bytes and max_lines. */
static size_t head_of(struct piece text, size_t max_bytes, size_t max_lines)
{
    size_t at = 0;
    for (size_t lines = 0; lines < max_lines && at < text.len && at < max_bytes; lines++) {
        at += piece_find(piece_skip(text, at), "\n") + 1;
        at = at < text.len ? at : text.len;
    }
    return at < max_bytes ? at : max_bytes;
}

/* The offset of the last lines of a text: at most max_bytes and max_lines. */
static size_t tail_of(struct piece text, size_t max_bytes, size_t max_lines)
{
    size_t at = text.len;
    for (size_t lines = 0; lines < max_lines && at > 0 && text.len - at < max_bytes; lines++) {
        at = piece_behind_last(piece_cut(text, at - 1), '\n');
    }
    return text.len - at < max_bytes ? at : text.len - max_bytes;
}

/* The first and the last part of the text, each with half of the bytes and half of the lines that
 * are read (DIAGNOSE-1). */
static struct piece both_ends(const char *bytes, size_t len, char **ret_copy)
{
    struct piece text = piece_in(bytes, len);
    size_t head = head_of(text, DIAGNOSE_TEXT_MAX / 2, DIAGNOSE_LINES_MAX / 2);
    size_t tail = tail_of(text, DIAGNOSE_TEXT_MAX / 2, DIAGNOSE_LINES_MAX / 2);
    if (!bytes || head >= tail)
        return text;
    *ret_copy = malloc(head + 1 + len - tail);
    if (!*ret_copy)
        return piece_in(bytes, head);
    memcpy(*ret_copy, bytes, head);
    (*ret_copy)[head] = '\n'; /* so that no line consists of two halves */
    memcpy(*ret_copy + head + 1, bytes + tail, len - tail);
    return piece_in(*ret_copy, head + 1 + len - tail);
}

/* The files as given, without the text of files that are too large (DIAGNOSE-1). NULL: no memory;
 * the diagnosis then has no files. */
static struct source_file *bounded(const struct diagnose_input *in)
{
    size_t left = DIAGNOSE_SOURCES_MAX;
    struct source_file *files = calloc(in->n_sources + 1, sizeof *files);
    for (size_t i = 0; files && i < in->n_sources; i++) {
        files[i] = in->sources[i];
        if (files[i].len > DIAGNOSE_SOURCE_MAX || files[i].len > left) {
            files[i].text = NULL;
            files[i].len = 0;
        }
        left -= files[i].len;
    }
    return files;
}

/* Parsers report something missing at the end of a file in a line behind it. The location becomes
 * the last line with code. */
static void stay_in_file(const struct diagnose_input *in, struct diagnosis *d)
{
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    struct piece rest = whole_source(f), line;
    uint32_t lines = 0, last = 0;
    while (next_line(&rest, &line)) {
        lines++;
        if (piece_trim(line).len > 0)
            last = lines;
    }
    if (last == 0 || d->location.line <= lines)
        return;
    d->location.line = last;
    d->location.column = d->location.end_column = 0;
}

bool diagnose(struct diagnoser *g, const struct diagnose_input *given, struct diagnosis *ret)
{
    autofree char *copy = NULL, *printed_copy = NULL, *clean_copy = NULL;
    autofree struct source_file *files = bounded(given);
    struct diagnose_input in = *given;
    struct diagnosis *d = ret;
    in.sources = files;
    in.n_sources = files ? in.n_sources : 0;
    *d = (struct diagnosis){ .verdict = in.verdict };
    if (in.evidence && in.verdict == VERDICT_OK)
        return false;
    struct piece text = both_ends(in.text, in.text ? in.len : 0, &copy);
    struct piece printed = both_ends(in.printed, in.printed ? in.printed_len : 0, &printed_copy);
    text = cleaned(g, text, !in.evidence, &clean_copy);
    in.text = text.at ? piece_bytes(text) : "";
    in.len = text.len;
    in.printed = piece_bytes(printed);
    in.printed_len = printed.len;
    const struct grammar *grammar = in.grammar ? grammar_find(in.grammar) : grammar_infer(g, &in);
    in.grammar = grammar ? grammar->name : NULL;
    bool read = grammar && grammar->read(g, &in, d);
    COPY(piece_of(in.language ? in.language
                  : grammar   ? grammar_language(grammar, d)
                              : ""),
         d->language);
    if (!read && !in.evidence)
        return false;
    locate_by_frames(d);
    stay_in_file(&in, d);
    system_read(g, &in, d, read);
    if (read && grammar->advise)
        grammar->advise(g, &in, d);
    system_advise(g, &in, d);
    make_excerpt(&in, d);
    suggestions_drop_idle(d, line_at(&in, d));
    suggestions_check(&in, d);
    return true;
}
