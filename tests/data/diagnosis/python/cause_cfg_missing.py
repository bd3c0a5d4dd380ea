import configparser
c = configparser.ConfigParser()
c.read("missing.ini")
c["db"]["fmt"]
