def grüße(ä):
    return ä["schlüssel €"] + "日本語"[10]
grüße({"schlüssel €": "x"})
