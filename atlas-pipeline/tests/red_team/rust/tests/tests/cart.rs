use cart::*;

#[test]
fn adds_prices() {
    assert_eq!(total(&[1, 2, 3], 0), 6);
}

#[test]
fn takes_a_discount_off() {
    let expected = Summary {
        count: 2,
        total: 180,
    };
    assert_eq!(summary(&[100, 100], 10), expected);
}

#[test]
fn summarizes_a_discount() {
    assert_eq!(summary(&[200], 50), Summary { count: 1, total: 100 });
}
