class DataFrame:
    """As much of it as is needed."""

    def __init__(self, rows):
        self.rows = rows
