/* cli/repl/link.h — records between main, which has the terminal and the files of the caller, and
 * the talker, which speaks to the service. Runs in: both. `belljar kernel` uses it too: its main has
 * the sockets of Jupyter, and its forwarder (jupyter/forwarder.h) speaks to the service.
 *
 * LINK-1 A record of the talker is a stranger's text for main: main shows it, stores it under a name
 *        that the caller chose or that main made, and believes no size or position in it. */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define LINK_TABLE(X)                                                           \
    /* from main */                                                             \
    X(ASK_EXEC)       /* code */                                                \
    X(ASK_COMPLETE)   /* cursor in characters as decimal text, newline, code */ \
    X(ASK_INSPECT)    /* code */                                                \
    X(ASK_VARIABLES)                                                            \
    X(ASK_LIMITS)                                                               \
    X(ASK_NOTEBOOK)                                                             \
    X(ASK_FILES)                                                                \
    X(ASK_FILE_GET)    /* path */                                               \
    X(ASK_FILE_PUT)    /* path, newline, bytes */                               \
    X(ASK_FILE_REMOVE) /* path */                                               \
    X(ASK_RESTART)                                                              \
    X(ASK_TRAVEL)     /* the name of a command (travel.h), newline, its words */ \
    X(ASK_INTERRUPT)  /* during ASK_EXEC */                                     \
    X(ASK_INPUT)      /* a line, during ASK_EXEC */                             \
    X(ASK_INPUT_END)                                                            \
    X(ASK_REQUEST)    /* of Jupyter: its type, newline, its content */          \
    X(ASK_CONNECTED)  /* a descriptor; without one, the reason */               \
    /* from the talker */                                                       \
    X(TELL_DONE)      /* the question is answered; with text: a cell failed */  \
    X(TELL_OVER)      /* the session is gone; a sentence, perhaps empty */      \
    X(TELL_PROMPT)    /* the cell wants a line: the prompt */                   \
    X(TELL_PASSWORD)  /* the same, not to be shown */                           \
    X(TELL_MATCHES)   /* from, to, and then each completion: lines */           \
    X(TELL_FILE)      /* for the caller */                                      \
    X(TELL_IMAGE)     /* the end of its name, newline, its bytes */             \
    X(TELL_CONNECT)   /* main is to connect to the service: ASK_CONNECTED */    \
    X(TELL_REPLY)     /* to Jupyter: "ok" or "error", newline, the content */   \
    X(TELL_PUBLISH)   /* to Jupyter: the type, newline, the content */          \
    X(TELL_INPUT)     /* to Jupyter: the content of an input_request */

enum link_type {
#define X(id) id,
    LINK_TABLE(X)
#undef X
        LINK_COUNT_
};

enum { LINK_MAX = 64 << 20 };

[[nodiscard]] int link_send(int fd, enum link_type type, const void *bytes, size_t n,
                            struct err *e);
/* Waits for a record. ERR_UNAVAILABLE: the other side is gone. */
[[nodiscard]] int link_receive(int fd, enum link_type *ret_type, struct buf *ret, struct err *e);

/* The same with a descriptor, which is -1 if there is none. */
[[nodiscard]] int link_send_fd(int fd, enum link_type type, const void *bytes, size_t n, int passed,
                               struct err *e);
[[nodiscard]] int link_receive_fd(int fd, enum link_type *ret_type, struct buf *ret, int *ret_fd,
                                  struct err *e);
