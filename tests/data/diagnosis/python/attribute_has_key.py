config = {"debug": True}
if config.has_key("debug"):
    print("debugging")
