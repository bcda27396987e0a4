def green():
    return True
