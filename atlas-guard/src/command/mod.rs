//! What a shell command starts, as far as its text tells.

mod starters;

use starters::{What, started};
use std::collections::BTreeSet;

/// The text of a script of `package.json` or `composer.json`, by file and name.
type ScriptsOf<'a> = dyn Fn(&str, &str) -> Option<String> + 'a;

/// The programs, scripts and targets that a test command reaches.
#[derive(Debug, Default)]
pub(crate) struct Command {
    /// Programs by their last path component: `pytest`, `npm`.
    programs: BTreeSet<String>,
    /// Files that are run: scripts given to an interpreter, or started by their path.
    pub(crate) scripts: BTreeSet<String>,
    /// Files given as configuration: `-c x.ini`, `--config=x.js`, `-f Makefile.test`.
    pub(crate) configs: BTreeSet<String>,
    /// Scripts of `package.json` and `composer.json`, and targets of `make`, by program.
    targets: BTreeSet<(String, String)>,
    /// Folders that commands are run in; an empty one is the root.
    pub(crate) folders: BTreeSet<String>,
    /// Python modules run or loaded by name: `-m x.y`, `-p x.y`.
    pub(crate) modules: BTreeSet<String>,
}

/// Options that take the next word as a configuration file.
const CONFIG_OPTIONS: &[&str] = &[
    "-c",
    "--config",
    "--config-file",
    "--rcfile",
    "--rootdir",
    "--configuration",
    "--require",
    "-r",
    "--setup-files",
    "--bootstrap",
    "-f",
    "--file",
    "--settings",
    "-I",
    "--import",
    "-s",
    "--init-script",
    "--confcutdir",
    "--globalSetup",
    "--makefile",
    "--rakefile",
    "--loader",
    "--experimental-loader",
    "--setupFiles",
    "--opts",
];

impl Command {
    /// Reads a command. `scripts_of` gives the text of a `package.json` or `composer.json` script,
    /// so that what `npm test` runs is known too.
    pub(crate) fn read(text: &str, scripts_of: &ScriptsOf<'_>) -> Self {
        let mut command = Self::default();
        command.folders.insert(String::new());
        command.add(text, "", scripts_of, 0);
        command
    }

    pub(crate) fn runs(&self, program: &str) -> bool {
        self.programs.contains(program)
    }

    pub(crate) fn runs_any(&self, programs: &[&str]) -> bool {
        programs.iter().any(|program| self.runs(program))
    }

    /// Targets given to a program: `make check` gives `check` for `make`.
    pub(crate) fn targets(&self, program: &str) -> BTreeSet<&str> {
        self.targets
            .iter()
            .filter(|(of, _)| of == program)
            .map(|(_, target)| target.as_str())
            .collect()
    }

    /// Reads a text of the shell that is run in `folder`.
    fn add(&mut self, text: &str, folder: &str, scripts_of: &ScriptsOf<'_>, depth: usize) {
        // Scripts may call one another in a circle.
        if depth > 6 {
            return;
        }
        // A subshell goes where it likes: behind it the folder is what it was.
        let mut folders = vec![folder.to_owned()];
        for part in parts(text) {
            let folder = folders.last().cloned().unwrap_or_default();
            match part {
                Part::Opens => folders.push(folder),
                Part::Closes => drop(folders.pop()),
                Part::Words(words) => {
                    let gone = self.simple(&words, folder, scripts_of, depth);
                    if let (Some(gone), Some(folder)) = (gone, folders.last_mut()) {
                        *folder = gone;
                    }
                }
            }
        }
    }

    /// Reads one command, and gives the folder that it goes to.
    fn simple(
        &mut self,
        words: &[String],
        mut folder: String,
        scripts_of: &ScriptsOf<'_>,
        depth: usize,
    ) -> Option<String> {
        // Whoever is given a script of the shell runs it.
        let is_shell = |word: &&String| {
            let ending = word.rsplit_once('.').map(|(_, ending)| ending);
            matches!(ending, Some("sh" | "bash"))
        };
        let shell_scripts = words.iter().filter(is_shell);
        let shell_scripts = shell_scripts.filter_map(|word| join(&folder, word));
        self.scripts.extend(shell_scripts);
        let (mut program, mut arguments) = first_program(words)?;
        let mut is_helper = false;
        loop {
            let name = last_part(program);
            if name == "cd" || name == "pushd" {
                let to = arguments.first().and_then(|to| join(&folder, to));
                let to = to.unwrap_or_default();
                self.folders.insert(to.clone());
                return Some(to);
            }
            self.programs.insert(name.to_owned());
            // `uv run tests.py` needs no path.
            if (program.contains('/') || is_source(program))
                && let Some(path) = join(&folder, program)
            {
                self.scripts.insert(path);
            }
            self.configurations(&folder, arguments);
            if matches!(name, "pytest" | "py.test") {
                let loaded = arguments.windows(2).filter(|pair| pair[0] == "-p");
                self.modules.extend(loaded.map(|pair| pair[1].clone()));
            }
            let found = started(name, arguments);
            if !matches!(&found, Some(found) if matches!(found.what, What::Command(_))) {
                self.task_runner(name, &folder, arguments, scripts_of, depth);
            }
            let Some(found) = found else {
                // What a helper of the environment runs is among what it is given.
                let first = arguments.iter().position(|word| !word.starts_with('-'));
                let first = first.filter(|_| is_helper)?;
                (program, arguments) = first_program(&arguments[first..])?;
                is_helper = false;
                continue;
            };
            if let Some(to) = found.folder {
                folder = join(&folder, to).unwrap_or_default();
                self.folders.insert(folder.clone());
            }
            (program, arguments) = match found.what {
                What::Nothing => return None,
                What::Texts(texts) => {
                    for text in texts {
                        self.add(&text, &folder, scripts_of, depth + 1);
                    }
                    return None;
                }
                What::Command(words) => {
                    self.target(name, words.first());
                    first_program(words)?
                }
                What::Module(module, rest) => {
                    self.modules.insert(module.to_owned());
                    (module, rest)
                }
                What::Make(words) => {
                    let (place, targets) = words.split_first()?;
                    let place = join(&folder, place).unwrap_or_default();
                    self.folders.insert(place.clone());
                    self.task_runner("make", &place, targets, scripts_of, depth);
                    return None;
                }
                What::Script(script, rest) => {
                    if let Some(path) = join(&folder, script) {
                        self.scripts.insert(path);
                        return None;
                    }
                    is_helper = true;
                    (script, rest)
                }
            };
        }
    }

    fn target(&mut self, program: &str, target: Option<&String>) {
        if let Some(target) = target {
            self.targets.insert((program.to_owned(), target.clone()));
        }
    }

    fn configurations(&mut self, folder: &str, arguments: &[String]) {
        let mut previous = "";
        for argument in arguments {
            let value = match argument.split_once('=') {
                Some((option, value)) if CONFIG_OPTIONS.contains(&option) => Some(value),
                _ if CONFIG_OPTIONS.contains(&previous) => Some(argument.as_str()),
                _ => None,
            };
            if let Some(path) = value.and_then(|value| join(folder, value)) {
                self.configs.insert(path);
            }
            previous = argument;
        }
    }

    fn task_runner(
        &mut self,
        name: &str,
        folder: &str,
        arguments: &[String],
        scripts_of: &ScriptsOf<'_>,
        depth: usize,
    ) {
        let plain = |argument: &&String| !argument.starts_with('-') && !argument.contains('=');
        match name {
            "npm" | "yarn" | "pnpm" | "bun" | "composer" => {
                let mut names = arguments.iter().filter(plain);
                let first = names.next().map_or("", String::as_str);
                let script = match first {
                    "run" | "run-script" | "workspace" => names.next(),
                    "ci" | "install" | "i" | "add" | "exec" | "dump-autoload" => return,
                    _ => arguments.iter().find(plain),
                };
                let Some(script) = script else { return };
                let script = if matches!(script.as_str(), "t" | "tst") {
                    "test"
                } else {
                    script
                };
                for script in [
                    format!("pre{script}"),
                    script.to_owned(),
                    format!("post{script}"),
                ] {
                    let of = if name == "composer" {
                        "composer"
                    } else {
                        "npm"
                    };
                    let known = !self.targets.insert((of.to_owned(), script.clone()));
                    if !known && let Some(text) = scripts_of(of, &script) {
                        self.add(&text, "", scripts_of, depth + 1);
                    }
                }
            }
            "npm-run-all" | "run-s" | "run-p" | "concurrently" => {
                for script in arguments.iter().filter(plain) {
                    self.targets.insert(("npm".to_owned(), script.clone()));
                    if let Some(text) = scripts_of("npm", script) {
                        self.add(&text, "", scripts_of, depth + 1);
                    }
                }
            }
            "make" | "gmake" | "just" | "task" | "rake" | "invoke" | "inv" | "poe" | "hatch"
            | "ant" | "nox" | "tox" | "gulp" | "grunt" | "mage" => {
                let program = if name == "gmake" { "make" } else { name };
                let mut previous = "";
                for argument in arguments {
                    if name == "make" && matches!(previous, "-C" | "--directory") {
                        if let Some(path) = join(folder, argument) {
                            self.folders.insert(path);
                        }
                    } else if plain(&argument) && !matches!(previous, "-f" | "-j" | "-e") {
                        self.target(program, Some(argument));
                    }
                    previous = argument;
                }
                if name == "make" && self.targets("make").is_empty() {
                    self.targets.insert(("make".to_owned(), "all".to_owned()));
                }
            }
            "cargo" => self.target("cargo", arguments.iter().find(plain)),
            _ => {}
        }
    }
}

fn last_part(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The program of a command and its arguments, behind the assignments.
fn first_program(words: &[String]) -> Option<(&str, &[String])> {
    let at = words.iter().position(|word| !is_assignment(word))?;
    let (program, arguments) = words[at..].split_first()?;
    Some((program.as_str(), arguments))
}

/// Whether a word is named as a source that is run as it is.
fn is_source(word: &str) -> bool {
    let endings = [
        ".py", ".rb", ".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".php", ".pl",
    ];
    endings.iter().any(|end| word.ends_with(end))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// `folder` and then `path`, normalised; nothing for what leaves the repository or is no path.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    // The repository's root, by the names that it has; `/testbed` is where images have it.
    let roots = [
        "<rootDir>/",
        "$ATLAS_REPO/",
        "${ATLAS_REPO}/",
        "/testbed/",
        "$GITHUB_WORKSPACE/",
        "${GITHUB_WORKSPACE}/",
    ];
    let from_root = roots.iter().find_map(|root| path.strip_prefix(root));
    let here = ["$PWD/", "${PWD}/"];
    let from_here = here.iter().find_map(|here| path.strip_prefix(here));
    let (folder, path) = match (from_root, from_here) {
        (Some(path), _) => ("", path),
        (None, _) => (folder, from_here.unwrap_or(path)),
    };
    if path.starts_with('/') || path.contains(['$', '*', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A piece of a text of the shell.
enum Part {
    /// A command without operators.
    Words(Vec<String>),
    /// A subshell begins.
    Opens,
    /// It ends.
    Closes,
}

/// Splits at the shell's operators; quotes hold words together. No expansion is done: of what a command in `$(…)`
/// prints, its place in a word is all that is known.
fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    // Of each open bracket what goes on behind it.
    let mut brackets = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                if let Some(next) = chars.next()
                    && next != '\n'
                {
                    word.get_or_insert_default().push(next);
                }
            }
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some('"') | None, '$') if chars.peek() == Some(&'(') => {
                chars.next();
                word.get_or_insert_default().push_str("$()");
                brackets.push(Some((
                    std::mem::take(&mut words),
                    word.take(),
                    quote.take(),
                )));
                parts.push(Part::Opens);
            }
            (None, '&' | ';' | '|' | '\n' | '(' | ')') => {
                words.extend(word.take());
                if !words.is_empty() {
                    parts.push(Part::Words(std::mem::take(&mut words)));
                }
                if c == '(' {
                    brackets.push(None);
                    parts.push(Part::Opens);
                } else if c == ')'
                    && let Some(behind) = brackets.pop()
                {
                    parts.push(Part::Closes);
                    if let Some(behind) = behind {
                        (words, word, quote) = behind;
                    }
                }
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let unclosed = brackets.into_iter().rev().flatten();
    for words in std::iter::once(words).chain(unclosed.map(|(words, ..)| words)) {
        if !words.is_empty() {
            parts.push(Part::Words(words));
        }
    }
    parts
}
