//! Tests that a class inherits.

use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static CLASS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^class\s+(\w+)\s*\(([^)]*)\)\s*:").ok());

static METHOD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^[ \t]+(?:async\s+)?def\s+(\w+)").ok());

/// A class of a test file: what it inherits from, and the methods that it defines itself.
#[derive(Debug, Default)]
struct Class {
    bases: BTreeSet<String>,
    methods: BTreeSet<String>,
}

/// Adds to names of the form `Class::test` those of the Python classes that inherit the test and do
/// not define it themselves, in any of these files: a runner collects it there too. Classes are known
/// by their bare names, as in the files that import them.
pub(crate) fn with_heirs(names: &mut BTreeSet<String>, files: &[String]) {
    let (Some(class), Some(method)) = (CLASS.as_ref(), METHOD.as_ref()) else {
        return;
    };
    let mut classes: BTreeMap<String, Class> = BTreeMap::new();
    for text in files {
        let found: Vec<_> = class.captures_iter(text).collect();
        for (at, heading) in found.iter().enumerate() {
            let whole = heading.get(0).map_or(0, |m| m.end());
            // A class ends where the next one begins; functions between them stand at the margin and
            // are no methods.
            let end = found
                .get(at + 1)
                .and_then(|next| next.get(0))
                .map_or(text.len(), |next| next.start());
            let entry = classes.entry(heading[1].to_owned()).or_default();
            entry.bases.extend(
                heading[2]
                    .split(',')
                    .filter(|base| !base.contains('='))
                    .filter_map(|base| base.trim().rsplit('.').next())
                    .filter(|base| !base.is_empty())
                    .map(str::to_owned),
            );
            let own = method.captures_iter(&text[whole..end]);
            entry.methods.extend(own.map(|found| found[1].to_owned()));
        }
    }
    let mut open: Vec<String> = names.iter().cloned().collect();
    while let Some(name) = open.pop() {
        let Some((path, test)) = name.rsplit_once("::") else {
            continue;
        };
        let parent = path.rsplit("::").next().unwrap_or(path);
        for (heir, class) in &classes {
            let inherits = class.bases.contains(parent) && !class.methods.contains(test);
            let inherited = format!("{heir}::{test}");
            if inherits && names.insert(inherited.clone()) {
                open.push(inherited);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_heirs;
    use std::collections::BTreeSet;

    #[test]
    fn a_class_that_inherits_a_test_runs_it_and_one_that_overrides_it_does_not() {
        let files = [
            "class TestA(unittest.TestCase):\n    def test_x(self): ...\n".to_owned(),
            "import a\n\nclass TestB(Mixin, a.TestA):\n    pass\n\nclass TestC(TestB):\n    def test_y(self): ...\n\nclass TestD(TestA, metaclass=M):\n    def test_x(self): ...\n\nclass TestE(TestD):\n    pass\n"
                .to_owned(),
        ];
        let mut names = BTreeSet::from(["TestA::test_x".to_owned(), "test_alone".to_owned()]);
        with_heirs(&mut names, &files);
        let found: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(
            found,
            [
                "TestA::test_x",
                "TestB::test_x",
                "TestC::test_x",
                "test_alone"
            ]
        );
    }
}
