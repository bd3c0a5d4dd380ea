import urllib.request

page = urllib.request.urlopen("http://example.com/")
print(page.status)
