#ifndef BASKET_H
#define BASKET_H

int basket_total(const int *prices, int count, int discount);

#endif
