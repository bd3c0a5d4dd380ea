/* Rules for causes that stand elsewhere than the error: the line that gave a name its value, the
 * function that is called too early, the class that has one name twice. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"
#include "diagnose/python_causes.words.h" /* generated */

static bool advised(const struct advice *a)
{
    return a->d->n_suggestions > 0;
}

/* ---- where a value comes from ---- */

static void on_tuple(const struct advice *a)
{
    (void)py_say_comma(a);
}

static void on_nothing_left(const struct advice *a)
{
    if (a->message.len == 0 && !piece_is(a->type, "StopIteration"))
        return;
    (void)py_say_used_up(a);
}

/* Arithmetic and comparisons need numbers, but `+` of text and `%` of a text may be meant as they are. */
static void on_text_as_number(const struct advice *a)
{
    bool joins = match(a->g, "^unsupported operand type\\(s\\) for \\+=?: 'str'", a->message,
                       &(struct match){ 0 });
    if (advised(a) || joins ||
        (starts_with(a->message, "unsupported") && !piece_has(a->message, "'str'")) ||
        match(a->g, "\\b(?:sorted|sum|max|min)\\(|\\.sort\\(", a->line, &(struct match){ 0 }))
        return;
    (void)py_say_text_origin(a, 11);
}

/* "text" + 5 may join or calculate: only a text that is a number by its source was meant to calculate. */
static void on_text_joined(const struct advice *a)
{
    if (!match(a->g, "[\"'] ?\\+|\\+ ?f?[\"']", a->line, &(struct match){ 0 }))
        (void)py_say_text_origin(a, 11);
}

static void on_multiplied(const struct advice *a)
{
    if (py_say_comma(a))
        return;
    if (piece_is(a->m.group[0], "str") || !py_say_division(a, 11))
        (void)py_say_text_origin(a, 11);
}

static void on_whole_number(const struct advice *a)
{
    if (piece_is(a->m.group[0], "float"))
        (void)(!match(a->g, "[\\w)\\]] ?/ ?[\\w(]", a->line, &(struct match){ 0 }) &&
               py_say_division(a, 11));
    else if (!piece_has(a->line, "sleep("))
        (void)py_say_text_origin(a, 11);
}

static void on_position(const struct advice *a)
{
    struct match m;
    if (advised(a) || match(a->g, "[\\w)\\]] ?/ ?[\\w(]", a->line, &m))
        return;
    if (!py_say_division(a, 11) && starts_with(a->message, "slice"))
        (void)py_say_text_origin(a, 11);
}

static void on_islice(const struct advice *a)
{
    struct match m;
    if (match(a->g, "^([^/'\"]*[\\w)\\]] ?)/( ?[\\w(][^/'\"]*)$", a->line, &m)) {
        suggest(a->d, 11, 0.93,
                "islice() takes whole numbers, and `/` gives a float: divide with `//`.");
        suggest_replacement(a->d, "%.*s//%.*s", P(m.group[0]), P(m.group[1]));
    } else if (!py_say_division(a, 11) && !py_say_text_origin(a, 11)) {
        suggest(a->d, 11, 0.9,
                "islice() takes positions that are whole numbers from 0 on, or None: convert them "
                "with int(...), and divide with `//`; negative positions need a list.");
    }
}

static void on_many(const struct advice *a)
{
    (void)py_say_list_origin(a, 13);
}

/* ---- a call in place of a function ---- */

/* Functions that make functions. */
static bool makes_function(const struct advice *a, struct piece name)
{
    struct piece head, line;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    if (piece_among(piece_last_part(name), function_makers))
        return true;
    if (!py_defined(a, piece_last_part(name), &head, &number, &f))
        return false;
    for (uint32_t i = number + 1; i < number + LINES_NEAR; i++) {
        line = source_line(f, i);
        if (!line.at ||
            (piece_trim(line).len > 0 && indent_of(line) <= indent_of(source_line(f, number))))
            return false;
        if (match(a->g, "^\\s+(?:async )?def |\\breturn lambda\\b|^\\s*def __call__", line, &m))
            return true;
    }
    return false;
}

/* The line calls a function where the function itself is wanted. */
static bool calls_too_early(const struct advice *a, uint32_t number)
{
    static const char *const forms[] = {
        "\\b(submit|map|imap|imap_unordered|starmap|apply_async|map_async|filter|reduce|partial|"
        "register|add_done_callback|to_thread|call_soon|defaultdict)"
        "\\(\\s*([A-Za-z_][\\w.]*)\\(([^()]*)\\)()",
        "\\b(Timer|after|call_later|call_at|run_in_executor|signal)"
        "\\([^,()]+,\\s*([A-Za-z_][\\w.]*)\\(([^()]*)\\)()",
        "\\b((?:target|key|command|callback|default_factory|side_effect|initializer|func|object_"
        "hook|"
        "error_callback|cmp))=\\s*([A-Za-z_][\\w.]*)\\(([^()]*)\\)()",
    };
    struct piece line = source_line(a->file, number);
    struct match m;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (!match(a->g, forms[i], line, &m) || makes_function(a, m.group[1]))
            continue;
        bool named = i == 2,
             passes = piece_is(m.group[0], "submit") || piece_is(m.group[0], "register") ||
                      piece_is(m.group[0], "to_thread") || piece_is(m.group[0], "call_soon");
        char fixed[160] = "";
        if (piece_is(m.group[0], "target") && m.group[2].len > 0)
            (void)snprintf(fixed, sizeof fixed, "target=%.*s, args=(%.*s,)", P(m.group[1]),
                           P(m.group[2]));
        else if (named)
            (void)snprintf(fixed, sizeof fixed, "%.*s=%.*s", P(m.group[0]), P(m.group[1]));
        else if (passes && m.group[2].len > 0)
            (void)snprintf(fixed, sizeof fixed, "%.*s(%.*s, %.*s)", P(m.group[0]), P(m.group[1]),
                           P(m.group[2]));
        else
            (void)snprintf(fixed, sizeof fixed, "%.*s(%s%.*s%s)", P(m.group[0]),
                           i == 1 ? "..., " : "", P(m.group[1]),
                           i == 1 || piece_is(m.group[0], "defaultdict") ? "" : ", ...");
        suggest(a->d, 12, 0.94,
                "%.*s%s takes the function itself, and line %u calls %.*s() and passes its result: "
                "write it without parentheses, %s.",
                P(m.group[0]), named ? "=" : "()", number, P(m.group[1]), fixed);
        if (number == a->d->location.line && (named || passes)) {
            char old[240];
            (void)snprintf(old, sizeof old, "%.*s%s%.*s(%.*s)%s", P(m.group[0]), named ? "=" : "(",
                           P(m.group[1]), P(m.group[2]), named ? "" : ")");
            (void)suggest_swap(a->in, a->d, piece_of(old), fixed);
        }
        return true;
    }
    return false;
}

/* The line of the class in which the line stands; 0 when it is in none. */
static uint32_t class_above(const struct advice *a, uint32_t number)
{
    struct match m;
    size_t indent = indent_of(source_line(a->file, number));
    for (uint32_t i = number; i > 0 && i + 16 * LINES_NEAR > number; i--) {
        struct piece line = source_line(a->file, i);
        if (indent_of(line) < indent && match(a->g, "^\\s*class \\w", line, &m))
            return i;
    }
    return 0;
}

/* One name is a method of a class and an attribute that a method of it sets. */
static bool is_hidden_method(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    uint32_t method = 0, set = 0;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (match(a->g, "^\\s+(?:async )?def (\\w+)", line, &m) && piece_same(m.group[0], name))
            method = i;
        else if (match(a->g, "^\\s+self\\.(\\w+)\\s*(?::[^=]+)?=[^=]", line, &m) &&
                 piece_same(m.group[0], name))
            set = set ? set : i;
    }
    if (!method || !set || piece_has(source_line(a->file, method - 1), "property") ||
        class_above(a, method) != class_above(a, set))
        return false;
    suggest(a->d, 12, 0.95,
            "'%.*s' is a method (line %u) and an attribute: line %u stores a value under the same "
            "name, which hides the method. Rename one of them, self._%.*s for example.",
            P(name), method, set, P(name));
    return true;
}

/* A built-in name that a parameter or a loop of this function takes. */
static bool is_hidden_builtin(const struct advice *a, struct piece name)
{
    struct py_scope scope = py_scope_of(a, a->d->location.line);
    struct match m;
    if (!piece_among(name, py_builtins))
        return false;
    if (match(a->g, "\\((.*)\\)", scope.head, &m) && has_word(m.group[0], name) &&
        starts_with(scope.head, "def")) {
        suggest(
            a->d, 12, 0.95,
            "The parameter '%.*s' of %.*s() (line %u) hides the built-in %.*s(): give it another "
            "name.",
            P(name), P(scope.name), scope.line, P(name));
        return true;
    }
    uint32_t loop = py_line_with(a, "\\bfor (\\w+) in\\b", name);
    loop = loop ? loop : py_line_with(a, "\\bas (\\w+)\\s*:", name);
    if (!loop || !py_can_see(a, loop) || loop > a->d->location.line)
        return false;
    suggest(a->d, 12, 0.95,
            "Line %u gives the name '%.*s' a value and so hides the built-in %.*s(): use another "
            "name there.",
            loop, P(name), P(name));
    return true;
}

static void on_called(const struct advice *a)
{
    enum { LINES_BEFORE = 24 };
    uint32_t at = a->d->location.line;
    struct match m;
    bool library = py_in_library(a);
    if (calls_too_early(a, at))
        return;
    if (!library &&
        match(a->g, "\\.(shape|size|ndim|dtype|columns|values|T|index)(\\(\\s*\\))", a->line, &m)) {
        suggest(a->d, 12, 0.94, "'%.*s' is an attribute: it is read without brackets.",
                P(m.group[0]));
        char old[40], now[40];
        (void)snprintf(old, sizeof old, ".%.*s%.*s", P(m.group[0]), P(piece_cut(m.group[1], 8)));
        (void)snprintf(now, sizeof now, ".%.*s", P(m.group[0]));
        (void)suggest_swap(a->in, a->d, piece_of(old), now);
        return;
    }
    for (uint32_t i = at; library && i-- > 1 && i + LINES_BEFORE > at;)
        if (calls_too_early(a, i))
            return;
    if (library) {
        suggest(a->d, 12, 0.7,
                "A function of a library got a value where it calls a function: pass the function "
                "itself, without brackets behind its name.");
        return;
    }
    for (struct piece rest = a->line;
         rest.len > 0 && match(a->g, "(\\.?)([A-Za-z_]\\w*)\\(", rest, &m);
         rest = piece_after(rest, m.all))
        if (m.group[0].len ? is_hidden_method(a, m.group[1]) : is_hidden_builtin(a, m.group[1]))
            return;
}

/* ---- parameters ---- */

static void on_special_method(const struct advice *a)
{
    struct piece name = a->m.group[0];
    const char *list = text_for(special_methods, name);
    char called[64], def[64];
    (void)snprintf(called, sizeof called, "__%.*s__(", P(piece_cut(name, 40)));
    (void)snprintf(def, sizeof def, "__%.*s__", P(piece_cut(name, 40)));
    if (!list || piece_has(a->line, called))
        return;
    uint32_t number = py_line_with(a, "^\\s*(?:async )?def (\\w+)", piece_of(def));
    char at[40] = "";
    if (number)
        (void)snprintf(at, sizeof at, ", and line %u has others", number);
    suggest(a->d, 10, 0.95, "Python calls %s with its own arguments%s: write `def %s(%s):`.", def,
            at, def, list);
}

static void on_address(const struct advice *a)
{
    struct match m;
    char old[200], now[200];
    suggest(
        a->d, 10, 0.95,
        "%.*s() takes one address, a tuple of the host and the port: put both in brackets of their "
        "own, %.*s((host, port)).",
        P(a->m.group[0]), P(a->m.group[0]));
    if (!match(a->g, "\\.(bind|connect|connect_ex)\\(([^()]*,[^()]*)\\)", a->line, &m))
        return;
    (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(m.all, 190)));
    (void)snprintf(now, sizeof now, ".%.*s((%.*s))", P(m.group[0]), P(m.group[1]));
    (void)suggest_swap(a->in, a->d, piece_of(old), now);
}

static void on_shape(const struct advice *a)
{
    struct match m;
    char old[200], now[200];
    if (!match(
            a->g,
            "\\b(zeros|ones|empty)\\(\\s*(\\w[\\w.]*\\s*,\\s*\\w[\\w.]*(?:\\s*,\\s*\\d+)*)\\s*\\)",
            a->line, &m))
        return;
    suggest(a->d, 10, 0.95,
            "The shape is one argument, a tuple: put the sizes in brackets of their own, "
            "np.%.*s((%.*s)). The second argument is the type.",
            P(m.group[0]), P(m.group[1]));
    (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(m.all, 190)));
    (void)snprintf(now, sizeof now, "%.*s((%.*s))", P(m.group[0]), P(m.group[1]));
    (void)suggest_swap(a->in, a->d, piece_of(old), now);
}

static void on_sizes(const struct advice *a)
{
    struct match m;
    if (advised(a))
        return;
    if (match(a->g, "\\b(rand|randn)\\(", a->line, &m))
        suggest(a->d, 10, 0.94,
                "%.*s() takes the sizes one by one: np.random.%.*s(2, 3), without "
                "the inner brackets.",
                P(m.group[0]), P(m.group[0]));
    else if (match(a->g, "\\brange\\(\\s*([\\w.]+\\.shape)\\s*\\)", a->line, &m))
        suggest(a->d, 10, 0.94,
                "range() takes one number, and a shape has several: %.*s[0] is the "
                "number of rows.",
                P(m.group[0]));
}

static void on_prefixes(const struct advice *a)
{
    struct match m;
    char old[200], now[200];
    if (!match(a->g,
               "\\.(startswith|endswith)\\(((?:[\"'][^\"']*[\"']\\s*,\\s*)+[\"'][^\"']*[\"'])\\)",
               a->line, &m))
        return;
    suggest(a->d, 11, 0.95,
            "%.*s() takes one text or one tuple of texts: put them in brackets of their own. The "
            "second argument is a position.",
            P(m.group[0]));
    (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(m.all, 190)));
    (void)snprintf(now, sizeof now, ".%.*s((%.*s))", P(m.group[0]), P(m.group[1]));
    (void)suggest_swap(a->in, a->d, piece_of(old), now);
}

/* ---- data ---- */

/* The bytes of a format of struct without padding; 0 when it is not known. */
static size_t packed_size(struct piece format)
{
    static const char letters[] = "xcbB?sphHeiIlLfqQd", sizes[] = "111111122244444888";
    size_t all = 0, count = 0;
    bool counted = false;
    for (size_t i = 0; i < format.len; i++) {
        char c = piece_byte(format, i);
        const char *known = c ? strchr(letters, c) : NULL;
        if (c == ' ')
            continue;
        if (c >= '0' && c <= '9') {
            count = count * 10 + (size_t)(c - '0');
            counted = true;
            if (count > 1 << 20)
                return 0;
            continue;
        }
        if (!known)
            return 0;
        all += (counted ? count : 1) * (size_t)(sizes[known - letters] - '0');
        count = 0;
        counted = false;
    }
    return all;
}

static void on_layout(const struct advice *a)
{
    struct match m;
    struct piece needs = a->m.group[0];
    const struct value *data = value_of(a->d, py_name_of_type(a, "bytes"));
    uint64_t size = data && data->sized ? data->size : 0;
    if (!match(a->g, "\\b(?:unpack|unpack_from|Struct)\\(\\s*[rbf]?[\"']([^\"']+)[\"']", a->line,
               &m))
        return;
    struct piece format = m.group[0];
    bool native = !strchr("<>!=", piece_byte(format, 0));
    size_t packed = native ? packed_size(format) : 0;
    if (packed == 0 || packed == piece_number(needs) || (size && size != packed)) {
        if (size)
            suggest(
                a->d, 14, 0.93,
                "The format '%.*s' needs %.*s bytes, and '%s' has %llu: check how many bytes were "
                "read, and the letters of the format.",
                P(format), P(needs), data->name, (unsigned long long)size);
        return;
    }
    struct piece source = text_of_source(a->file);
    char order = piece_has(source, "big") || piece_has(source, "network") ? '>' : '<';
    char fixed[64];
    (void)snprintf(fixed, sizeof fixed, "%c%.*s", order, P(piece_cut(format, 50)));
    suggest(
        a->d, 14, 0.94,
        "Without a byte order the format '%.*s' has the alignment of the machine, whose padding "
        "makes %.*s bytes of it: with '<' (little-endian) or '>' (big-endian, network) before it "
        "there is no padding, and it has %zu bytes.",
        P(format), P(needs), packed);
    if (size == packed)
        (void)suggest_swap(a->in, a->d, format, fixed);
}

/* execute(sql, (value)) and execute(sql, value): brackets alone make no tuple. */
static void on_bindings(const struct advice *a)
{
    struct match m;
    char old[160], now[160];
    if (match(a->g, "\\bexecutemany\\(", a->line, &m)) {
        suggest(a->d, 10, 0.93,
                "executemany() takes a list of tuples, one for each row: [(value,) for value in "
                "values] makes a tuple of each value.");
        return;
    }
    if (match(a->g, ",\\s*(\\(\\s*([^(),]+?)\\s*\\))\\s*\\)", a->line, &m)) {
        (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(m.group[0], 150)));
        (void)snprintf(now, sizeof now, "(%.*s,)", P(piece_cut(m.group[1], 140)));
    } else if (match(a->g, "\\bexecute\\(.*,\\s*([A-Za-z_][\\w.]*|[\"'][^\"']*[\"']|\\d+)\\s*\\)",
                     a->line, &m)) {
        const struct value *v = value_of(a->d, m.group[0]);
        struct piece value;
        uint32_t number;
        struct piece before = piece_cut(a->line, piece_offset(a->line, m.group[0]));
        if (match(a->g, ",\\s*[(\\[][^()\"']*$", before, &m))
            return; /* the last value of a tuple that is written out */
        (void)match(a->g, "\\bexecute\\(.*,\\s*([A-Za-z_][\\w.]*|[\"'][^\"']*[\"']|\\d+)\\s*\\)",
                    a->line, &m);
        bool one = v ? value_is(v, "str") || value_is(v, "int") || value_is(v, "float")
                     : !(py_assigned(a, m.group[0], &value, &number) && py_items(value) >= 0 &&
                         !starts_with(value, "\"") && !starts_with(value, "'"));
        if (!one)
            return;
        (void)snprintf(old, sizeof old, ", %.*s)", P(piece_cut(m.group[0], 140)));
        (void)snprintf(now, sizeof now, ", (%.*s,))", P(piece_cut(m.group[0], 140)));
    } else {
        return;
    }
    suggest(a->d, 10, 0.95,
            "The values for the ? are a tuple, and a comma makes a tuple of one value: (value,). "
            "Without it a text counts as one value for each letter.");
    (void)suggest_swap(a->in, a->d, piece_of(old), now);
}

/* The corrected call: C(x) becomes C[x]. */
static void offer_by_name(const struct advice *a, struct piece class)
{
    char call[80];
    long depth = 0;
    (void)snprintf(call, sizeof call, "%.*s(", P(piece_cut(class, 70)));
    size_t from = piece_find(a->line, call) + class.len;
    for (size_t i = from; i < a->line.len; i++) {
        char c = piece_byte(a->line, i);
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth == 0) {
            suggest_replacement(a->d, "%.*s[%.*s]%.*s", P(piece_cut(a->line, from)),
                                P(piece_part(a->line, from + 1, i - from - 1)),
                                P(piece_skip(a->line, i + 1)));
            return;
        }
    }
}

static void on_enum_value(const struct advice *a)
{
    struct piece wanted = a->m.group[0], class = a->m.group[1], head, bare = wanted;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    char values[200] = "";
    size_t used = 0, n = 0;
    if (!py_defined(a, class, &head, &number, &f) ||
        !match(a->g, "^class \\w+\\((?:.*\\b)?(?:Int|Str)?(?:Enum|Flag)\\b", head, &m))
        return;
    bool text = shown_text(wanted, &bare);
    for (uint32_t i = number + 1; i < number + LINES_NEAR; i++) {
        struct piece line = source_line(f, i), own;
        if (!line.at || (piece_trim(line).len > 0 && indent_of(line) == 0))
            break;
        if (!match(a->g, "^\\s+([A-Za-z]\\w*)\\s*=\\s*([^=#]*[^=#\\s])", line, &m))
            continue;
        own = m.group[1];
        bool quoted = match(a->g, "^[\"'](.*)[\"']$", own, &(struct match){ 0 });
        struct piece inner = quoted ? piece_part(own, 1, own.len - 2) : own;
        char name[64], asked[64], value[64];
        COPY(m.group[0], name);
        COPY(bare, asked);
        COPY(inner, value);
        if (text && strcasecmp(value, asked) == 0) {
            suggest(a->d, 0, 0.95,
                    quoted
                        ? "The value of %.*s.%s is %.*s: capital letters count. Convert the text "
                          "first, "
                          ".lower() for example."
                        : "The value of %.*s.%s is the number %.*s, and this is text: convert it "
                          "first, int(...).",
                    P(class), name, P(own));
            return;
        }
        if (text && strcasecmp(name, asked) == 0) {
            suggest(a->d, 0, 0.95,
                    "'%.*s' is the name of a member, and %.*s(...) takes a value (%.*s): "
                    "%.*s['%s'], with "
                    "square brackets, finds a member by its name.",
                    P(bare), P(class), P(own), P(class), name);
            if (piece_is(bare, name))
                offer_by_name(a, class);
            return;
        }
        if (n < 6 && used + own.len + 4 < sizeof values)
            used += (size_t)snprintf(values + used, sizeof values - used, "%s%.*s", n++ ? ", " : "",
                                     P(own));
    }
    if (n > 0)
        suggest(a->d, 0, 0.9, "%.*s has no member with the value %.*s: its values are %s.",
                P(class), P(wanted), values);
}

/* `x = {}` makes a dict, and a method of a set or list is called. */
static void on_empty_braces(const struct advice *a)
{
    struct piece method = a->m.group[0], value;
    uint32_t number;
    struct match m;
    if (!match(a->g, "([A-Za-z_][\\w.]*)\\.(\\w+)\\(", a->line, &m) ||
        !piece_same(m.group[1], method) || !py_assigned(a, m.group[0], &value, &number) ||
        !match(a->g, "^\\{\\s*\\}\\s*(?:#.*)?$", value, &(struct match){ 0 }))
        return;
    bool list = piece_is(method, "append") || piece_is(method, "extend") ||
                piece_is(method, "insert");
    suggest(a->d, 5, 0.95,
            "{} in line %u makes an empty dict, which has no %.*s(): %s makes an empty %s.", number,
            P(method), list ? "[]" : "set()", list ? "list" : "set");
}

/* Labels of a table are kept when its rows are selected or sorted. */
static void on_label(const struct advice *a)
{
    struct match m;
    bool pandas = py_passed_through(a, "pandas/");
    if (pandas && match(a->g, "\\b([A-Za-z_]\\w*)\\[\\s*-?\\w+\\s*\\]", a->line, &m) &&
        !piece_has(a->line, ".loc[") && !piece_has(a->line, ".at[")) {
        suggest(a->d, 8, 0.92,
                "No label of '%.*s' is %.*s: a number in square brackets is a label here, and "
                "labels are "
                "kept when rows are selected. %.*s.iloc[%.*s] takes an item by its position.",
                P(m.group[0]), P(a->m.group[0]), P(m.group[0]), P(a->m.group[0]));
        return;
    }
    if (!pandas || !match(a->g, "([A-Za-z_]\\w*)\\.(loc|at)\\[\\s*(-?\\w+)", a->line, &m))
        return;
    bool loc = piece_is(m.group[1], "loc");
    suggest(
        a->d, 8, 0.94,
        "%.*s takes labels, and no row of '%.*s' has the label %.*s: rows keep their labels when "
        "they are selected or sorted. %s takes positions, 0 for the first row; "
        "reset_index(drop=True) numbers the rows again.",
        P(m.group[1]), P(m.group[0]), P(a->m.group[0]), loc ? "iloc" : "iat");
    (void)suggest_swap(a->in, a->d, m.group[1], loc ? "iloc" : "iat");
}

/* The lists of a table that is made of lists of different lengths. */
static void on_columns(const struct advice *a)
{
    struct piece value, first = NO_PIECE;
    uint32_t number;
    long items = -1, of_first = -1;
    char lengths[200] = "";
    size_t used = 0;
    bool differ = false;
    for (uint32_t i = a->d->location.line; i < a->d->location.line + 2 * BLANKS_NEAR; i++) {
        struct piece line = source_line(a->file, i);
        struct match m;
        for (struct piece rest = line;
             rest.len > 0 &&
             match(a->g, "[\"'](\\w+)[\"']\\s*:\\s*(\\[[^\\[\\]]*\\]|[A-Za-z_][\\w.]*)", rest, &m);
             rest = piece_after(rest, m.all)) {
            struct piece name = m.group[1];
            items = starts_with(name, "[")                  ? py_items(name)
                    : py_assigned(a, name, &value, &number) ? py_items(piece_trim(value))
                                                            : -1;
            const struct value *told = value_of(a->d, name);
            if (told && told->sized)
                items = (long)told->size;
            if (items < 0)
                continue;
            if (!first.at) {
                first = m.group[0];
                of_first = items;
            }
            differ = differ || items != of_first;
            if (used + m.group[0].len + 40 < sizeof lengths)
                used += (size_t)snprintf(lengths + used, sizeof lengths - used, "%s'%.*s' %ld",
                                         used ? ", " : "", P(m.group[0]), items);
        }
        if (match(a->g, "^\\s*\\}?\\s*\\)|\\)\\s*$", line, &m))
            break;
    }
    if (differ)
        suggest(a->d, 0, 0.94,
                "The columns differ in length (%s): each needs the same number of items. Add the "
                "missing "
                "items, or remove the others.",
                lengths);
}

static bool is_own_class(const struct advice *a, struct piece type)
{
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    return py_defined(a, type, &head, &number, &f);
}

static void on_future(const struct advice *a)
{
    if (!advised(a) && !is_own_class(a, piece_last_part(a->m.group[0])))
        suggest(a->d, 12, 0.94,
                "The value is a future or a task, and not yet its result: `await task` gives the "
                "result in "
                "asyncio, future.result() in other code.");
}

static void on_queue(const struct advice *a)
{
    if (!is_own_class(a, PIECE("Queue")))
        suggest(
            a->d, 12, 0.93,
            "A queue has no length and no items by position: get() takes the next item, qsize() "
            "counts, `while not q.empty():` goes through it.");
}

/* re.findall() gives texts, not matches. */
static void on_found_text(const struct advice *a)
{
    if (piece_has(text_of_source(a->file), "findall("))
        suggest(a->d, 5, 0.94,
                "findall() gives the texts themselves, without .%.*s(): use the text, or "
                "re.finditer(), "
                "which gives matches.",
                P(a->m.group[0]));
}

/* Text that was read, or the name of a file, where an open file is meant. */
static void on_read_text(const struct advice *a)
{
    struct match m;
    struct piece value;
    uint32_t number;
    if (!match(a->g, "\\b([A-Za-z_][\\w.]*)\\.(read|readline|readlines)\\(", a->line, &m) ||
        !piece_same(m.group[1], a->m.group[0]) || !py_assigned(a, m.group[0], &value, &number))
        return;
    if (match(a->g, "\\.read(?:_text)?\\(\\s*\\)\\s*$", value, &(struct match){ 0 }))
        suggest(a->d, 5, 0.94,
                "'%.*s' is the text of the file since line %u: use it directly; %.*s.splitlines() "
                "gives "
                "its lines.",
                P(m.group[0]), number, P(m.group[0]));
    else if (match(a->g, "^[rf]?[\"']", value, &(struct match){ 0 }))
        suggest(a->d, 5, 0.93,
                "'%.*s' is a text (line %u), not a file: open(%.*s) opens the file of "
                "that name.",
                P(m.group[0]), number, P(m.group[0]));
}

/* `for f in os.walk(...)`, and other loops that give tuples. */
static void on_walk(const struct advice *a)
{
    struct match m;
    static const char *const forms[][2] = {
        { "\\bfor (\\w+) in os\\.walk\\(",
          "os.walk() gives a tuple for each directory: `for folder, "
          "folders, files in os.walk(path):`" },
        { "\\bfor (\\w+) in enumerate\\(",
          "enumerate() gives pairs: `for i, item in enumerate(items):`" },
        { "\\bfor (\\w+) in [\\w.]+\\.items\\(",
          "items() gives pairs: `for key, value in x.items():`" },
        { "\\bfor (\\w+) in zip\\(", "zip() gives tuples: `for a, b in zip(x, y):`" },
        { "\\bfor (\\w+) in [\\w.]+\\.iterrows\\(", "iterrows() gives pairs: `for index, row in "
                                                    "df.iterrows():`" },
        { "\\bfor (\\w+) in [\\w.]+\\.groupby\\(", "groupby() gives pairs: `for name, group in "
                                                   "df.groupby(...):`" },
    };
    if (advised(a))
        return;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (line_above_with(a, forms[i][0], &m) && has_word(a->line, m.group[0])) {
            suggest(a->d, 5, 0.93, "%s.", forms[i][1]);
            return;
        }
}

static void on_tuple_attribute(const struct advice *a)
{
    if (!py_say_comma(a))
        on_walk(a);
}

/* row["name"] of sqlite3, of a named tuple, or of another tuple with names. */
static void on_row_name(const struct advice *a)
{
    struct piece source = text_of_source(a->file), container = py_container(a), value;
    uint32_t number;
    struct match m;
    if (advised(a))
        return;
    on_walk(a);
    if (advised(a))
        return;
    bool assigned = container.at && py_assigned(a, container, &value, &number);
    if (assigned && match(a->g, "\\burl(?:parse|split)\\(", value, &m))
        suggest(a->d, 12, 0.94,
                "The parts of an address are attributes: write %.*s.netloc, %.*s.path...",
                P(container), P(container));
    else if (piece_has(source, "namedtuple") || piece_has(source, "NamedTuple"))
        suggest(a->d, 12, 0.93,
                "The fields of a named tuple are attributes: write x.name in place of "
                "x[\"name\"].");
    else if (piece_has(source, "sqlite3") && !piece_has(source, "row_factory"))
        suggest(a->d, 12, 0.94,
                "A row of sqlite3 is a tuple, row[0], row[1]: connection.row_factory = sqlite3.Row "
                "makes "
                "rows with names.");
}

#include "diagnose/python_causes.rules.h" /* generated */
