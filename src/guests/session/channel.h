/* guests/session/channel.h — the program's end of the channel of a session. Runs in: a jar.
 *
 * A datagram is a frame: seq, request, type, flags (1: more frames of the message follow), then the
 * data. The data of a message are fields: tag, zero, length, bytes. All numbers are little
 * endian. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum channel_type {
    FRAME_EXEC = 1,
    FRAME_INPUT = 2,
    FRAME_COMPLETE = 3,
    FRAME_INSPECT = 4,
    FRAME_VARIABLES = 5,
    FRAME_END = 6,
    FRAME_IMAGE = 7,
    FRAME_BECOME = 8,
    FRAME_READY = 32,
    FRAME_DISPLAY = 33,
    FRAME_RESULT = 36,
    FRAME_ERROR = 37,
    FRAME_DONE = 39,
    FRAME_ANSWER = 40,
    FRAME_NOTE = 41,
};

enum channel_tag {
    TAG_CODE = 1,
    TAG_FLAGS = 2,
    TAG_TEXT = 3,
    TAG_CURSOR = 5,
    TAG_VERSION = 7,
    TAG_MIME = 9,
    TAG_DATA = 10,
    TAG_COUNT = 13,
    TAG_NAME = 14,
    TAG_MESSAGE = 15,
    TAG_TRACEBACK = 16,
    TAG_STATUS = 18,
    TAG_JSON = 19,
    TAG_CUT = 20,
    TAG_ROOM = 21,
    TAG_VALUES = 22,
};

enum { MESSAGE_FDS = 10 };

struct channel {
    int fd;
    uint32_t seq;
    unsigned count; /* of cells */
};

struct message {
    uint32_t request;
    uint16_t type;
    struct buf data;
    int fds[MESSAGE_FDS]; /* that came with it */
    size_t n_fds;
};
/* Closes its descriptors, too. */
void message_done(struct message *m);

/* Moves the channel away from descriptor 3 and makes a session of its own for signals. -1 if there
 * is no channel. */
[[nodiscard]] int channel_open(struct channel *c);
/* Waits for the next message. 1, or 0 if the host is gone or broke the protocol. */
int channel_read(struct channel *c, struct message *ret);

struct channel_handler {
    enum channel_type type;
    void (*handle)(void *context, const struct message *m);
};
/* Handles one message after another, to the end of the session. Exit status: 1 for a message that has
 * no handler. An INPUT that comes after its cell is dropped. */
int channel_serve(struct channel *c, const struct channel_handler *handlers, size_t n,
                  void *context);
/* The field, as text that ends with a NUL behind its n bytes; NULL if there is none. The caller
 * frees it. */
char *message_text(const struct message *m, enum channel_tag tag, size_t *ret_n);
/* True if FLAGS has the word. */
bool message_has_flag(const struct message *m, const char *word);
/* CURSOR, in code points, as an offset in bytes of the text; the end if there is none. */
size_t message_cursor(const struct message *m, const char *text, size_t n);

void field_add(struct buf *b, enum channel_tag tag, const void *bytes, size_t n);
void field_add_text(struct buf *b, enum channel_tag tag, const char *text);
/* Sends a message whole, after everything that was printed. */
void channel_send(struct channel *c, uint32_t request, enum channel_type type, const struct buf *b);
/* Messages with one field, or with the fields of their kind. */
void channel_note(struct channel *c, uint32_t request, const char *text);
void channel_error(struct channel *c, uint32_t request, const char *name, const char *message,
                   const char *traceback);
void channel_done(struct channel *c, uint32_t request, const char *status);
/* An answer in JSON, and the end of the request. */
void channel_answer(struct channel *c, uint32_t request, const struct buf *json);
