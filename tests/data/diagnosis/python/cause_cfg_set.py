import configparser
c = configparser.ConfigParser()
c["db"] = {}
c["db"]["port"] = 8080
