module example.org/kiln/tools

go 1.24
