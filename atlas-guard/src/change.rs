//! One file of a prediction, and all that is known about it.

use crate::base::BaseFiles;
use crate::command::Command;
use crate::family::families;
use crate::input::GuardInput;
use crate::places::{Places, folder_of, name_of};
use crate::upstream::{Upstream, Version};
use atlas_core::{FileContent, FileMode, Overlay};
use atlas_facts::Family;
use std::collections::BTreeSet;

/// What is the same for all files of a prediction.
pub(crate) struct Context<'a> {
    pub(crate) base: &'a dyn BaseFiles,
    pub(crate) families: BTreeSet<Family>,
    pub(crate) command: Command,
    pub(crate) upstream: Upstream,
    pub(crate) places: Places,
}

impl<'a> Context<'a> {
    pub(crate) fn new(input: &GuardInput<'a>) -> Self {
        let script = |of: &str, name: &str| package_script(input.base, of, name);
        let command = Command::read(input.test_cmd, &script);
        let upstream = Upstream::new(input.test_patch, input.gold_patch);
        let places = Places::new(input.base, &upstream);
        // Rebuilding tells the language too, but its scripts are the solution's.
        let mut families = families(input.parser, input.language, &command);
        if input.parser.is_empty() && input.language.is_empty() {
            for rebuild in input.rebuild {
                let rebuild = Command::read(rebuild, &|_, _| None);
                families.extend(crate::family::families("", "", &rebuild));
            }
        }
        Self {
            base: input.base,
            families,
            command,
            upstream,
            places,
        }
    }
}

/// The text of a script in the root's manifest.
fn package_script(base: &dyn BaseFiles, of: &str, name: &str) -> Option<String> {
    let file = if of == "composer" {
        "composer.json"
    } else {
        "package.json"
    };
    let manifest: serde_json::Value = serde_json::from_slice(base.read(file)?).ok()?;
    match manifest.get("scripts")?.get(name)? {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Array(list) => {
            let lines: Vec<&str> = list.iter().filter_map(serde_json::Value::as_str).collect();
            let lines = lines.iter().map(|line| {
                // Composer calls another of its scripts with an `@`.
                let other = line
                    .strip_prefix('@')
                    .filter(|other| !other.starts_with("php "));
                other.map_or((*line).to_owned(), |other| format!("composer run {other}"))
            });
            Some(lines.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

/// A file that a prediction writes or removes.
pub(crate) struct Change<'a> {
    pub(crate) path: &'a str,
    /// Absent for a removed file.
    pub(crate) after: Option<&'a FileContent>,
    pub(crate) overlay: &'a Overlay,
    pub(crate) context: &'a Context<'a>,
}

impl<'a> Change<'a> {
    pub(crate) fn name(&self) -> &'a str {
        name_of(self.path)
    }

    pub(crate) fn folder(&self) -> &'a str {
        folder_of(self.path)
    }

    pub(crate) fn in_base(&self) -> bool {
        self.context.base.exists(self.path)
    }

    pub(crate) fn is_new(&self) -> bool {
        self.after.is_some() && !self.in_base()
    }

    pub(crate) fn is_link(&self) -> bool {
        self.after
            .is_some_and(|file| file.mode == FileMode::Symlink)
    }

    /// The new text; empty for a removed file, bytes that are no text replaced.
    pub(crate) fn text(&self) -> String {
        self.after.map_or_else(String::new, |file| {
            String::from_utf8_lossy(&file.bytes).into_owned()
        })
    }

    pub(crate) fn base_text(&self) -> String {
        let bytes = self.context.base.read(self.path).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The lines that Base does not have.
    pub(crate) fn added(&self) -> String {
        let base = self.base_text();
        let old: BTreeSet<&str> = base.lines().map(str::trim).collect();
        let text = self.text();
        let lines = text.lines().filter(|line| !old.contains(line.trim()));
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn gold_touches(&self) -> bool {
        self.context.upstream.gold_touches(self.path)
    }

    /// The file as the instance's tests want it, without the solution.
    pub(crate) fn wanted(&self) -> Version {
        self.context
            .upstream
            .with_tests(self.context.base, self.path)
    }

    /// The file as the instance's own solution leaves it.
    pub(crate) fn solved(&self) -> Version {
        self.context
            .upstream
            .with_both(self.context.base, self.path)
    }

    /// Whether the file stands as the version has it.
    pub(crate) fn is(&self, version: &Version) -> bool {
        match (version, self.after) {
            (Version::Absent, None) => true,
            (Version::Known(bytes), Some(file)) => {
                *bytes == file.bytes && (!self.is_link() || self.in_base())
            }
            _ => false,
        }
    }

    /// Whether it lies in a folder of tests of the instance.
    pub(crate) fn in_test_folder(&self) -> bool {
        self.context.places.test_folder(self.path).is_some()
    }

    /// Whether a folder's neighbours would notice: something of the instance lies in or below it.
    pub(crate) fn has_neighbours(&self) -> bool {
        self.context.places.is_folder(self.folder())
    }

    /// Whether the test command works in this file's folder.
    pub(crate) fn in_command_folder(&self) -> bool {
        self.context.command.folders.contains(self.folder())
    }
}
