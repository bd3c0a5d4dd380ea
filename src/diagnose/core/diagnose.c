/* From a text to a diagnosis: the grammar reads, the system adds the measurements, then both
 * advise. Runs in: keeper. */
#include "diagnose/core/diagnose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "diagnose/core/grammar.h"
#include "diagnose/tools/tools.h"

enum {
    MIDDLE_MAX = 8 << 20,    /* bytes of a long log that are searched for an error */
    MIDDLE_BEFORE = 4 << 10, /* bytes before it that are read, */
    MIDDLE_SEEN = 32 << 10,  /* and all bytes of that part */
};

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

/* Words with which the errors of most languages begin or end. */
static const char *const marks[] = { "\nTraceback (most recent call last)",
                                     ": error: ",
                                     "\nerror[E",
                                     "panicked at ",
                                     "\npanic: ",
                                     "\nException in thread ",
                                     "\nCaused by: ",
                                     ": error TS",
                                     "\n    at ",
                                     "Fatal error: ",
                                     "\nERROR: " };

/* The offset of the first mark of an error; text.len when it has none. */
static size_t first_mark(struct piece text)
{
    size_t first = text.len;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        size_t at = piece_find(piece_cut(text, first), marks[i]);
        first = at < first ? at : first;
    }
    return first;
}

/* A part of the middle of a long log: the lines around its first mark of an error. Empty when there
 * is none, or when the head or the tail of the log has one. */
static struct piece middle_of(struct piece text, size_t head, size_t tail)
{
    struct piece start = piece_cut(text, head), end = piece_skip(text, tail);
    struct piece between = piece_part(text, head,
                                      tail - head < MIDDLE_MAX ? tail - head : MIDDLE_MAX);
    size_t first = first_mark(between);
    if (first == between.len || first_mark(start) < start.len || first_mark(end) < end.len)
        return NO_PIECE;
    size_t from = first > MIDDLE_BEFORE ? first - MIDDLE_BEFORE : 0;
    return piece_part(between, from, MIDDLE_SEEN);
}

/* The first and the last part of the text, each with half of the bytes and half of the lines that
 * are read (DIAGNOSE-1). `middle`: and a part between them that has an error. */
static struct piece both_ends(const char *bytes, size_t len, bool middle, char **ret_copy)
{
    struct piece text = piece_in(bytes, len);
    size_t head = head_of(text, DIAGNOSE_TEXT_MAX / 2, DIAGNOSE_LINES_MAX / 2);
    size_t tail = tail_of(text, DIAGNOSE_TEXT_MAX / 2, DIAGNOSE_LINES_MAX / 2);
    if (!bytes || head >= tail)
        return text;
    struct piece parts[] = { piece_cut(text, head), middle ? middle_of(text, head, tail) : NO_PIECE,
                             piece_skip(text, tail) };
    size_t n = 0, size = 0;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        size += parts[i].len + 1;
    *ret_copy = malloc(size);
    if (!*ret_copy)
        return piece_in(bytes, head);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].len == 0)
            continue;
        memcpy(*ret_copy + n, piece_bytes(parts[i]), parts[i].len);
        n += parts[i].len;
        (*ret_copy)[n++] = '\n'; /* so that no line consists of two halves */
    }
    return piece_in(*ret_copy, n);
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

/* The grammar of the language reads the text. The language's tools and the report of a test runner
 * are tried when it finds nothing. */
static bool read_error(struct diagnoser *g, struct diagnose_input *in, struct diagnosis *d,
                       const struct grammar **ret_grammar)
{
    const char *language = in->grammar ? in->grammar : failed_tests_language(g, in);
    const struct grammar *grammar = language ? grammar_find(language) : grammar_infer(g, in);
    bool read = grammar && grammar->read(g, in, d);
    language = NULL;
    if (read) {
        failed_tests_add(g, in, d);
    } else if (!in->evidence || failed_by_itself(in)) {
        language = failed_tests_read(g, in, d);
        if (language)
            grammar = grammar_find(language);
        else if (!in->evidence && in->grammar)
            grammar = grammar_find("tools");
        read = language || (!in->evidence && in->grammar && grammar->read(g, in, d));
    }
    in->grammar = grammar ? grammar->name : NULL;
    COPY(piece_of(in->language ? in->language
                  : language   ? language
                  : grammar    ? grammar_language(grammar, d)
                               : ""),
         d->language);
    *ret_grammar = grammar;
    return read;
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
    struct piece text = both_ends(in.text, in.text ? in.len : 0, !in.evidence, &copy);
    struct piece printed = both_ends(in.printed, in.printed ? in.printed_len : 0, false,
                                     &printed_copy);
    text = cleaned(g, text, !in.evidence, &clean_copy);
    in.text = text.at ? piece_bytes(text) : "";
    in.len = text.len;
    in.printed = piece_bytes(printed);
    in.printed_len = printed.len;
    const struct grammar *grammar = NULL;
    bool read = read_error(g, &in, d, &grammar);
    if (!read && !in.evidence)
        return false;
    locate_by_frames(d);
    stay_in_file(&in, d);
    system_read(g, &in, d, read);
    values_read(&in, d);
    if (read && grammar->advise)
        grammar->advise(g, &in, d);
    system_advise(g, &in, d);
    make_excerpt(&in, d);
    suggestions_drop_idle(d, line_at(&in, d));
    suggestions_check(&in, d);
    return true;
}
