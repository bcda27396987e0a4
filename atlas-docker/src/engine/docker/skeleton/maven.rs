//! Empty classes in the place of a Maven project's sources: plugins fetch what they compile and test
//! with only where there is something to compile and test.

use std::collections::BTreeMap;
use std::path::Path;

/// Adds a class to each of the folders that hold some in the checkout.
pub(super) fn sources(checkout: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    let folders: Vec<String> = files
        .keys()
        .filter_map(|path| path.strip_suffix("pom.xml"))
        .filter(|folder| folder.is_empty() || folder.ends_with('/'))
        .flat_map(|folder| ["main", "test"].map(|kind| format!("{folder}src/{kind}/java")))
        .collect();
    for folder in folders {
        if checkout.join(&folder).is_dir() {
            // A class without a package is refused by what writes manifests of bundles.
            files.insert(
                format!("{folder}/atlas/empty/AtlasEmptyTest.java"),
                b"package atlas.empty;\n\nclass AtlasEmptyTest {}\n".to_vec(),
            );
        }
    }
}
