/* runtime/lua/lang.c — the declaration of lua; see runtime/language.h. Pure data. */
#include "runtime/language.h"

extern const struct language language_lua;
const struct language language_lua = {
    .name = "lua",
    .aliases = NO_WORDS,
    .extensions = WORDS(".lua"),
    .main_file = "main.lua",
    /* Unbuffered, so that a killed run keeps its output. */
    .command = WORDS("/usr/bin/lua", "-e", "io.stdout:setvbuf('no')", FILE_ARGUMENT),
    .env = NO_WORDS,
    .version = WORDS("/usr/bin/lua", "-v"),
    .install = "apt-get install lua5.4",
    .prompts = WORDS("> ", ">> "),
    .hints = WORDS(
        "!^local ", "!^local function", "^function ", "!function M", "!~ then", "!ipairs(",
        "!pairs(", "! .. ", "\"..", "..\"", "..'", "!setmetatable", "!getmetatable", "!__index",
        "!__tostring", "!__add", "!__call", "!io.write", "!io.read", "!io.lines", "!io.open",
        "!io.stderr", "!table.", "!^elseif ", "!pcall(", "!error({", "!nil then", " nil", "nil",
        "!coroutine.", "!tonumber(", "!tostring(", "!^for i = ", "!^for i=", "!^for j = ",
        "!^for n = ", "!^for _, ", "!^for k, v in", "!^for i, v in", "! do print", "!^repeat",
        "!|repeat", "^until ", "!os.exit", "!os.time", "!os.clock", "!os.date", "!then return",
        "!then print", "!string.format(", "!string.gmatch(", "!string.rep(", "!string.sub(",
        "!string.upper(", "!string.lower(", "!string.len(", "!string.find(", "!string.match(",
        "!string.gsub(", "!string.reverse(", "!string.byte(", "!string.char(", "!math.floor(",
        "!math.random(", "!math.huge", "!math.max(", "math.", "!:gsub(", "!:sub(", "!:upper(",
        "!:lower(", "!:len()", "!:format(", "!:rep(", "!:match(", "!:gmatch(", "!:find(",
        "!:close()", "!:read(", "!:write(", "!:lines()", "!:byte(", "!:reverse()", "self.",
        "!:new(", "!= #", "!(#", "!do return", "^print(", "~ do", "~ end", "!~ end)", " end",
        "!|end", "!^end)", "!^end,", "! ~= ", " not ", "unpack(", "!loadstring", "function(", "|--",
        "-~;", "-~:", "-~) {", "-; then", "-; do", "-|fi", "-|done", "-def ", "-^class ", "-puts",
        "-console.", "-do |", "-elsif", "-.each", "-=> ", "-^WHERE", "-import ", "-elif", "-.nil?",
        "-#include", "-^#", "-::", "-^begin", "-in range(", "-this.", "-self,", "-unless",
        "-local -", "-require '", "-rescue", "-if [", "-^$", "-=\"$", "-=$", "-^const ", "-^let ",
        "-^var ", "-in 1:", "-^echo ", "-^SELECT", "-^INSERT", "-^CREATE", "!) end"),
};
