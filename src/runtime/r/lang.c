#include "runtime/language.h"

extern const struct language language_r;
const struct language language_r = {
    .name = "r",
    .aliases = (const char *const[]){ "rscript", NULL },
    .extensions = (const char *const[]){ ".r", NULL },
    .main_file = "main.R",
    .command = (const char *const[]){ "/usr/bin/Rscript", "--vanilla", FILE_ARGUMENT, NULL },
    .env = (const char *const[]){ NULL },
    .version = (const char *const[]){ "/usr/bin/Rscript", "--version", NULL },
    .install = "apt-get install r-base-core",
    .hints =
        (const char *const[]){
            "! <- ",    "!^library(", "!data.frame(", "!%>%",         "!function(x)",
            "!^cat(",   "!paste0(",   "!^summary(",   "!in seq_len",  "!in seq_along",
            "!sapply(", "!lapply(",   "!%*%",         "!<- function", "!^set.seed",
            "!^ggplot", "!^quit(",    "!ggsave",      "!<- c(",       "!aes(",
            " %in% ",   "!|>",        "!lm(",         "! = TRUE)",    NULL },
};
