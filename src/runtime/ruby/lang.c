#include "runtime/language.h"

extern const struct language language_ruby;
const struct language language_ruby = {
    .name = "ruby",
    .aliases = (const char *const[]){ "rb", NULL },
    .extensions = (const char *const[]){ ".rb", NULL },
    .main_file = "main.rb",
    /* The file has nothing wait in a buffer, so that a run that is killed keeps what it printed. */
    .command = (const char *const[]){ "/usr/bin/ruby", "-r{guest}/ruby/flush.rb", FILE_ARGUMENT,
                                      NULL },
    .env = (const char *const[]){ NULL },
    .version = (const char *const[]){ "/usr/bin/ruby", "--version", NULL },
    .install = "apt-get install ruby",
    .hints =
        (const char *const[]){
            "^puts ",   "!^puts \"",      "!^puts '",    "!^require '", "!^require_relative ",
            "!^attr_",  "!do |",          "!{ |",        "!.nil?",      "!^elsif ",
            "!#{",      "^unless ",       "^module ",    "!^def self.", "!^def initialize",
            "^def ",    "!^rescue",       "!^ensure",    "!.times",     "!&:",
            "!.chomp",  "!STDIN.",        "!Struct.new", " unless ",    "^begin",
            "^class ",  "!=> e",          "!= gets",     "!.each do",   "!.each_",
            "!.new do", "! = Struct.new", "^gets",       "!|end",       "!^end.",
            NULL },
};
