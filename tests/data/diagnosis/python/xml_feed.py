import xml.etree.ElementTree as ET

FEED = """<rss><channel>
  <item><title>One</title><link>http://example.org/1</link></item>
  <item><title>Two</title></item>
</channel></rss>"""


def items(text):
    root = ET.fromstring(text)
    for item in root.iter("item"):
        yield item.find("title").text, item.find("link").text


for title, link in items(FEED):
    print(title, "->", link)
