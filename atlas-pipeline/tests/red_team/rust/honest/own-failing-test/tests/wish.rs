#[test]
fn has_taxes() {
    assert_eq!(1, 2);
}
