//! An option that several commands have is one field of a struct that they share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One option of a command line, as its source declares it.
struct Declared {
    field: String,
    help: String,
    place: String,
}

/// The Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The fields of a file that have the attribute `arg` with `long`, with their documentation.
fn declared(text: &str, place: &str) -> Vec<Declared> {
    let (mut found, mut help, mut attributes) = (Vec::new(), String::new(), String::new());
    let mut is_open = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(words) = line.strip_prefix("///") {
            help.push_str(words);
        } else if is_open || line.starts_with("#[") {
            attributes.push_str(line);
            is_open = !line.ends_with(")]");
        } else {
            let field = line.split_once(": ").filter(|_| line.ends_with(','));
            if let Some((name, _)) = field.filter(|_| is_option(&attributes)) {
                let name = name.rsplit(' ').next().unwrap_or(name);
                found.push(Declared {
                    field: name.to_owned(),
                    help: help.clone(),
                    place: format!("{place}:{}", at + 1),
                });
            }
            help.clear();
            attributes.clear();
        }
    }
    found
}

fn is_option(attributes: &str) -> bool {
    let of_arg = attributes.split("#[").filter(|one| one.starts_with("arg("));
    let words = |one: &str| {
        let words = one.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    of_arg.flat_map(words).any(|word| word == "long")
}

#[test]
fn an_option_of_several_commands_is_written_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut options: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let place = file.strip_prefix(&root).unwrap().display().to_string();
        for one in declared(&text, &place) {
            let places = options.entry((one.field, one.help)).or_default();
            places.push(one.place);
        }
    }
    assert!(options.len() > 200, "{} options were found", options.len());
    let twice: Vec<_> = options.iter().filter(|(_, at)| at.len() > 1).collect();
    assert!(
        twice.is_empty(),
        "these belong into a struct that their commands share: {twice:#?}"
    );
}

#[test]
fn what_is_written_twice_is_seen() {
    let text = "struct A {\n    /// How many.\n    #[arg(long, value_name = \"N\")]\n    pub jobs: usize,\n    /// Not said.\n    \
                #[arg(skip)]\n    pub engine: Engine,\n}\nstruct B {\n    /// How many.\n    #[arg(\n        long,\n        \
                default_value_t = 1\n    )]\n    jobs: usize,\n}\n";
    let found = declared(text, "a.rs");
    let named: Vec<_> = found.iter().map(|one| (&*one.field, &*one.help)).collect();
    assert_eq!(named, [("jobs", " How many."), ("jobs", " How many.")]);
    assert_eq!(found[1].place, "a.rs:15");
}
