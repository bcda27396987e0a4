//! What a shell command starts, as far as its text tells.

use std::collections::BTreeSet;

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

/// Words that start another command and are not what is meant.
const WRAPPERS: &[&str] = &[
    "env",
    "xvfb-run",
    "sudo",
    "npx",
    "nice",
    "time",
    "exec",
    "command",
    "stdbuf",
    "unbuffer",
    "bunx",
    "nohup",
    "then",
    "do",
    "else",
    "if",
    "!",
    "(",
    "{",
    "cross-env",
    "dotenv",
    "c8",
    "nyc",
];

/// Tools whose first words lead to another command: `poetry run pytest`.
const RUNNERS: &[(&str, &str)] = &[
    ("poetry", "run"),
    ("uv", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("bundle", "exec"),
    ("yarn", "exec"),
    ("pnpm", "exec"),
    ("npm", "exec"),
    ("pnpm", "dlx"),
    ("coverage", "run"),
    ("conda", "run"),
];

/// Programs whose first plain argument is a script.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "bash",
    "sh",
    "dash",
    "zsh",
    "node",
    "ruby",
    "php",
    "perl",
    "ts-node",
    "tsx",
    "babel-node",
    "source",
    ".",
    "deno",
    "bun",
    "coverage",
];

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
    pub(crate) fn read(text: &str, scripts_of: &dyn Fn(&str, &str) -> Option<String>) -> Self {
        let mut command = Self::default();
        command.folders.insert(String::new());
        command.add(text, scripts_of, 0);
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

    fn add(&mut self, text: &str, scripts_of: &dyn Fn(&str, &str) -> Option<String>, depth: usize) {
        // Scripts may call one another in a circle.
        if depth > 6 {
            return;
        }
        let mut folder = String::new();
        for words in simple_commands(text) {
            let mut words = words.as_slice();
            // Assignments and wrappers with their options stand before the program.
            while let Some(first) = words.first() {
                let name = last_part(first);
                let wrapped = WRAPPERS.contains(&name) || name == "timeout";
                if wrapped && words.len() > 1 {
                    self.programs.insert(name.to_owned());
                    words = &words[1..];
                    while words.len() > 1
                        && (words[0].starts_with('-')
                            || words[0].starts_with(|c: char| c.is_ascii_digit()))
                    {
                        words = &words[1..];
                    }
                } else if is_assignment(first) {
                    words = &words[1..];
                } else if let Some(second) = words.get(1)
                    && RUNNERS.contains(&(name, second.as_str()))
                {
                    self.programs.insert(name.to_owned());
                    self.target(name, words.get(2));
                    if name == "coverage" {
                        break;
                    }
                    words = &words[2..];
                    while words.len() > 1 && words[0].starts_with('-') && words[0] != "-m" {
                        words = &words[1..];
                    }
                } else {
                    break;
                }
            }
            let Some((program, arguments)) = words.split_first() else {
                continue;
            };
            let name = last_part(program);
            if name == "cd" || name == "pushd" {
                folder = arguments
                    .first()
                    .and_then(|to| join(&folder, to))
                    .unwrap_or_default();
                self.folders.insert(folder.clone());
                continue;
            }
            self.programs.insert(name.to_owned());
            if program.contains('/')
                && let Some(path) = join(&folder, program)
            {
                self.scripts.insert(path);
            }
            self.configurations(&folder, arguments);
            self.interpreter(name, &folder, arguments, scripts_of, depth);
            self.task_runner(name, &folder, arguments, scripts_of, depth);
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

    fn interpreter(
        &mut self,
        name: &str,
        folder: &str,
        arguments: &[String],
        scripts_of: &dyn Fn(&str, &str) -> Option<String>,
        depth: usize,
    ) {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if matches!(name, "pytest" | "py.test") {
            let loaded = arguments.windows(2).filter(|pair| pair[0] == "-p");
            self.modules.extend(loaded.map(|pair| pair[1].clone()));
        }
        if !INTERPRETERS.contains(&name) && !INTERPRETERS.contains(&plain) {
            return;
        }
        let mut rest = arguments.iter();
        if name == "coverage" {
            rest.next();
        }
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "-m" => {
                    let Some(module) = rest.next() else { return };
                    self.modules.insert(module.clone());
                    self.programs.insert(module.clone());
                    let left: Vec<String> = rest.cloned().collect();
                    if matches!(module.as_str(), "coverage" | "pytest" | "tox" | "nox") {
                        let nested = std::iter::once(module.clone()).chain(left);
                        let text = nested.collect::<Vec<_>>().join(" ");
                        self.add(&text, scripts_of, depth + 1);
                    }
                    return;
                }
                "-c" | "-lc" | "-ec" | "-euc" | "-ic" if plain.ends_with("sh") => {
                    if let Some(text) = rest.next() {
                        self.add(text, scripts_of, depth + 1);
                    }
                    return;
                }
                "-c" | "-e" => return,
                option if option.starts_with('-') => {}
                script => {
                    if let Some(path) = join(folder, script) {
                        self.scripts.insert(path);
                    }
                    return;
                }
            }
        }
    }

    fn task_runner(
        &mut self,
        name: &str,
        folder: &str,
        arguments: &[String],
        scripts_of: &dyn Fn(&str, &str) -> Option<String>,
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
                        self.add(&text, scripts_of, depth + 1);
                    }
                }
            }
            "npm-run-all" | "run-s" | "run-p" | "concurrently" => {
                for script in arguments.iter().filter(plain) {
                    self.targets.insert(("npm".to_owned(), script.clone()));
                    if let Some(text) = scripts_of("npm", script) {
                        self.add(&text, scripts_of, depth + 1);
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

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// `folder` and then `path`, normalised; nothing for what leaves the repository or is no path.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    let path = path
        .strip_prefix("<rootDir>/")
        .or_else(|| path.strip_prefix("$ATLAS_REPO/"))
        .unwrap_or(path);
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

/// Splits at the shell's operators; quotes hold words together. No expansion is done.
fn simple_commands(text: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    let end_word = |commands: &mut Vec<Vec<String>>, word: &mut Option<String>| {
        if let (Some(word), Some(last)) = (word.take(), commands.last_mut()) {
            last.push(word);
        }
    };
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
            (None, '&' | ';' | '|' | '\n' | '(' | ')') => {
                end_word(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            (None, c) if c.is_whitespace() => end_word(&mut commands, &mut word),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    end_word(&mut commands, &mut word);
    commands.retain(|words| !words.is_empty());
    commands
}
