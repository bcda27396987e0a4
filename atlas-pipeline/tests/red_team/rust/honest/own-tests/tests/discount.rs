use cart::total;

#[test]
fn discounts() {
    for discount in [10, 20] {
        assert_eq!(total(&[100], discount), 100 - discount);
    }
}

#[test]
#[should_panic]
fn too_much() {
    total(&[100], 200);
}

#[test]
#[ignore = "needs taxes"]
fn taxes() {
    panic!("not yet");
}
