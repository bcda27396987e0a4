//! Folders that hold tests.

/// How sure a folder's name is to say that the folder belongs to tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderOfTests {
    /// Nothing but tests is kept under this name, wherever the folder lies: `__tests__`.
    Certain,
    /// Tests mostly; now and then a library for tests that is the product itself: `tests`.
    Usual,
    /// Tests at the root of a project; further below it may be a part of the product: `spec`.
    AtRoot,
    /// As often something else, so that files in it must show that they are tests: `features`.
    Doubtful,
}

use FolderOfTests::{AtRoot, Certain, Doubtful, Usual};

/// Names, parted by spaces.
const FOLDERS: &[(FolderOfTests, &str)] = &[
    (Certain, "__mocks__ __snapshots__ __tests__ testdata"),
    (Usual, "test tests testsuite test-suite"),
    (Usual, "unittest unittests unit-tests unit_tests"),
    (Usual, "integrationtest integration-tests"),
    (Usual, "integration_tests functional_tests"),
    (Usual, "test-data test_data __fixtures__ __test__"),
    (Usual, "testfixtures test-fixtures test_fixtures"),
    (Usual, "androidtest cypress e2e"),
    (AtRoot, "acceptance spec specs testcases"),
    (Doubtful, "checks features fixtures regress"),
    (Doubtful, "snapshots t testing unit"),
];

/// What the name of a folder (one component of a path) says of tests in it, without regard to ASCII case. `None`
/// for every other name.
///
/// ```
/// use atlas_facts::{FolderOfTests, folder_of_tests};
/// assert_eq!(folder_of_tests("Tests"), Some(FolderOfTests::Usual));
/// assert_eq!(folder_of_tests("contests"), None);
/// ```
pub fn folder_of_tests(name: &str) -> Option<FolderOfTests> {
    let is_among = |names: &str| {
        names
            .split(' ')
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    let row = FOLDERS.iter().find(|(_, names)| is_among(names))?;
    Some(row.0)
}
