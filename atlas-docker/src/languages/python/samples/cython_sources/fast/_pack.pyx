def pack(int number):
    return number.to_bytes(4, "big")
