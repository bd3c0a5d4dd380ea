/* The files of a request: {name: text | {content, encoding, executable, run_only}} or
 * [{name, content, encoding, executable, run_only}]. */
#include <string.h>

#include "api/kernel/fields.h"
#include "base/text.h"
#include "spec/bundle.h"

const char *const content_encodings[] = { "utf-8", "base64", NULL };

/* clang-format off */
#define FILE_FIELDS                                                                            \
    { .name = "content", .type = FIELD_DATA, .required = true, .help = "content of the file",  \
      .also = "data,text,body,contents" },                                                     \
    { .name = "encoding", .type = FIELD_STRING, .one_of = content_encodings,                   \
      .help = "encoding of content; utf-8 by default" },                                       \
    { .name = "executable", .type = FIELD_BOOL, .help = "true gives the file mode 0755" },     \
    { .name = "run_only", .type = FIELD_BOOL,                                                  \
      .help = "true: the program gets the file, and its compiler does not" }
/* clang-format on */
static const struct api_field content_fields[] = {
    FILE_FIELDS,
    { 0 },
};
static const struct api_field item_fields[] = {
    { .name = "name",
      .type = FIELD_STRING,
      .required = true,
      .help = "path below /sandbox",
      .also = "path,filename,file_name" },
    FILE_FIELDS,
    { 0 },
};

int content_decode(const json_t *content, const char *encoding, struct buf *b, struct err *e)
{
    const char *text = json_string_value(content);
    size_t n = json_string_length(content);
    if (encoding && strcmp(encoding, "base64") == 0)
        return text_base64_decode(text, n, b, e);
    return buf_add(b, text, n, e);
}

static int name_check(const char *name, size_t n, const struct field_path *path, struct err *e)
{
    if (bundle_name_check(name, n, e))
        return err_wrap(e, "%s", path->text);
    return 0;
}

/* Against the table of a file. The error begins with the path of the file. */
static int entry_check(const json_t *entry, const struct api_field *fields, bool lenient,
                       struct field_path *path, struct err *e)
{
    char below[sizeof path->text];
    if (!api_validate(entry, fields, lenient, below, sizeof below, e))
        return 0;
    (void)err_wrap(e, "%s", path->text);
    if (below[0] != '\0')
        (void)field_path_push(path, below);
    return -1;
}

static int map_check(const json_t *files, bool lenient, struct field_path *path, struct err *e)
{
    char shown[120];
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)files, name, v) /* jansson's macro takes no const */
    {
        size_t before = field_path_push(path, name);
        if (name_check(name, strlen(name), path, e))
            return -1;
        if (json_is_object(v)) {
            if (entry_check(v, content_fields, lenient, path, e))
                return -1;
        } else if (!json_is_string(v)) {
            return err_set(
                e, ERR_BAD_REQUEST, 0,
                "%s must be text, or {\"content\", \"encoding\", \"executable\"}, not %s",
                path->text, json_describe(v, shown, sizeof shown));
        }
        field_path_pop(path, before);
    }
    return 0;
}

static int list_check(const json_t *files, bool lenient, struct field_path *path, struct err *e)
{
    json_auto_t *seen = json_object();
    char shown[120];
    size_t i;
    json_t *v;
    json_array_foreach(files, i, v) {
        size_t before = field_path_push_index(path, i);
        if (!json_is_object(v))
            return err_set(e, ERR_BAD_REQUEST, 0, "%s must be {\"name\", \"content\"}, not %s",
                           path->text, json_describe(v, shown, sizeof shown));
        if (entry_check(v, item_fields, lenient, path, e))
            return -1;
        const char *name = json_string_value(json_object_get(v, "name"));
        (void)field_path_push(path, "name");
        if (name_check(name, strlen(name), path, e))
            return -1;
        if (json_object_get(seen, name))
            return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' is the name of an earlier file",
                           path->text, text_quote(name, shown, sizeof shown));
        if (json_object_set_new(seen, name, json_true()))
            return err_no_memory(e, "the names of the files");
        field_path_pop(path, before);
    }
    return 0;
}

int files_validate(const json_t *files, bool lenient, struct field_path *path, struct err *e)
{
    char shown[120];
    if (!json_is_object(files) && !json_is_array(files))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s must be an object of names and texts, or a list of "
                       "{\"name\", \"content\", \"encoding\", \"executable\"}, not %s",
                       path->text, json_describe(files, shown, sizeof shown));
    size_t n = json_is_object(files) ? json_object_size(files) : json_array_size(files);
    if (n > BUNDLE_FILES_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s has %zu files; up to %d are accepted", path->text,
                       n, BUNDLE_FILES_MAX);
    return json_is_object(files) ? map_check(files, lenient, path, e)
                                 : list_check(files, lenient, path, e);
}
