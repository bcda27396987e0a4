module example.com/cart

// Sums of prices, with discounts.
go 1.20

retract v0.9.0 // no discounts
