import json
import urllib2

print(json.dumps({}), urllib2)
