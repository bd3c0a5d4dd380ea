/* session/frame.h — the frames between a session and its program, on a socket of packets.
 * Runs in: keeper; pure functions.
 *
 * A frame is one packet: u32 seq, u32 request, u16 type, u16 flags, then data, all little endian.
 * A message is the data of one frame, or of several if FRAME_MORE is set on all but the last. It is
 * a list of fields: u16 tag, u16 zero, u32 length, bytes.
 *
 * Invariants
 * FRAME-1 Every frame that we read was written by a guest. A length is compared with the bytes that
 *         are there before it is used, and no byte is read beyond them.
 * FRAME-2 A message of a program has at most MESSAGE_IN_MAX bytes, in any number of frames. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum {
    FRAME_HEAD = 12,
    FRAME_DATA_MAX = 32768,
    FRAME_MAX = FRAME_HEAD + FRAME_DATA_MAX,
    MESSAGE_IN_MAX = 2 << 20,
    MESSAGE_OUT_MAX = 8 << 20,
    FRAME_MORE = 1,
};

enum frame_type {
    FRAME_EXEC = 1,
    FRAME_INPUT,
    FRAME_COMPLETE,
    FRAME_INSPECT,
    FRAME_VARIABLES,
    FRAME_END,
    FRAME_IMAGE, /* with descriptors: the file of the image, a pipe for the report; earlier images */
    FRAME_BECOME, /* with descriptors: the image; earlier images that it needs */
    FRAME_HELPER, /* with a descriptor: the socket of a helper for processes and files */
    FRAME_READY = 32,
    FRAME_DISPLAY,
    FRAME_UPDATE,
    FRAME_CLEAR,
    FRAME_RESULT,
    FRAME_ERROR,
    FRAME_INPUT_REQUEST,
    FRAME_DONE,
    FRAME_ANSWER,
    FRAME_NOTE,
    /* Only in a journal: the keeper writes it where displays were dropped. */
    FRAME_CUT = 64,
};

enum frame_tag {
    TAG_CODE = 1,
    TAG_FLAGS,
    TAG_TEXT,
    TAG_EOF,
    TAG_CURSOR,
    TAG_DETAIL,
    TAG_VERSION,
    TAG_DISPLAY_ID,
    TAG_MIME,
    TAG_DATA,
    TAG_METADATA,
    TAG_WAIT,
    TAG_COUNT,
    TAG_NAME,
    TAG_MESSAGE,
    TAG_TRACEBACK,
    TAG_PASSWORD,
    TAG_STATUS,
    TAG_JSON,
    TAG_CUT,
    TAG_ROOM,
    TAG_VALUES,
};

struct session_frame {
    uint32_t seq, request;
    uint16_t type, flags;
    const char *data; /* inside the packet */
    size_t n;
};
/* Of a packet of n bytes. */
[[nodiscard]] int frame_read(const void *packet, size_t n, struct session_frame *ret,
                             struct err *e);
/* True if a session program may send frames of this type. */
bool frame_from_program(uint16_t type);
void frame_write_head(char head[FRAME_HEAD], const struct session_frame *f);

struct frame_field {
    uint16_t tag;
    const char *bytes; /* inside the data */
    size_t n;
};
/* The field at *at, which moves on. 1 with a field, 0 at the end of the data, -1 if a field does not
 * fit into it. */
[[nodiscard]] int frame_next_field(const char *data, size_t n, size_t *at, struct frame_field *ret);
/* The first field with this tag; false if there is none. */
bool frame_find_field(const struct buf *data, enum frame_tag tag, struct frame_field *ret);
bool frame_field_is(const struct frame_field *f, const char *word);
/* A decimal number of a guest, of up to nine digits; 0 if it is something else. */
unsigned frame_number(const struct buf *data, enum frame_tag tag);
/* The text of the field replaces that of `to`; without the field, or without a text in it, `to` stays. */
void frame_keep_field(const struct buf *data, enum frame_tag tag, struct buf *to);
[[nodiscard]] int frame_add_field(struct buf *data, enum frame_tag tag, const void *bytes, size_t n,
                                  struct err *e);

/* A message while its frames arrive. */
struct frame_message {
    uint32_t request;
    uint16_t type;
    bool open; /* more frames of it follow */
    struct buf data;
};
void frame_message_done(struct frame_message *m);
/* Adds a frame; *ret_whole: the message is complete. The first frame after a complete message
 * begins a new one. ERR_PROTOCOL if the frame belongs to another message, or the message is too
 * large. */
[[nodiscard]] int frame_message_add(struct frame_message *m, const struct session_frame *f,
                                    bool *ret_whole, struct err *e);
