require 'json'
require 'sinatra'

get '/' do
  { ok: true }.to_json
end
