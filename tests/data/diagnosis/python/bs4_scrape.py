import re
from bs4 import BeautifulSoup


def links(html):
    soup = BeautifulSoup(html, "html.parser")
    return [a["href"] for a in soup.find_all("a", href=re.compile("^http"))]


print(links('<a href="http://x.org">x</a>'))
