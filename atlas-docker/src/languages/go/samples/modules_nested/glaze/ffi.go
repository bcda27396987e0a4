package glaze

// #cgo pkg-config: libxml-2.0
// #cgo windows LDFLAGS: -lz
import "C"
