//! What `atlas-facts` says of parsers is what the parsers say of themselves.

use atlas_facts::{Family, family_of_parser};
use atlas_parsers::BUILTIN;
use std::collections::BTreeSet;

#[test]
fn a_parser_s_family_is_that_of_its_languages() {
    for runner in BUILTIN {
        let languages = runner.about().languages;
        let families: Option<BTreeSet<Family>> = languages
            .iter()
            .map(|language| Family::of_language(language))
            .collect();
        // Of several families, or of languages without rules, nothing is told.
        let only = families.filter(|families| families.len() == 1);
        let own = only.and_then(|families| families.into_iter().next());
        let own = own.filter(|family| *family != Family::Shell);
        assert_eq!(family_of_parser(runner.id()), own, "{}", runner.id());
    }
}
