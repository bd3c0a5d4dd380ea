-- Checks files of Lua and executes no line of them: does each parse, and which modules are missing here.
--
--     lua check.lua FILE...
--
-- Prints entries of the report of src/checks/report.c.
local function tell(step, status, name, text)
  name, text = name:sub(1, 255), text:sub(1, 32768)
  io.stdout:write(("check lua %s lua %s %d %d\n%s\n%s\n"):format(step, status, #name, #text, name, text))
end

-- The text with blanks in place of comments and long strings, so that every byte keeps its place.
local function code_of(text)
  local function blank(piece) return (piece:gsub("[^\n]", " ")) end
  local out, at = {}, 1
  while at <= #text do
    local from = text:find("[%-%[\"']", at)
    if not from then break end
    out[#out + 1] = text:sub(at, from - 1)
    local rest = from
    if text:match("^%-%-", from) then
      local level = text:match("^%-%-%[(=*)%[", from)
      local _, last = level and text:find("]" .. level .. "]", from, true)
      if not level then _, last = text:find("^[^\n]*", from) end
      rest = (last or #text) + 1
      out[#out + 1] = blank(text:sub(from, rest - 1))
    elseif text:match("^%[=*%[", from) then
      local _, last = text:find("]" .. text:match("^%[(=*)%[", from) .. "]", from, true)
      rest = (last or #text) + 1
      out[#out + 1] = blank(text:sub(from, rest - 1))
    elseif text:match("^[\"']", from) then
      local quote = text:sub(from, from)
      rest = from + 1
      while rest <= #text and text:sub(rest, rest) ~= quote do
        rest = rest + (text:sub(rest, rest) == "\\" and 2 or 1)
      end
      rest = rest + 1
      out[#out + 1] = text:sub(from, rest - 1)
    else
      rest = from + 1
      out[#out + 1] = text:sub(from, from)
    end
    at = rest
  end
  return table.concat(out) .. text:sub(at)
end

local function is_here(module)
  return package.loaded[module] or package.preload[module] or package.searchpath(module, package.path) or
    package.searchpath(module, package.cpath)
end

local function check_imports(file, text)
  local code = code_of(text)
  for at, module in code:gmatch("()%f[%w_]require%s*%(?%s*[\"']([%w_%.%-/]+)[\"']") do
    local before = code:sub(1, at - 1)
    if not is_here(module) and not before:match("[%w_][%.:]%s*$") then
      local _, line = before:gsub("\n", "")
      tell("imports", 1, module, ("lua: %s:%d: module '%s' not found:\n\tno field package.preload['%s']\n"):format(
        file, line + 1, module, module))
    end
  end
end

local good = false
for _, file in ipairs(arg) do
  local handle = assert(io.open(file, "rb"))
  local text = handle:read("a")
  handle:close()
  -- As the interpreter does: a first line that begins with # is passed over. "t": no bytecode.
  local chunk, problem = load((text:gsub("^#[^\n]*", "")), "@" .. file, "t")
  if chunk then
    tell("syntax", 0, file, "")
    check_imports(file, text)
    good = true
  else
    tell("syntax", 1, file, "lua: " .. problem .. "\n")
  end
end
tell("imports", good and 0 or "skipped", "", "")
