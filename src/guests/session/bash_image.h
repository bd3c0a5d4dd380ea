/* guests/session/bash_image.h — shared by guest-bash and the library that it preloads into bash. Runs
 * in: a jar. */
#pragma once

/* Numbers in bash. They are high, because programs use the low ones. */
enum { BASH_SCRIPT_FD = 60, BASH_CELL_FD = 61, BASH_STATUS_FD = 62 };
/* A byte of the script that begins a request of one line. */
enum { BASH_REQUEST = '\x01' };
/* Images of one shell that may be written at a time. */
enum { BASH_WRITERS_MAX = 16 };
/* Beside our program. */
#define BASH_IMAGE_LIBRARY "_belljar_image.so"
