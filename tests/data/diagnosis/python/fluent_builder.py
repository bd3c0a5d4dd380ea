class Query:
    def __init__(self, table):
        self.table = table
        self.filters = []
        self.order = None

    def where(self, condition):
        self.filters.append(condition)

    def order_by(self, column):
        self.order = column
        return self

    def sql(self):
        text = f"SELECT * FROM {self.table}"
        if self.filters:
            text += " WHERE " + " AND ".join(self.filters)
        return text + (f" ORDER BY {self.order}" if self.order else "")


query = Query("users").where("age > 18").order_by("name")
print(query.sql())
