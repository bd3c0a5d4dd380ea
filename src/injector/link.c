#include "injector/link.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"

enum step { STEP_DONE, STEP_WAITS, STEP_ENDED, STEP_BROKEN };

static void side_done(struct side *s)
{
    SSL_free(s->tls);
    s->tls = NULL;
    fd_close(&s->fd);
}

void link_free(struct link *l)
{
    if (!l)
        return;
    side_done(&l->guest);
    side_done(&l->host);
    rewrite_done(&l->rewrite);
    if (l->to_host.data)
        explicit_bzero(l->to_host.data, l->to_host.cap);
    buf_done(&l->to_host);
    explicit_bzero(l, sizeof *l);
    free(l);
}

struct link *link_new(uint32_t id, int guest_fd, SSL_CTX *to_guest, int host_fd, SSL_CTX *to_host,
                      const struct rewrite *rewrite)
{
    struct link *l = calloc(1, sizeof *l);
    if (!l) {
        (void)close(guest_fd);
        (void)close(host_fd);
        return NULL;
    }
    l->id = id;
    l->rewrite = *rewrite;
    l->guest = (struct side){ .link = l, .fd = guest_fd, .tls = SSL_new(to_guest) };
    l->host = (struct side){ .link = l, .fd = host_fd, .tls = SSL_new(to_host) };
    if (!l->guest.tls || !l->host.tls || SSL_set_fd(l->guest.tls, guest_fd) != 1 ||
        SSL_set_fd(l->host.tls, host_fd) != 1 || SSL_set1_host(l->host.tls, rewrite->host) != 1 ||
        SSL_set_tlsext_host_name(l->host.tls, rewrite->host) != 1) {
        link_free(l);
        return NULL;
    }
    SSL_set_hostflags(l->host.tls, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set_accept_state(l->guest.tls);
    SSL_set_connect_state(l->host.tls);
    return l;
}

static enum step judge(struct side *s, int rc)
{
    s->wants_write = false;
    if (rc > 0)
        return STEP_DONE;
    switch (SSL_get_error(s->tls, rc)) {
    case SSL_ERROR_WANT_READ:
        return STEP_WAITS;
    case SSL_ERROR_WANT_WRITE:
        s->wants_write = true;
        return STEP_WAITS;
    case SSL_ERROR_ZERO_RETURN:
        return STEP_ENDED;
    default:
        return STEP_BROKEN;
    }
}

/* ---- the beginning ---- */

static bool agree(struct side *s, enum step *ret)
{
    ERR_clear_error();
    *ret = judge(s, SSL_do_handshake(s->tls));
    s->agreed = *ret == STEP_DONE;
    return s->agreed;
}

/* The porter resets the connection; until then its end is waited for. */
static void fail(struct link *l, enum network_outcome outcome, link_report *report, void *context)
{
    l->closing = true;
    fd_close(&l->host.fd);
    report(context, l, outcome, true);
}

/* True: both sides have agreed. */
static bool begin(struct link *l, link_report *report, void *context)
{
    enum step step;
    if (!l->host.agreed && !agree(&l->host, &step)) {
        if (step != STEP_WAITS)
            fail(l,
                 SSL_get_verify_result(l->host.tls) != X509_V_OK ? NETWORK_BAD_CERTIFICATE
                                                                 : NETWORK_TLS_FAILED,
                 report, context);
        return false;
    }
    if (!l->guest.agreed && !agree(&l->guest, &step)) {
        if (step != STEP_WAITS)
            fail(l, NETWORK_TLS_FAILED, report, context);
        return false;
    }
    return true;
}

/* ---- from the guest to the host ---- */

/* An answer of ours fits only where no answer of the host is on its way. */
static void refuse_guest(struct link *l, const struct refusal *why, link_report *report,
                         void *context)
{
    char detail[sizeof why->detail + 2];
    l->refused = true;
    report(context, l, NETWORK_BAD_REQUEST, l->rewrite.requests > 0);
    if (l->rewrite.requests > 0) {
        l->closing = true;
        return;
    }
    int len = snprintf(detail, sizeof detail, "%s\n", why->detail);
    int n = snprintf(l->to_guest, sizeof l->to_guest,
                     "HTTP/1.1 %d Refused by belljar\r\nContent-Type: text/plain\r\n"
                     "Content-Length: %d\r\nConnection: close\r\n\r\n%s",
                     why->status, len, detail);
    l->n_guest = (size_t)n;
    l->host.ended = true;
}

static bool read_guest(struct link *l, link_report *report, void *context)
{
    static char bytes[LINK_BYTES];
    struct refusal why;
    if (l->to_host.len > 0 || l->guest.ended || l->refused)
        return false;
    ERR_clear_error();
    int n = SSL_read(l->guest.tls, bytes, sizeof bytes);
    enum step step = judge(&l->guest, n);
    if (step == STEP_WAITS)
        return false;
    if (step == STEP_BROKEN) { /* also an end without a word, which is no half of TLS */
        l->over = true;
        return false;
    }
    if (step == STEP_ENDED) {
        l->guest.ended = true;
        l->guest.cut = !rewrite_is_between(&l->rewrite);
        return true;
    }
    if (rewrite_feed(&l->rewrite, bytes, (size_t)n, &l->to_host, &why))
        refuse_guest(l, &why, report, context);
    explicit_bzero(bytes, (size_t)n);
    return true;
}

static bool write_host(struct link *l)
{
    if (l->to_host.len == 0) {
        /* The end of the guest. A request that was cut must not look like a whole one. */
        if (l->guest.ended && !l->told_host_end && !l->host.ended) {
            l->told_host_end = true;
            if (!l->guest.cut)
                (void)SSL_shutdown(l->host.tls);
            (void)shutdown(l->host.fd, SHUT_WR);
        }
        return false;
    }
    ERR_clear_error();
    int n = SSL_write(l->host.tls, l->to_host.data + l->at_host,
                      (int)(l->to_host.len - l->at_host));
    enum step step = judge(&l->host, n);
    if (step == STEP_WAITS)
        return false;
    if (step == STEP_DONE)
        l->at_host += (size_t)n;
    else
        l->host.ended = l->host.cut = true;
    if (step != STEP_DONE || l->at_host == l->to_host.len) {
        explicit_bzero(l->to_host.data, l->to_host.len);
        l->to_host.len = l->at_host = 0;
    }
    return true;
}

/* ---- from the host to the guest ---- */

static bool read_host(struct link *l)
{
    if (l->n_guest > 0 || l->host.ended)
        return false;
    ERR_clear_error();
    int n = SSL_read(l->host.tls, l->to_guest, sizeof l->to_guest);
    enum step step = judge(&l->host, n);
    if (step == STEP_WAITS)
        return false;
    if (step == STEP_DONE) {
        l->n_guest = (size_t)n;
    } else {
        l->host.ended = true;
        l->host.cut = step == STEP_BROKEN;
    }
    return true;
}

static bool write_guest(struct link *l)
{
    if (l->n_guest == 0) {
        if (l->host.ended && !l->closing) {
            l->closing = true;
            if (!l->host.cut)
                (void)SSL_shutdown(l->guest.tls);
            (void)shutdown(l->guest.fd, SHUT_WR);
            fd_close(&l->host.fd);
        }
        return false;
    }
    ERR_clear_error();
    int n = SSL_write(l->guest.tls, l->to_guest + l->at_guest, (int)(l->n_guest - l->at_guest));
    enum step step = judge(&l->guest, n);
    if (step == STEP_WAITS)
        return false;
    if (step != STEP_DONE) {
        l->over = true;
        return false;
    }
    l->at_guest += (size_t)n;
    if (l->at_guest == l->n_guest)
        l->n_guest = l->at_guest = 0;
    return true;
}

/* ---- both ---- */

/* The bytes that a guest sends after the end mean nothing. */
static void await_end(struct link *l)
{
    char bytes[4096];
    ssize_t n;
    do
        n = recv(l->guest.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    while (n > 0);
    l->over = l->over || n == 0 || (errno != EAGAIN && errno != EINTR);
}

void link_drive(struct link *l, link_report *report, void *context)
{
    bool moved = true;
    while (moved && !l->over && !l->closing && begin(l, report, context)) {
        moved = read_guest(l, report, context);
        moved = (!l->closing && write_host(l)) || moved;
        moved = (!l->closing && read_host(l)) || moved;
        moved = (!l->closing && write_guest(l)) || moved;
    }
    if (l->closing && !l->over)
        await_end(l);
}

uint32_t link_events(const struct link *l, const struct side *s)
{
    bool is_host = s == &l->host, reads;
    if (s->fd < 0)
        return 0;
    if (l->closing)
        return is_host ? 0 : EPOLLIN;
    if (!l->host.agreed)
        reads = is_host;
    else if (!s->agreed)
        reads = true;
    else if (is_host)
        reads = !s->ended && l->n_guest == 0;
    else
        reads = !s->ended && !l->refused && l->to_host.len == 0;
    return (reads ? EPOLLIN : 0u) | (s->wants_write ? EPOLLOUT : 0u);
}
