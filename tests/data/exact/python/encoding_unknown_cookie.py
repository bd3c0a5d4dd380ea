# A cookie that nobody knows.
