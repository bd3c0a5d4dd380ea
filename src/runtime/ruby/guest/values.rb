# Loaded on request: a program that fails tells the values of its variables (spec/job.h: JOB_VALUES). Each `raise`
# keeps the variables of its place until the next one, which makes it slower, so this is there only on request.
#
# No code of the program runs for it: no inspect, no to_s, no method_missing. The methods are those of the built-in classes,
# kept here before the program can replace them. All of it is bounded.
lambda do
  items_max, text_max, inside, deep, names_max = 6, 160, 48, 2, 10
  program, file, home = Process.pid, File.join(Dir.pwd, ".belljar-whereabouts"), Dir.pwd
  method = ->(owner, name) { owner.instance_method(name) }
  class_of, variables, get = method[Kernel, :class], method[Kernel, :instance_variables], method[Kernel, :instance_variable_get]
  class_name, message, equal = method[Module, :name], method[Exception, :to_s], method[BasicObject, :equal?]
  size = { String => method[String, :length], Array => method[Array, :length], Hash => method[Hash, :length] }
  at, each_pair, part, to_s = method[Array, :[]], method[Hash, :each_pair], method[String, :[]], method[Integer, :to_s]
  float_text, bits, symbol_text = method[Float, :to_s], method[Integer, :bit_length], method[Symbol, :to_s]
  read = method[IO, :read]
  is = ->(type, o) { type === o }

  secret = lambda do |name|
    name = name.to_s.split(".").last.to_s.delete("@$")
    next false if %w[key keys tokens].include?(name)
    joined = name.downcase.delete("^a-z")
    words = name.gsub(/([a-z])([A-Z])/, '\1 \2').split(/[^A-Za-z]+/).reject(&:empty?).map(&:downcase)
    parts = %w[password passwd passphrase secret token credential apikey privatekey accesskey authorization bearer cookie sessionid]
    next false if joined.include?("tokeniz")
    parts.any? { |p| joined.include?(p) } || !(words & %w[pwd auth jwt pin otp cvv ssn dsn]).empty? ||
      (%w[key keys].include?(words.last) && (words.size > 1 || name.match?(/\A[A-Z]/)))
  end

  type_of = lambda do |o|
    name = class_name.bind_call(class_of.bind_call(o))
    name ? name[0, 72].gsub(/[[:cntrl:]]/, "?") : "a class without a name"
  rescue StandardError
    "BasicObject"
  end

  escaped = lambda do |text, most|
    text = part.bind_call(text, 0, most + 1)
    text = text.dup.force_encoding("UTF-8").scrub("?") unless text.encoding == Encoding::UTF_8 && text.valid_encoding?
    shown = text[0, most].gsub(/[\\"]/) { |c| "\\#{c}" }.gsub("\n", "\\n").gsub("\t", "\\t").gsub(/[[:cntrl:]]/) { |c| format("\\x%02x", c.ord) }
    text.length > most ? "#{shown}…" : shown
  end

  preview = nil
  list = lambda do |open, close, n, depth, &one|
    shown = depth >= deep ? 0 : [n, items_max].min
    texts = (0...shown).map { |i| one.call(i) }
    texts << "…" if shown < n
    open + texts.join(", ") + close
  end
  pairs = lambda do |hash, depth|
    found = []
    each_pair.bind_call(hash) do |key, value|
      break if found.size == items_max
      hidden = (is[String, key] || is[Symbol, key]) && secret[key]
      found << (depth >= deep ? "" : "#{preview[key, depth + 1]} => #{hidden ? "(masked)" : preview[value, depth + 1]}")
    end
    found
  end
  preview = lambda do |o, depth|
    case
    when is[NilClass, o] then "nil"
    when is[TrueClass, o] then "true"
    when is[FalseClass, o] then "false"
    when is[Integer, o] then bits.bind_call(o) <= 384 ? to_s.bind_call(o) : "a number of #{bits.bind_call(o)} bits"
    when is[Float, o] then float_text.bind_call(o)
    when is[String, o] then "\"#{escaped[o, depth.positive? ? inside : text_max]}\""
    when is[Symbol, o] then ":#{escaped[symbol_text.bind_call(o), inside]}"
    when is[Array, o] then list.call("[", "]", size[Array].bind_call(o), depth) { |i| preview[at.bind_call(o, i), depth + 1] }
    when is[Hash, o]
      found = pairs[o, depth]
      list.call("{", "}", size[Hash].bind_call(o), depth) { |i| found[i] }
    when is[Module, o] then type_of[o]
    else
      type = type_of[o]
      next type if type == "BasicObject"
      names = variables.bind_call(o)
      "#{type}#{list.call("(", ")", names.size, depth) do |i|
        "#{names[i]}=#{secret[names[i]] ? "(masked)" : preview[get.bind_call(o, names[i]), depth + 1]}"
      end}"
    end
  end

  tell = lambda do |name, o|
    hidden = secret[name]
    kind = size.keys.find { |type| is[type, o] }
    text = hidden ? "" : preview[o, 0]
    cut = text.include?("…") || text.length > 360
    "V\t#{name}\t#{type_of[o]}\t#{kind ? size[kind].bind_call(o) : ""}\t\t\t#{hidden ? "m" : ""}#{cut ? "c" : ""}\t#{text[0, 360]}\n"
  end

  # The variables that a line names, in its order.
  tell_place = lambda do |place, error|
    path, line, function, here, me = place
    source = File.open(path, "rb") { |f| read.bind_call(f, 1 << 20) }.to_s.force_encoding("UTF-8").scrub("?").lines[line - 1].to_s
    locals = here.local_variables
    found = source.gsub(/#.*\z/, "").scan(/@?[A-Za-z_]\w*/).uniq.filter_map do |word|
      if word.start_with?("@")
        tell[word, get.bind_call(me, word)] if variables.bind_call(me).include?(word.to_sym)
      elsif locals.include?(word.to_sym)
        tell[word, here.local_variable_get(word)]
      end
    end
    "Values\nF\t#{line}\t#{function}\t#{path}\n#{found.first(names_max).join}"
  end

  last = nil
  trace = TracePoint.new(:raise) do |t|
    last = [t.raised_exception, t.path, t.lineno, t.method_id || "<main>", t.binding, t.self] if t.path.start_with?(home) || !t.path.start_with?("/", "<")
  end
  trace.enable
  at_exit do # the first handler that is set is the last that runs
    error = $!
    trace.disable
    next if Process.pid != program || !last || !equal.bind_call(last[0], error) || is[SystemExit, error]
    File.open(file, File::WRONLY | File::CREAT | File::TRUNC | File::NOFOLLOW | File::NONBLOCK) { |f| f.write(tell_place[last[1..], error]) }
  rescue StandardError, SystemStackError, NoMemoryError
    nil # a full disk, or a source that is gone
  end
end.call
