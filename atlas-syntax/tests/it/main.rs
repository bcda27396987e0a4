//! Tests at the boundary of the crate.

mod assertions;
mod broken;
mod c_family;
mod definitions;
mod hostile;
mod uses;
mod values;
mod which_tests;

use atlas_syntax::{Language, parse};

#[test]
fn every_grammar_loads() {
    for language in Language::ALL {
        let tree = parse(language, b"x\n").unwrap();
        assert_eq!(tree.root_node().end_byte(), 2, "{language:?}");
    }
}
