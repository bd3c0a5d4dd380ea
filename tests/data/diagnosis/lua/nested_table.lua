local config = { server = { host = "localhost" } }

local function url(c)
  return "http://" .. c.server.host .. ":" .. c.network.port
end

print(url(config))
