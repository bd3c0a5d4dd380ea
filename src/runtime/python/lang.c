#include "runtime/language.h"

/* Unbuffered, so that a run that is killed keeps what it printed. No .pyc files: /sandbox holds what the program
 * made. */
extern const struct language language_python;
const struct language language_python = {
    .name = "python",
    .aliases = (const char *const[]){ "py", "python3", NULL },
    .extensions = (const char *const[]){ ".py", NULL },
    .main_file = "main.py",
    .command = (const char *const[]){ "/usr/bin/python3", FILE_ARGUMENT, NULL },
    .env = (const char *const[]){ "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1", NULL },
    .version = (const char *const[]){ "/usr/bin/python3", "--version", NULL },
    .install = "apt-get install python3",
    .hints = (const char *const[]){ "^import ", "^from ", "^def ", "^class ", "^print(", "^elif ",
                                    "^async def ", "^with ", "^try:", "^except", "^raise ",
                                    "^if __name__", "self.", " in range(", "^@", "^pass", "lambda ",
                                    NULL },
};
