//! Whether a state's tests ran what was compiled for that state.
//!
//! The engine lays a state's files out with times later than every product's, so that a build which
//! compares times must compile them. Here the run shows that it did: its script notes when it began, and
//! lists when all is over which products are newer. Who lists is the script around the tests; code of the
//! repository ran before it and could have written any time and any file, so this is proof against
//! accidents of a pull request's own build, not against code that cheats. Predictions are never judged by it.

use crate::StateRun;
use atlas_core::{
    BuildEvidence, CompiledProducts, EnvironmentPlan, Evidence, ExitState, JobResult, LostReason,
    OracleOutcome, Overlay, ParsedLog, State,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The list's name below `$ATLAS_OUT`: lines of `new PATH` and `old PATH`, each followed by lines of `of SOURCE` where
/// products name their sources.
pub(crate) const LIST: &str = "atlas-products";

/// Puts the repository's sources that a product names below its line, and leaves out products that name none.
const NAMED_SOURCES: &str = r#" | awk -v root="$ATLAS_REPO/" '{
  file = substr($0, 5); shown = 0
  while ((getline line < file) > 0) {
    if (index(line, root) == 1) line = substr(line, length(root) + 1)
    if (line !~ /^[^\/# ].*:$/) continue
    if (!shown++) print
    print "of " substr(line, 1, length(line) - 1)
  }
  close(file)
}'"#;

/// Lines for the script: before anything runs, and after everything ran. Empty where no witness is due.
pub(crate) fn listing(plan: &EnvironmentPlan) -> (String, String) {
    let Some(spec) = &plan.products else {
        return (String::new(), String::new());
    };
    let mut names = String::new();
    let is_plain = |end: &&String| end.chars().all(|c| c.is_ascii_alphanumeric() || c == '+');
    for end in spec.products.iter().filter(is_plain) {
        let or = if names.is_empty() { "" } else { " -o " };
        let _ = write!(names, "{or}-name '*.{end}'");
    }
    let with_sources = if spec.name_sources { NAMED_SOURCES } else { "" };
    let stamp = ": >\"$ATLAS_OUT/.atlas-began\"\n".to_owned();
    let list = format!(
        "find \"$ATLAS_REPO\" \"$ATLAS_CACHE\" -name .git -prune -o -type f \\( {names} \\) \\( \
         -newer \"$ATLAS_OUT/.atlas-began\" -printf 'new %p\\n' -o -printf 'old %p\\n' \\) \
         2>/dev/null{with_sources} >\"$ATLAS_OUT/{LIST}\"\n"
    );
    (stamp, list)
}

/// What a run's build left. Nothing where the plan asks for none, or the run was ended from outside.
pub(crate) fn find(
    plan: &EnvironmentPlan,
    overlay: &Overlay,
    result: &JobResult,
    parsed: &ParsedLog,
) -> Option<BuildEvidence> {
    let spec = plan.products.as_ref()?;
    if !matches!(result.exit, ExitState::Exited { .. }) {
        return None;
    }
    let list = result.files.get(LIST);
    let list = list.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    // A compiler that complains of a state's source has read it.
    let tried = parsed
        .modules_not_loaded
        .iter()
        .any(|lost| lost.reason == LostReason::BuildFailed);
    Some(judge(spec, overlay, list.as_deref(), tried))
}

fn judge(
    spec: &CompiledProducts,
    overlay: &Overlay,
    list: Option<&str>,
    tried: bool,
) -> BuildEvidence {
    const MOST: usize = 20;
    let is_one = |path: &str, ends: &[String]| {
        path.rsplit_once('.')
            .is_some_and(|(_, end)| ends.iter().any(|known| known == end))
    };
    let laid = |ends: &[String]| -> Vec<&str> {
        let paths = overlay.write.keys().map(String::as_str);
        paths.filter(|path| is_one(path, ends)).collect()
    };
    let (sources, headers) = (laid(&spec.sources), laid(&spec.headers));
    let mut found = BuildEvidence {
        laid: sources.len() + headers.len(),
        ..BuildEvidence::default()
    };
    let Some(list) = list else {
        if found.laid > 0 && !tried {
            let said = "the run left no list of what its build made";
            found.stale.push(said.to_owned());
        }
        return found;
    };
    let (mut new, mut old) = (Vec::new(), Vec::new());
    // Source -> the product that was made of it in this run, or the one that was there.
    let (mut newly, mut before) = (BTreeSet::new(), BTreeMap::new());
    for line in list.lines() {
        match line.split_once(' ') {
            Some(("new", path)) => new.push(path),
            Some(("old", path)) => old.push(path),
            _ => {}
        }
    }
    (found.made, found.kept) = (new.len(), old.len());
    if tried {
        return found;
    }
    if spec.name_sources {
        let mut product = ("", "");
        for (word, path) in list.lines().filter_map(|line| line.split_once(' ')) {
            match (word, product.0) {
                ("of", "new") => drop(newly.insert(path)),
                ("of", _) => drop(before.insert(path, product.1)),
                _ => product = (word, path),
            }
        }
        // One that was compiled shows that times are seen; a package may be none of those that are tested.
        let kept = sources
            .iter()
            .find_map(|source| Some((source, before.get(*source)?)));
        if let Some((source, kept)) = kept
            && !sources.iter().any(|source| newly.contains(source))
        {
            found
                .stale
                .push(format!("`{kept}` is older than this state's `{source}`"));
        }
        return found;
    }
    for source in sources {
        let made = |product: &&&str| is_product(source, product, &spec.products);
        if let Some(kept) = old.iter().find(made)
            && !new.iter().any(|product| made(&product))
        {
            found
                .stale
                .push(format!("`{kept}` is older than this state's `{source}`"));
        }
    }
    if let Some(header) = headers.first()
        && new.is_empty()
        && !old.is_empty()
    {
        found.stale.push(format!(
            "this state changes `{header}`, and nothing was compiled: {} products are as they were",
            old.len()
        ));
    }
    found.stale.truncate(MOST);
    found
}

/// Whether a product has the name of a source: `cart.c.o`, `cart.o`, `libx-cart.o`, `src_cart.c.o`,
/// `Cart.class`, in a folder of the source's folder's name or in one that builds give a name of their own.
fn is_product(source: &str, product: &str, ends: &[String]) -> bool {
    let (folder, file) = source.rsplit_once('/').unwrap_or(("", source));
    let (place, name) = product.rsplit_once('/').unwrap_or(("", product));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let Some(name) = ends
        .iter()
        .find_map(|end| name.strip_suffix(end.as_str())?.strip_suffix('.'))
    else {
        return false;
    };
    let is_named = name == file
        || name == stem
        || name
            .strip_suffix(file)
            .is_some_and(|rest| rest.ends_with('_'))
        || name
            .strip_suffix(stem)
            .is_some_and(|rest| rest.ends_with('-'));
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let (place, folder) = (last(place), last(folder));
    let is_own = [".dir", ".p", ".libs"]
        .iter()
        .any(|end| place.ends_with(end))
        || ["build", "obj", "objs", "out", "testbed"].contains(&place.as_str());
    is_named && (place == folder || is_own)
}

/// Why a verdict cannot be taken: a state whose tests may have run what was compiled for another. Where
/// there is no verdict anyway nothing is said.
pub(crate) fn lacking(
    outcome: OracleOutcome,
    runs: &BTreeMap<State, Vec<StateRun>>,
) -> Option<(String, Vec<Evidence>)> {
    let verdict = matches!(
        outcome,
        OracleOutcome::Instance | OracleOutcome::RejectNoFailToPass
    );
    let (state, build) = runs
        .iter()
        .filter(|_| verdict)
        .filter_map(|(state, runs)| Some((state, runs.first()?.summary.build.as_ref()?)))
        .find(|(_, build)| !build.stale.is_empty())?;
    let evidence = build
        .stale
        .iter()
        .map(|why| Evidence::of(format!("{state}: build"), why));
    let reason = format!(
        "{state} was not shown to run what was compiled for it: {}",
        build.stale.first().map_or("", String::as_str)
    );
    Some((reason, evidence.collect()))
}

#[cfg(test)]
mod tests {
    use super::{is_product, judge};
    use atlas_core::{CompiledProducts, FileContent, FileMode, Overlay};

    fn spec() -> CompiledProducts {
        let list = |ends: &[&str]| ends.iter().map(|end| (*end).to_owned()).collect();
        CompiledProducts {
            sources: list(&["c", "cpp", "java"]),
            headers: list(&["h"]),
            products: list(&["o", "class"]),
            name_sources: false,
        }
    }

    fn laid(paths: &[&str]) -> Overlay {
        let mut overlay = Overlay::default();
        for path in paths {
            let content = FileContent {
                mode: FileMode::Regular,
                bytes: Vec::new(),
            };
            overlay.write.insert((*path).to_owned(), content);
        }
        overlay
    }

    #[test]
    fn products_are_known_by_name_and_folder() {
        let ends = spec().products;
        for (source, product, expected) in [
            (
                "xmltest.cpp",
                "/c/build/CMakeFiles/xmltest.dir/xmltest.cpp.o",
                true,
            ),
            (
                "src/unix/core.c",
                "/c/CMakeFiles/uv.dir/src/unix/core.c.o",
                true,
            ),
            (
                "src/win/core.c",
                "/c/CMakeFiles/uv.dir/src/unix/core.c.o",
                false,
            ),
            ("tests/a.c", "/r/tests/check_a-a.o", true),
            ("src/a.c", "/c/build/prog.p/src_a.c.o", true),
            (
                "core/src/test/java/org/x/A.java",
                "/r/core/target/test-classes/org/x/A.class",
                true,
            ),
            (
                "core/src/test/java/org/x/A.java",
                "/r/core/target/classes/org/y/A.class",
                false,
            ),
            ("a.c", "/c/build/CMakeFiles/x.dir/ab.c.o", false),
        ] {
            assert_eq!(
                is_product(source, product, &ends),
                expected,
                "{source} {product}"
            );
        }
    }

    #[test]
    fn a_product_older_than_its_source_is_no_witness() {
        let of = |paths: &[&str], list: &str, tried| {
            let found = judge(&spec(), &laid(paths), Some(list), tried);
            (found.made, found.kept, found.stale.len())
        };
        let kept = "old /c/build/CMakeFiles/t.dir/a.cpp.o\nold /c/build/CMakeFiles/t.dir/b.cpp.o\n";
        assert_eq!(of(&["a.cpp"], kept, false), (0, 2, 1));
        assert_eq!(of(&["x.h"], kept, false), (0, 2, 1));
        // The compiler's complaint is the witness.
        assert_eq!(of(&["a.cpp"], kept, true), (0, 2, 0));
        // Data of a test, and what another platform builds.
        assert_eq!(of(&["tests/data/in.c", "README"], kept, false), (0, 2, 0));
        let made = kept.replacen("old", "new", 1);
        assert_eq!(of(&["a.cpp", "x.h"], &made, false), (1, 1, 0));
        assert_eq!(of(&["b.cpp"], &made, false), (1, 1, 1));
        // No list, and none needed.
        assert_eq!(judge(&spec(), &laid(&["a.c"]), None, false).stale.len(), 1);
        assert_eq!(judge(&spec(), &laid(&["a.py"]), None, false).stale.len(), 0);
    }

    #[test]
    fn a_products_own_list_says_what_it_was_made_of() {
        let spec = CompiledProducts {
            sources: vec!["rs".to_owned()],
            headers: Vec::new(),
            products: vec!["d".to_owned()],
            name_sources: true,
        };
        let stale = |laid: &[&str], list: &str, tried| {
            let overlay = self::laid(laid);
            judge(&spec, &overlay, Some(list), tried).stale
        };
        let list =
            "old /c/deps/a-1.d\nof src/lib.rs\nof src/a.rs\nnew /c/deps/t-1.d\nof tests/t.rs\n";
        assert_eq!(
            stale(&["src/a.rs"], list, false),
            ["`/c/deps/a-1.d` is older than this state's `src/a.rs`"]
        );
        // A compiler's complaint, another configuration of the same crate, one that shows that times are seen, and
        // what no product is made of.
        assert!(stale(&["src/a.rs"], list, true).is_empty());
        let both = format!("{list}new /c/deps/a-2.d\nof src/lib.rs\nof src/a.rs\n");
        assert!(stale(&["src/a.rs"], &both, false).is_empty());
        assert!(stale(&["src/a.rs", "tests/t.rs"], list, false).is_empty());
        assert!(stale(&["tests/ui/x.rs"], list, false).is_empty());
    }
}
