#![cfg_attr(feature = "specialization", feature(specialization))]
#[test]
fn works() {}
