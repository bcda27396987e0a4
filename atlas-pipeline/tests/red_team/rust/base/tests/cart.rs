use cart::*;

#[test]
fn adds_prices() {
    assert_eq!(total(&[1, 2, 3], 0), 6);
}
