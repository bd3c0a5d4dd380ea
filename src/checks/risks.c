#include "checks/risks.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/text.h"

enum { PY = 1, JS = 2, SH = 4, ANY = 7 };

static const char network[] = "network", deletes[] = "file_deletion", spawns[] = "process",
                  dynamic[] = "dynamic_code";

/* FREE: a method counts, too (x.unlink). ALONE: a method does not count: re.compile is harmless,
 * compile is not. */
enum { ALONE, FREE };

static const struct risk_word {
    unsigned languages;
    const char *kind, *word;
    int place;
    const char *why;
} words[] = {
    { PY, network, "socket", ALONE, "opens network connections" },
    { PY, network, "requests", ALONE, "makes HTTP requests" },
    { PY, network, "urllib", ALONE, "makes HTTP requests" },
    { PY, network, "urllib3", ALONE, "makes HTTP requests" },
    { PY, network, "http.client", ALONE, "makes HTTP requests" },
    { PY, network, "http.server", ALONE, "serves HTTP" },
    { PY, network, "httpx", ALONE, "makes HTTP requests" },
    { PY, network, "aiohttp", ALONE, "makes HTTP requests" },
    { PY, network, "ftplib", ALONE, "transfers files over the network" },
    { PY, network, "smtplib", ALONE, "sends mail" },
    { PY, network, "paramiko", ALONE, "logs in to other machines" },
    { JS, network, "fetch", ALONE, "makes HTTP requests" },
    { JS, network, "XMLHttpRequest", ALONE, "makes HTTP requests" },
    { JS, network, "WebSocket", ALONE, "opens network connections" },
    { JS, network, "axios", ALONE, "makes HTTP requests" },
    { JS, network, "net.connect", ALONE, "opens network connections" },
    { JS, network, "net.createConnection", ALONE, "opens network connections" },
    { JS, network, "net.createServer", ALONE, "listens on the network" },
    { JS, network, "http.request", ALONE, "makes HTTP requests" },
    { JS, network, "http.get", ALONE, "makes HTTP requests" },
    { JS, network, "https.request", ALONE, "makes HTTP requests" },
    { JS, network, "https.get", ALONE, "makes HTTP requests" },
    { JS, network, "dgram", ALONE, "sends datagrams" },
    { SH | PY, network, "curl", ALONE, "transfers data over the network" },
    { SH | PY, network, "wget", ALONE, "downloads from the network" },
    { SH, network, "nc", ALONE, "opens network connections" },
    { SH, network, "ncat", ALONE, "opens network connections" },
    { SH, network, "ssh", ALONE, "logs in to other machines" },
    { SH, network, "scp", ALONE, "copies files to other machines" },
    { SH, network, "rsync", ALONE, "copies files, to other machines too" },
    { ANY, network, "/dev/tcp", ALONE, "opens network connections" },
    { ANY, network, "/dev/udp", ALONE, "sends datagrams" },
    { PY, deletes, "os.remove", ALONE, "deletes a file" },
    { PY, deletes, "os.unlink", ALONE, "deletes a file" },
    { PY, deletes, "os.rmdir", ALONE, "deletes a directory" },
    { PY, deletes, "os.removedirs", ALONE, "deletes directories" },
    { PY, deletes, "rmtree", FREE, "deletes a directory with everything in it" },
    { PY, deletes, ".unlink", FREE, "deletes a file" },
    { PY, deletes, ".rmdir", FREE, "deletes a directory" },
    { PY, deletes, "truncate", FREE, "cuts a file's content off" },
    { JS, deletes, "unlink", FREE, "deletes a file" },
    { JS, deletes, "unlinkSync", FREE, "deletes a file" },
    { JS, deletes, "rmSync", FREE, "deletes files and directories" },
    { JS, deletes, "rmdir", FREE, "deletes a directory" },
    { JS, deletes, "rmdirSync", FREE, "deletes a directory" },
    { JS, deletes, "fs.rm", ALONE, "deletes files and directories" },
    { JS, deletes, "truncateSync", FREE, "cuts a file's content off" },
    { SH, deletes, "rm", ALONE, "deletes files" },
    { SH, deletes, "rmdir", ALONE, "deletes a directory" },
    { SH, deletes, "unlink", ALONE, "deletes a file" },
    { SH, deletes, "shred", ALONE, "overwrites and deletes files" },
    { SH, deletes, "truncate", ALONE, "cuts a file's content off" },
    { SH, deletes, "-delete", ALONE, "deletes the files that find finds" },
    { SH, deletes, "mkfs", ALONE, "makes a new file system" },
    { SH, deletes, "dd", ALONE, "writes over files and devices" },
    { PY | JS, deletes, "rm -", ALONE, "deletes files" },
    { PY, spawns, "subprocess", ALONE, "starts other programs" },
    { PY, spawns, "os.system", ALONE, "runs a shell command" },
    { PY, spawns, "popen", FREE, "runs a shell command" },
    { PY, spawns, "os.fork", ALONE, "starts another process" },
    { PY, spawns, "os.spawn*", ALONE, "starts another program" },
    { PY, spawns, "os.exec*", ALONE, "becomes another program" },
    { PY, spawns, "posix_spawn", FREE, "starts another program" },
    { PY, spawns, "multiprocessing", ALONE, "starts other processes" },
    { PY, spawns, "pty.spawn", ALONE, "starts another program in a terminal" },
    { JS, spawns, "child_process", ALONE, "starts other programs" },
    { JS, spawns, "spawn", FREE, "starts another program" },
    { JS, spawns, "spawnSync", FREE, "starts another program" },
    { JS, spawns, "execSync", FREE, "runs a shell command" },
    { JS, spawns, "execFile", FREE, "starts another program" },
    { JS, spawns, "cluster.fork", ALONE, "starts other processes" },
    { JS, spawns, "worker_threads", ALONE, "starts threads" },
    { SH, spawns, "xargs", ALONE, "starts a program for each of many inputs" },
    { SH, spawns, "nohup", ALONE, "leaves a process behind" },
    { SH, spawns, "setsid", ALONE, "leaves a process behind" },
    { SH, spawns, "sudo", ALONE, "asks for another user's rights" },
    { ANY, spawns, "bash -c", ALONE, "runs text as a shell command" },
    { ANY, spawns, "sh -c", ALONE, "runs text as a shell command" },
    { ANY, dynamic, "eval", ALONE, "runs text as code" },
    { PY, dynamic, "exec", ALONE, "runs text as code" },
    { PY, dynamic, "compile", ALONE, "makes code of text" },
    { PY, dynamic, "__import__", ALONE, "imports a module by a name in a variable" },
    { PY, dynamic, "importlib", ALONE, "imports a module by a name in a variable" },
    { PY, dynamic, "pickle.load*", ALONE, "loads objects that can run code" },
    { PY, dynamic, "marshal.loads", ALONE, "loads compiled code" },
    { PY, dynamic, "ctypes", ALONE, "calls functions of the system directly" },
    { JS, dynamic, "Function", ALONE, "makes code of text" },
    { JS, dynamic, "vm.run*", ALONE, "runs text as code" },
    { SH, dynamic, "base64 -d", ALONE, "decodes text that may be hidden code" },
    { SH, dynamic, "base64 --decode", ALONE, "decodes text that may be hidden code" },
    { SH, dynamic, "source", ALONE, "runs another file as code" },
    { SH, dynamic, "| sh", ALONE, "runs its input as shell code" },
    { SH, dynamic, "| bash", ALONE, "runs its input as shell code" },
};

static unsigned language_bit(const char *language)
{
    static const struct {
        const char *name;
        unsigned bit;
    } rows[] = { { "python", PY }, { "javascript", JS }, { "typescript", JS }, { "bash", SH } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].name, language) == 0)
            return rows[i].bit;
    return ANY;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Whether the word is at line[at]. "os.exec*" matches any continuation. */
static bool word_matches(const struct risk_word *w, const char *line, size_t n, size_t at)
{
    size_t len = strlen(w->word);
    bool open_end = w->word[len - 1] == '*';
    len -= open_end;
    if (n - at < len || memcmp(line + at, w->word, len) != 0)
        return false;
    if (at > 0 && in_word(w->word[0]) && in_word(line[at - 1]))
        return false;
    if (at > 0 && w->place == ALONE && in_word(w->word[0]) && line[at - 1] == '.')
        return false;
    return open_end || !in_word(w->word[len - 1]) || at + len == n || !in_word(line[at + len]);
}

/* The start of a comment in this line. Quotes are tracked only within the line; a mistake can only
 * show too much. */
static size_t comment_start(unsigned bit, const char *line, size_t n)
{
    char quote = '\0';
    for (size_t i = 0; i < n; i++) {
        char c = line[i];
        if (quote) {
            if (c == '\\')
                i++;
            else if (c == quote)
                quote = '\0';
        } else if (c == '"' || c == '\'' || c == '`') {
            quote = c;
        } else {
            bool slashes = bit == JS && c == '/' && i + 1 < n && line[i + 1] == '/';
            bool hash = (bit == PY || bit == SH) && c == '#' &&
                        (i == 0 || isspace((unsigned char)line[i - 1]));
            if (slashes || hash)
                return i;
        }
    }
    return n;
}

static json_t *excerpt(const char *line, size_t n)
{
    scoped(buf) text = { 0 };
    struct err e;
    while (n > 0 && isspace((unsigned char)*line))
        line++, n--;
    if (n > RISK_EXCERPT_MAX) {
        n = RISK_EXCERPT_MAX;
        while (n > 0 && ((unsigned char)line[n] & 0xC0) == 0x80)
            n--;
    }
    while (n > 0 && isspace((unsigned char)line[n - 1]))
        n--;
    if (text_add_utf8(&text, line, n, &e))
        return NULL;
    return json_stringn(buf_str(&text), text.len);
}

/* The longest word at this place: "urllib3" is not also "urllib". */
static const struct risk_word *word_at(unsigned bit, const char *line, size_t n, size_t at)
{
    const struct risk_word *best = NULL;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if ((words[i].languages & bit) && words[i].word[0] == line[at] &&
            word_matches(&words[i], line, n, at) &&
            (!best || strlen(words[i].word) > strlen(best->word)))
            best = &words[i];
    return best;
}

static int scan_line(json_t *list, unsigned bit, int number, const char *line, size_t n)
{
    size_t code = comment_start(bit, line, n);
    for (size_t at = 0; at < code && json_array_size(list) < RISKS_MAX;) {
        bool inside = at > 0 && in_word(line[at]) && in_word(line[at - 1]);
        const struct risk_word *w = inside ? NULL : word_at(bit, line, code, at);
        if (!w) {
            at++;
            continue;
        }
        json_t *o = json_pack("{s:s, s:i, s:i, s:o, s:s}", "kind", w->kind, "line", number,
                              "column", (int)at + 1, "excerpt", excerpt(line, n), "why", w->why);
        if (!o || json_array_append_new(list, o))
            return -1;
        at += strlen(w->word);
    }
    return 0;
}

json_t *risks_find(const char *language, const char *code, size_t len)
{
    json_t *list = json_array();
    unsigned bit = language_bit(language);
    int number = 1;
    size_t look = len < RISK_SCAN_MAX ? len : RISK_SCAN_MAX;
    for (size_t at = 0; list && at < look && json_array_size(list) < RISKS_MAX; number++) {
        const char *newline = memchr(code + at, '\n', look - at);
        size_t end = newline ? (size_t)(newline - code) : look;
        if (scan_line(list, bit, number, code + at, end - at)) {
            json_decref(list);
            return NULL;
        }
        at = end + 1;
    }
    if (list && look < len)
        (void)json_array_append_new(
            list, json_pack("{s:s, s:i, s:i, s:s, s:s}", "kind", "not_looked_at", "line", number,
                            "column", 1, "excerpt", "", "why", "only the first 1 MiB was scanned"));
    return list;
}
