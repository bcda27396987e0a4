//! Parts of a `CMake` project that an option switches on and whose sources cannot be reached.

use super::{Change, Repair, Symptom};
use crate::languages::native::{
    self,
    listing::{self, Call},
};
use crate::tree::Tree;
use regex::Regex;
use std::sync::LazyLock;

/// How the toolbox tells a further try; the last one decides.
const NEXT_TRY: &str = "atlas: CMake ";

/// Switches off what an option guards and what cannot be fetched.
pub(crate) fn unreachable_part(symptom: &Symptom<'_>) -> Vec<Repair> {
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        let calls = "FetchContent_MakeAvailable|FetchContent_Populate|CPMAddPackage";
        Regex::new(&format!(r"^\s+([^\s:]+):(\d+) \(({calls})\)$")).expect("a literal pattern")
    });
    static UNREACHABLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("Could not resolve host|Failed to clone repository|Connection (?:refused|timed out)|Couldn't (?:resolve|connect)")
            .expect("a literal pattern")
    });
    let last = symptom.text.rfind(NEXT_TRY).unwrap_or(0);
    let text = &symptom.text[last..];
    let Some(proof) = text.lines().find(|line| UNREACHABLE.is_match(line)) else {
        return Vec::new();
    };
    let options = text.lines().filter_map(|line| {
        let frame = FRAME.captures(line)?;
        let at: usize = frame[2].parse().ok()?;
        let file = file(symptom.tree, &frame[1])?;
        let calls = listing::calls(symptom.tree, file);
        let name = frame[3].to_ascii_lowercase();
        let mut until = calls.iter().filter(|call| call.line <= at);
        let call = until.rfind(|call| call.name == name)?;
        guard(symptom.tree, call)
    });
    options
        .map(|name| Repair {
            rule: "optional part",
            proof: symptom.proof(proof),
            change: Change::CmakeOptionOff(name),
        })
        .collect()
}

/// The file that a stack names by its path from the project's folder.
fn file<'t>(tree: &'t Tree, path: &str) -> Option<&'t str> {
    let below = format!("/{path}");
    let files = tree.files();
    files
        .filter(|file| *file == path || file.ends_with(&below))
        .min_by_key(|file| file.len())
}

/// The project's own option that alone decides about a call, and not about all tests.
fn guard(tree: &Tree, call: &Call) -> Option<String> {
    let [name] = call.conditions.last()?.as_slice() else {
        return None;
    };
    let mut is_option = false;
    for file in tree.files().filter(|path| path.ends_with("CMakeLists.txt")) {
        for call in listing::calls(tree, file) {
            let first = call.words.first().map_or("", String::as_str);
            let of_all_tests = match call.name.as_str() {
                "enable_testing" => true,
                "include" => first == "CTest",
                "add_subdirectory" => native::is_test(&format!("{first}/CMakeLists.txt")),
                _ => false,
            };
            if of_all_tests && call.conditions.iter().flatten().any(|word| word == name) {
                return None;
            }
            is_option |= call.name == "option" && first == name;
        }
    }
    is_option.then(|| name.clone())
}

#[cfg(test)]
mod tests {
    use crate::repair::Change;
    use crate::repair::testing::changes;

    const ROOT: &str = "project(p)\noption(P_DATA \"Run with data\" ON)\noption(P_TESTS \"Test\" ON)\n\
                        if (P_TESTS)\n  add_subdirectory(tests)\nendif()\n";
    const TESTS: &str = "include(FetchContent)\nif (NOT SYSTEM_DOCTEST)\n  FetchContent_MakeAvailable(doctest)\nendif()\n\
                         if (P_DATA)\n  message(STATUS data)\n  FetchContent_MakeAvailable(data)\nendif()\n\
                         if (P_TESTS)\n  FetchContent_MakeAvailable(more)\nendif()\n\
                         if (P_DATA)\n  message(STATUS data)\nendif()\nFetchContent_MakeAvailable(needed)\n";

    fn found(frame: &str, told: &str) -> Vec<Change> {
        let files = [("CMakeLists.txt", ROOT), ("tests/CMakeLists.txt", TESTS)];
        let text = format!(
            "fatal: unable to access: {told}\nCall Stack (most recent call first):\n  {frame}\n"
        );
        changes("gcc:13-bookworm", &files, &text)
    }

    #[test]
    fn what_an_option_guards_is_switched_off_where_it_cannot_be_fetched() {
        let told = "Could not resolve host: example.org";
        let off = vec![Change::CmakeOptionOff("P_DATA".to_owned())];
        assert_eq!(
            found("tests/CMakeLists.txt:7 (FetchContent_MakeAvailable)", told),
            off
        );
        for frame in [
            "tests/CMakeLists.txt:3 (FetchContent_MakeAvailable)",
            "tests/CMakeLists.txt:10 (FetchContent_MakeAvailable)",
            "tests/CMakeLists.txt:15 (FetchContent_MakeAvailable)",
            "tests/CMakeLists.txt:7 (find_package)",
            "none/CMakeLists.txt:7 (FetchContent_MakeAvailable)",
        ] {
            assert_eq!(found(frame, told), [], "{frame}");
        }
        let frame = "tests/CMakeLists.txt:7 (FetchContent_MakeAvailable)";
        assert_eq!(found(frame, "its checksum is another"), []);
    }

    #[test]
    fn the_last_try_decides() {
        let told = "Could not resolve host: example.org\n  tests/CMakeLists.txt:7 (FetchContent_MakeAvailable)\n\
                    atlas: CMake fails; once more";
        assert_eq!(found("tests/CMakeLists.txt:3 (find_package)", told), []);
    }
}
