from ._pack import pack
