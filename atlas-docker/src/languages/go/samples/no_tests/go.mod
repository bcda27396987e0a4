module example.org/empty
