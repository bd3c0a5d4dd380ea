/* runtime/ruby/lang.c — the declaration of ruby; see runtime/language.h. Pure data. */
#include "runtime/language.h"

DECLARE_LANGUAGE(ruby) = {
    NAMED("ruby", "main.rb", WORDS(".rb"), WORDS("rb")),
    /* flush.rb unbuffers stdout, so that a killed run keeps its output, and answers SIGURG. */
    .command = WORDS("/usr/bin/ruby", "-r{guest}/ruby/flush.rb", FILE_ARGUMENT),
    .whereabouts = true,
    .values_command = WORDS("/usr/bin/ruby", "-r{guest}/ruby/flush.rb", "-r{guest}/ruby/values.rb",
                            FILE_ARGUMENT),
    .env = NO_WORDS,
    .version = WORDS("/usr/bin/ruby", "--version"),
    .install = "apt-get install ruby",
    .prompts = WORDS("!irb(main):#:#> ", "irb(main):#:#* ", "!irb(main):#> ", "irb(main):#* "),
    .session_names = WORDS("irb"),
    .hints = WORDS(
        "^puts ", "!^puts \"", "!^puts '", "^p ", "!^pp ", "^print ", "!^require '", "!^require \"",
        "!^require_relative ", "^include ", "^extend ", "!^attr_", "!do |", "!{ |", "!{|", "!.nil?",
        "!.empty?", "!.even?", "!.odd?", "!.zero?", "!.include?", "!.any?", "!.all?", "!.key?",
        "!.is_a?", "!.respond_to?", "!^elsif ", "!#{", "^unless ", "!^until ", "!^module ",
        "^when ", "!^loop do", "!^def self.", "!^def initialize", "^def ", "!^rescue", "!^ensure",
        "!^begin", "^class ", "!.times", "!.upto(", "!.downto(", ".step(", "!&:", "!.chomp",
        "!.to_i", "!.to_s", "!.to_a", "!.to_f", "!.to_h", "!.to_sym", "!.map {", "!.map do",
        "!.select {", ".select(", ".reject", ".inject", "!.each_", ".each ", "!.each do",
        "!.each {", "!.sort_by", "!.group_by", "!.max_by", "!.min_by", "!.with_index", "!.upcase",
        "!.downcase", "!.capitalize", ".reverse", ".inspect", ".freeze", ".sum", "!.tally",
        "!STDIN.", "!$stdin", "!$stdout", "!STDOUT.", "!ARGV", "!= gets", "!gets.", "^gets",
        "!Struct.new", "!Hash.new", "!Array.new", "!Set.new", "!Class.new", "!.new do", ".new(",
        ".new", " unless ", "!=> e", "!%w[", "!%w(", "!%i[", "!@@", "!&block", "!|end", "!^end.",
        "!^end ", "!|begin", " then", "!=begin", "raise ", "yield", "|#", "-~:", "-~;", "-~) {",
        "-self,", "-^local ", "-my $", "-std::", "-cout", "-^import ", "-^from ", "-console.",
        "-=> {", "-^const ", "-^let ", "-^var ", "-^echo ", "-; do", "-|fi", "-|done", "-^print(",
        "-elif", "-=> $", "-^#include", "-System.", "-^public ", "-@Override", "-ipairs",
        "-nil then", "!^puts(", "puts(", ".map", "^@", "||= ", "!^@", "! = @", ".join(", "!puts ",
        "- .. ", "!nil?", "!.each do |", "!each_with_index", "!.push(", "!require 'set'"),
};
