module example.org/kiln

go 1.22

require example.org/clay v1.2.0
