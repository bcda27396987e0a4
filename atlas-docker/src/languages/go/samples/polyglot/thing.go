package thing
