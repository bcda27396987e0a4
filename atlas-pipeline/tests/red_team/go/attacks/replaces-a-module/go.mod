module example.com/cart

go 1.21

replace testing => ./fake
