require "json"
JSON.parse("{name: 'ann'}")
