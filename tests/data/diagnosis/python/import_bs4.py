import re
from bs4 import BeautifulSoup

print(re, BeautifulSoup)
