//! Modules of a crate that need each other are one module in several files: none can be understood, moved or tested
//! alone.

use crate::alone::{code, others};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules in a crate's root that need each other, and why they may.
const KNOWN: [(&str, &str, &str); 7] = [
    (
        "atlas-core",
        "sandbox session",
        "a sandbox opens sessions, which are as isolated as its jobs",
    ),
    (
        "atlas-judge",
        "answer ensemble metrics validation",
        "the table of metrics tries ensembles, whose members are measured",
    ),
    (
        "atlas-llm",
        "budget exchanges",
        "what is remembered of exchanges is paid by no budget",
    ),
    (
        "atlas-parsers",
        "common javascript",
        "TAP of Node has files as subtests",
    ),
    (
        "atlas-parsers",
        "detect front inner merge registry",
        "a log within a log is read as any log is",
    ),
    (
        "atlas-pipeline",
        "config engine environment evaluate judging log_reading make mcp own_parser parts publish reading reason run \
         synth validate",
        "commands, of which one is a step of another",
    ),
    (
        "atlas-py",
        "attempt log model options traits",
        "objects of Python are taken for traits, which give such objects",
    ),
];

/// Which modules of a crate's root a module names.
type Arrows = BTreeMap<String, BTreeSet<String>>;

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names behind each `crate::`, those in the outermost braces included.
fn named(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (at, start) in code.match_indices("crate::") {
        if code[..at].ends_with(is_part) {
            continue;
        }
        let rest = &code[at + start.len()..];
        let Some(list) = rest.strip_prefix('{') else {
            names.extend(rest.split(|c| !is_part(c)).next());
            continue;
        };
        let (mut depth, mut is_path) = (1, false);
        for word in list.split_inclusive(|c| !is_part(c)) {
            let (name, sign) = word.split_at(word.trim_end_matches(|c| !is_part(c)).len());
            if depth == 1 && !is_path && !name.is_empty() {
                names.insert(name);
            }
            match sign {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            is_path = sign == ":" || is_path && sign != ",";
            if depth == 0 {
                break;
            }
        }
    }
    names
}

/// What a crate's root has from its modules: the name, and the module.
fn exported(root: &str) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for statement in root.split(';') {
        let Some((_, path)) = statement.split_once("use ") else {
            continue;
        };
        if let Some((module, rest)) = path.trim_start_matches("self::").split_once("::") {
            let parts = rest.split(|c| !is_part(c)).filter(|name| !name.is_empty());
            names.extend(parts.map(|name| (name.to_owned(), module.to_owned())));
        }
    }
    names
}

/// The arrows between the modules of each crate.
fn arrows() -> BTreeMap<String, Arrows> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let root = root.canonicalize().expect("the workspace");
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for path in others() {
        let place = path.strip_prefix(&root).expect("a file of it");
        let place = place.display().to_string();
        let (package, inside) = place.split_once("/src/").expect("a source");
        let (module, _) = inside
            .split_once(['/', '.'])
            .expect("a name with an ending");
        let text = code(&fs::read_to_string(&path).expect("a text"));
        let files = crates.entry(package.to_owned()).or_default();
        files.push((module.to_owned(), text));
    }
    let of_crate = |files: &Vec<(String, String)>| {
        let root = files.iter().find(|(module, _)| module == "lib");
        let exported = root.map_or_else(BTreeMap::new, |(_, text)| exported(text));
        let modules: BTreeSet<&String> = files.iter().map(|(module, _)| module).collect();
        let mut arrows = Arrows::new();
        for (module, text) in files.iter().filter(|(module, _)| module != "lib") {
            let to = arrows.entry(module.clone()).or_default();
            let found = named(text).into_iter().filter_map(|name| {
                let is_module = modules.contains(&name.to_owned());
                let of = exported.get(name).cloned();
                if is_module { Some(name.to_owned()) } else { of }
            });
            to.extend(found.filter(|other| other != module && modules.contains(other)));
        }
        arrows
    };
    let all = crates
        .iter()
        .map(|(package, files)| (package.clone(), of_crate(files)));
    all.collect()
}

/// All that can be reached from a module.
fn reached<'a>(arrows: &'a Arrows, from: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        let further = arrows.get(module).into_iter().flatten();
        next.extend(further.map(String::as_str).filter(|to| found.insert(*to)));
    }
    found
}

/// The modules that need each other, in groups.
fn cycles(arrows: &Arrows) -> BTreeSet<String> {
    let mut groups = BTreeSet::new();
    for module in arrows.keys() {
        let reached_from = reached(arrows, module);
        if reached_from.contains(module.as_str()) {
            let back = |other: &&str| reached(arrows, other).contains(module.as_str());
            let group: Vec<&str> = reached_from.into_iter().filter(back).collect();
            groups.insert(group.join(" "));
        }
    }
    groups
}

#[test]
fn no_more_modules_need_each_other() {
    let mut found = BTreeSet::new();
    for (package, arrows) in arrows() {
        for group in cycles(&arrows) {
            println!("{package}: {group}");
            found.insert((package.clone(), group));
        }
    }
    let known: BTreeSet<_> = KNOWN
        .iter()
        .map(|(package, group, _)| ((*package).to_owned(), (*group).to_owned()))
        .collect();
    // A group that has become smaller is written down as it is: it does not grow again.
    assert_eq!(found, known);
}

#[test]
fn a_cycle_is_found() {
    assert_eq!(
        Vec::from_iter(named(
            "use crate::{a::{b, c}, D, e};\nuse crate::f::g; crate::h()"
        )),
        ["D", "a", "e", "f", "h"]
    );
    let root = "mod a;\npub use a::{B, C};\npub use d::E;\n";
    assert_eq!(exported(root)["B"], "a");
    let arrow = |from: &str, to: &[&str]| {
        (
            from.to_owned(),
            to.iter().map(|name| (*name).to_owned()).collect(),
        )
    };
    let arrows = Arrows::from([
        arrow("a", &["b"]),
        arrow("b", &["c"]),
        arrow("c", &["a", "d"]),
        arrow("d", &[]),
    ]);
    assert_eq!(Vec::from_iter(cycles(&arrows)), ["a b c"]);
}
