module example.org/thing

go 1.21.3

toolchain go1.22.1
