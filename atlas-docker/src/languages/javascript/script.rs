//! Scripts of package.json with all scripts they call put in their place.

use super::package::{Workspace, join};
use super::shell::{
    Loop, NODE_OPTIONS, Part, is_assignment, split, take_node_options, unquoted, words,
};
use crate::tree::Tree;
use serde_json::Value;

/// One command that a script comes to.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The package and the script it stands in.
    pub(super) package: usize,
    pub(super) script: String,
    /// Where it runs, from the repository's root.
    pub(super) folder: String,
    /// `NAME=value` in front of it and of the calls that led to it.
    pub(super) env: Vec<String>,
    pub(super) words: Vec<String>,
    /// The loop that it stands in.
    pub(super) each: Option<Loop>,
}

/// Measures which lines are run, and has settings of its own.
const NYC: &str = "nyc";

/// Programs that only measure, prepare or repeat what follows them.
const WRAPPERS: &[&str] = &[
    "npx",
    "bunx",
    NYC,
    "c8",
    "istanbul",
    "cross-env",
    "cross-env-shell",
    "env",
    "env-cmd",
    "dotenv",
    "dotenvx",
    "time",
    "timeout",
    "nice",
    "xvfb-run",
    "xvfb-maybe",
    "exec",
    "command",
    "retry",
    "is-ci",
    "if-env",
];

/// Programs that call scripts.
const CALLERS: &[&str] = &[
    "npm",
    "yarn",
    "pnpm",
    "run-s",
    "run-p",
    "npm-run-all",
    "npm-run-all2",
    "concurrently",
    "lerna",
    "turbo",
    "nx",
    "wsrun",
    "wireit",
    "make",
    "sh",
    "bash",
    "bun",
    "node",
    "tsx",
    "ts-node",
    "babel-node",
];

/// Expands scripts into steps.
pub(super) struct Expansion<'a> {
    tree: &'a Tree,
    pub(super) workspace: &'a Workspace,
    steps: Vec<Step>,
    /// Scripts that are being expanded: cuts rings.
    open: Vec<(String, String)>,
    /// Bounds scripts that call each other many times over.
    budget: usize,
}

/// Where a line of a script stands.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) package: usize,
    pub(super) folder: String,
    script: String,
    env: Vec<String>,
    each: Option<Loop>,
}

/// A call of a script, with the arguments it gets.
pub(super) type Call = (usize, String, Vec<String>);

impl<'a> Expansion<'a> {
    pub(super) fn new(tree: &'a Tree, workspace: &'a Workspace) -> Self {
        Self {
            tree,
            workspace,
            steps: Vec::new(),
            open: Vec::new(),
            budget: 400,
        }
    }

    /// The steps of a script, those of its `pre` script first.
    pub(super) fn of(mut self, package: usize, script: &str) -> Vec<Step> {
        self.script(package, script, &[], &[]);
        self.steps
    }

    /// The steps of a shell line.
    pub(super) fn of_line(mut self, line: &str) -> Vec<Step> {
        let place = Place {
            package: 0,
            folder: self.workspace.main().folder.clone(),
            script: String::new(),
            env: Vec::new(),
            each: None,
        };
        self.line(&place, line);
        self.steps
    }

    fn script(&mut self, package: usize, name: &str, args: &[String], env: &[String]) {
        let of = &self.workspace.packages[package];
        for stage in [format!("pre{name}"), name.to_owned()] {
            let place = Place {
                package,
                folder: of.folder.clone(),
                script: stage.clone(),
                env: env.to_vec(),
                each: None,
            };
            let Some(text) = of.script(&stage) else {
                continue;
            };
            let mut text = text.to_owned();
            if stage == name && !args.is_empty() {
                text = format!("{text} {}", args.join(" "));
            }
            self.guarded(&place, &stage, |this| {
                if text.trim() == "wireit" {
                    this.wireit(&place, &stage);
                } else {
                    this.line(&place, &text);
                }
            });
        }
    }

    fn guarded(&mut self, place: &Place, what: &str, expand: impl FnOnce(&mut Self)) {
        let key = (place.folder.clone(), what.to_owned());
        if self.budget == 0 || self.open.contains(&key) {
            return;
        }
        self.budget -= 1;
        self.open.push(key);
        expand(self);
        self.open.pop();
    }

    /// A script whose command and dependencies stand in the table `wireit`.
    fn wireit(&mut self, place: &Place, name: &str) {
        let of = &self.workspace.packages[place.package];
        let Some(entry) = of.json.get("wireit").and_then(|table| table.get(name)) else {
            return;
        };
        let needed = entry.get("dependencies").and_then(Value::as_array);
        for needed in needed.into_iter().flatten() {
            let text = needed.as_str().or_else(|| needed.get("script")?.as_str());
            let Some(text) = text else { continue };
            match text
                .rsplit_once(':')
                .filter(|_| text.starts_with(['.', '/']))
            {
                Some((folder, script)) => {
                    if let Some(at) = self.workspace.at(&join(&of.folder, folder)) {
                        self.script(at, script, &[], &place.env);
                    }
                }
                None => self.script(place.package, text, &[], &place.env),
            }
        }
        if let Some(command) = entry.get("command").and_then(Value::as_str) {
            self.line(place, command);
        }
    }

    fn line(&mut self, place: &Place, text: &str) {
        let mut place = place.clone();
        let mut outer = Vec::new();
        for Part {
            text,
            opens,
            closes,
        } in split(text)
        {
            if self.budget == 0 {
                return;
            }
            for _ in 0..opens {
                outer.push(place.folder.clone());
            }
            let mut words = words(&text);
            let keyword = words.first().cloned().unwrap_or_default();
            if matches!(keyword.as_str(), "do" | "then" | "else") {
                words.remove(0);
            }
            match words.first().map(String::as_str) {
                Some("cd") => {
                    if let Some(to) = words.get(1) {
                        place.folder = join(&place.folder, &unquoted(to));
                    }
                }
                Some("for") => place.each = Loop::begins(&words),
                Some("done") => place.each = None,
                // What decides, or ends a decision, makes nothing.
                None | Some("if" | "elif" | "fi" | "[" | "[[" | "test") => {}
                Some(_) => self.command(&place, &words),
            }
            for _ in 0..closes {
                if let Some(folder) = outer.pop() {
                    place.folder = folder;
                }
            }
        }
    }

    fn command(&mut self, place: &Place, words: &[String]) {
        let (env, rest) = bare(words);
        let mut inner = place.clone();
        inner.env.extend(env);
        let wrappers = &words[..words.len() - rest.len()];
        if wrappers.iter().any(|word| head(word) == NYC) {
            let mut options = vec![take_node_options(&mut inner.env)];
            options.extend(self.loaded_by_nyc(place, wrappers));
            options.retain(|option| !option.is_empty());
            if !options.is_empty() {
                let options = options.join(" ");
                inner.env.push(format!("{NODE_OPTIONS}{options}"));
            }
        }
        let head = rest.first().map(|word| head(word)).unwrap_or_default();
        if matches!(head.as_str(), "concurrently" | "start-server-and-test") {
            for word in rest[1..].iter().filter(|word| !word.starts_with('-')) {
                let text = unquoted(word);
                match text.strip_prefix("npm:") {
                    Some(name) => {
                        let (name, args) = name.split_once(' ').unwrap_or((name, ""));
                        for name in self.matching(place.package, name) {
                            self.script(place.package, &name, &[args.to_owned()], &inner.env);
                        }
                    }
                    None => self.guarded(place, &text, |this| this.line(&inner, &text)),
                }
            }
            return;
        }
        if let Some(lines) = self.foreign(&inner, &head, rest) {
            let what = rest.join(" ");
            self.guarded(place, &what, |this| {
                for line in lines {
                    this.line(&inner, &line);
                }
            });
            return;
        }
        match self.calls(&inner, &head, rest) {
            Some(calls) => {
                for (package, name, args) in calls {
                    self.script(package, &name, &args, &inner.env);
                }
            }
            None => self.steps.push(Step {
                package: inner.package,
                script: inner.script,
                folder: inner.folder,
                env: inner.env,
                words: rest.to_vec(),
                each: inner.each,
            }),
        }
    }

    /// What nyc has every process below it load, as options of node: one may be what reads the sources (`@babel/register`).
    fn loaded_by_nyc(&self, place: &Place, wrappers: &[String]) -> Vec<String> {
        let package = &self.workspace.packages[place.package];
        let files = [".nycrc", ".nycrc.json"].map(|name| join(&package.folder, name));
        let file = files.iter().find_map(|file| self.tree.text(file));
        let settings = match file {
            Some(text) => serde_json::from_str(&text).ok(),
            None => package.json.get(NYC).cloned(),
        };
        let listed = settings
            .as_ref()
            .and_then(|settings| settings.get("require"));
        let listed = match listed {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(name)) => vec![name.as_str()],
            _ => Vec::new(),
        };
        let given = wrappers.windows(2).filter_map(|two| match two[0].as_str() {
            "--require" | "-r" => Some(unquoted(&two[1])),
            _ => None,
        });
        let names = listed.into_iter().map(str::to_owned).chain(given);
        names.map(|name| format!("--require {name}")).collect()
    }

    /// The lines of a shell script or of a Makefile's target.
    fn foreign(&self, place: &Place, head: &str, words: &[String]) -> Option<Vec<String>> {
        if head == "make" {
            let target = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
            let text = self.tree.text(&join(&place.folder, "Makefile"))?;
            let rule = format!("{target}:");
            let mut lines = text.lines().skip_while(|line| !line.starts_with(&rule));
            let first = lines.next()?;
            let needed = first[rule.len()..].split_whitespace();
            let mut found: Vec<String> = needed.map(|name| format!("make {name}")).collect();
            let own = lines.take_while(|line| line.starts_with('\t') || line.trim().is_empty());
            found.extend(
                own.map(|line| line.trim().trim_start_matches(['@', '-']).to_owned())
                    .filter(|line| !line.is_empty()),
            );
            return Some(found);
        }
        let file = match head {
            "sh" | "bash" => words.iter().skip(1).find(|word| !word.starts_with('-'))?,
            _ => words.first()?,
        };
        let file = unquoted(file);
        let is_shell = |end: &str| file.rsplit('.').next() == Some(end);
        if !is_shell("sh") && !is_shell("bash") {
            return None;
        }
        let text = self.tree.text(&join(&place.folder, &file))?;
        let joined = text.replace("\\\n", " ");
        let control = [
            "#",
            "set ",
            "if ",
            "fi",
            "then",
            "else",
            "for ",
            "do",
            "while ",
            "case ",
            "esac",
            "function ",
            "export ",
            "}",
            "exit",
            "echo ",
            "trap ",
        ];
        Some(
            joined
                .lines()
                .map(str::trim)
                .filter(|line| {
                    !line.is_empty() && !control.iter().any(|word| line.starts_with(word))
                })
                .map(str::to_owned)
                .collect(),
        )
    }
}

/// A program's name: of its path, its quotes and its ending.
pub(super) fn head(word: &str) -> String {
    let word = unquoted(word);
    if let Some(path) = word
        .split("node_modules/")
        .nth(1)
        .filter(|path| !path.starts_with(".bin/"))
    {
        let mut parts = path.split('/');
        let first = parts.next().unwrap_or_default();
        return match parts.next() {
            Some(second) if first.starts_with('@') => format!("{first}/{second}"),
            _ => first.to_owned(),
        };
    }
    let name = word.rsplit('/').next().unwrap_or(&word);
    let endings = [".js", ".mjs", ".cjs"];
    let name = endings
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    name.trim_start_matches('_').to_owned()
}

/// Words after assignments and wrappers, which come back apart.
pub(super) fn bare(words: &[String]) -> (Vec<String>, &[String]) {
    let mut env = Vec::new();
    let mut at = 0;
    let mut wrapped = false;
    let known = |word: &String| {
        let name = head(word);
        super::programs::is_known(&name)
            || CALLERS.contains(&name.as_str())
            || WRAPPERS.contains(&name.as_str())
    };
    while let Some(word) = words.get(at) {
        if is_assignment(word) {
            env.push(word.clone());
        } else if WRAPPERS.contains(&head(word).as_str()) && !word.starts_with('-') {
            wrapped = true;
        } else if wrapped && !known(word) {
            // An option, its value, or a program of another name: `nyc --reporter lcov mocha`.
            let next = words[at..].iter().position(known);
            match next {
                Some(0) | None if !word.starts_with('-') => break,
                Some(next) if next > 0 => {
                    at += next;
                    continue;
                }
                _ => {}
            }
        } else {
            break;
        }
        at += 1;
    }
    (env, &words[at.min(words.len())..])
}
