# Checks files of Ruby and executes no line of them: does each parse, and which files and gems are missing here.
#
#     ruby check.rb FILE...
#
# Prints entries of the report of src/checks/report.c.
require 'ripper'

HANDLED = %w[LoadError StandardError ScriptError Exception].freeze

def tell(step, status, name, text)
  name = name.b[0, 255]
  text = text.b[0, 32_768]
  $stdout.binmode.write("check ruby #{step} ruby #{status} #{name.bytesize} #{text.bytesize}\n".b, name, "\n", text, "\n")
end

# Every word of a tree: the names of the exceptions that a rescue takes.
def words(tree)
  return [] unless tree.is_a?(Array)
  return [tree[1]] if tree[0].is_a?(Symbol) && tree[0].start_with?('@')

  tree.flat_map { |part| words(part) }
end

# The text of a literal without interpolation.
def literal(tree)
  return nil unless tree.is_a?(Array)
  return tree[1] if tree[0] == :@tstring_content
  return nil if tree[0] == :string_embexpr

  found = tree.filter_map { |part| literal(part) }
  found.size == 1 ? found[0] : nil
end

# Yields [word, name, line] of each `require "x"` and `require_relative "x"` that the program needs. One in a block that
# rescues its failure is not needed.
def requires(tree, &block)
  return unless tree.is_a?(Array)

  if tree[0] == :bodystmt && tree[2] && (words(tree[2][1]).empty? || (words(tree[2][1]) & HANDLED).any?)
    return requires(tree[2..], &block)
  end

  call = tree[0] == :command ? tree[1] : (tree[0] == :method_add_arg && tree[1][0] == :fcall && tree[1][1])
  if call && call[0] == :@ident && %w[require require_relative].include?(call[1])
    name = literal(tree[2])
    yield call[1], name, call[2][0] if name
  else
    tree.each { |part| requires(part, &block) }
  end
end

def here?(word, name, file)
  if word == 'require_relative' || name.start_with?('/', './', '../')
    base = word == 'require' ? Dir.pwd : File.dirname(File.expand_path(file))
    path = File.expand_path(name, base)
    return ['', '.rb', '.so'].any? { |ending| File.file?(path + ending) }
  end
  return true if $LOADED_FEATURES.any? { |path| path.end_with?("/#{name}", "/#{name}.rb", "/#{name}.so") || path == "#{name}.so" }

  found = $LOAD_PATH.resolve_feature_path(name) rescue nil
  !found.nil? || Gem::Specification.any? { |gem| gem.contains_requirable_file?(name) }
end

def complaint(word, name, file, line)
  path = File.expand_path(file)
  "#{path}:#{line}:in `#{word}': cannot load such file -- #{name} (LoadError)\n\tfrom #{path}:#{line}:in `<main>'\n"
end

def check(file)
  text = File.binread(file).force_encoding('UTF-8')
  begin
    verbose = $VERBOSE
    $VERBOSE = nil
    RubyVM::InstructionSequence.compile(text, file, File.expand_path(file))
  rescue SyntaxError, ArgumentError, EncodingError => e
    tell('syntax', 1, file, "#{e.message.lines.map(&:chomp).join("\n")}\n")
    return false
  ensure
    $VERBOSE = verbose
  end
  tell('syntax', 0, file, '')
  requires(Ripper.sexp(text)) do |word, name, line|
    tell('imports', 1, name, complaint(word, name, file, line)) unless here?(word, name, file)
  end
  true
end

good = ARGV.map { |file| check(file) }
tell('imports', good.any? ? 0 : 'skipped', '', '')
