#include "injector/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/fdio.h"

/* Debian's place. A jar has the same file at the same place. */
#define BUNDLE "/etc/ssl/certs/ca-certificates.crt"
enum { BUNDLE_MAX = 8 << 20 };

static int read_bundle(struct buf *ret, struct err *e)
{
    autoclose int fd = open(BUNDLE, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_set(e, ERR_KERNEL, errno, "open %s", BUNDLE);
    return fd_read_to_buf(fd, BUNDLE_MAX, ret, e);
}

int machine_open(struct injector_machine *ret, struct err *e)
{
    static const unsigned char http[] = "\x08http/1.1";
    const char *own = getenv("SSL_CERT_FILE");
    const char *store = own && own[0] ? own : BUNDLE;
    if (read_bundle(&ret->bundle, e) || java_store_add(&ret->java, "machine", &ret->bundle, e))
        return -1;
    ret->outward = SSL_CTX_new(TLS_client_method());
    if (!ret->outward)
        return err_no_memory(e, "TLS");
    SSL_CTX *c = ret->outward;
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_options(c, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    (void)SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_alpn_protos(c, http, sizeof http - 1) != 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "prepare TLS");
    if (SSL_CTX_load_verify_file(c, store) != 1)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "secrets go to hosts with a verified certificate alone, and %s has no "
                       "authorities: install ca-certificates, or set SSL_CERT_FILE",
                       store);
    return 0;
}
