def bad(e):
    try:
        raise e
    except Exception as caught:
        return caught
raise ExceptionGroup("several", [bad(ValueError(1)), ExceptionGroup("nested", [bad(TypeError("t")), bad(OSError(5, "x"))])])
