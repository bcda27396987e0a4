#[test]
fn counts_nothing() {
    assert_eq!(cart::count(&[]), 0);
}
