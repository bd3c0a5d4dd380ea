class Point:
    @classmethod
    def parse(text):
        return text.split(",")


Point.parse("1,2")
