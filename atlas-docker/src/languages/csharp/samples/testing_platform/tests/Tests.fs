module T
