import urllib

print(urllib.request.Request("http://a.example"))
