module example.org/kiln/glaze

go 1.23

require example.org/tint v0.3.0
