import m
import json
json.held = m.A()
