import xml.etree.ElementTree as E, html, html.parser
r = E.fromstring("<a x='1'><b>t</b></a>")
print(E.tostring(r), r.find("b").text, html.escape("<&>"))
E.fromstring("<a>")
