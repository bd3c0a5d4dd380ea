puts Time.parse("2024-01-02 10:00")
