module example.org/thing

go 1.23
