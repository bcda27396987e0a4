//! Commands that run scripts of packages: package managers and tools above them.

use super::package::join;
use super::script::{Call, Expansion, Place};
use super::shell::{options, pattern, unquoted};

impl Expansion<'_> {
    /// The scripts of a package whose name fits a pattern.
    pub(super) fn matching(&self, package: usize, name: &str) -> Vec<String> {
        let of = &self.workspace.packages[package];
        if of.script(name).is_some() {
            return vec![name.to_owned()];
        }
        let pattern = if name.len() > 1 && name.starts_with('/') && name.ends_with('/') {
            regex::Regex::new(&name[1..name.len() - 1]).ok()
        } else if name.contains('*') {
            pattern(name, ':')
        } else {
            None
        };
        let fits = |script: &&str| pattern.as_ref().is_some_and(|found| found.is_match(script));
        of.scripts().filter(fits).map(str::to_owned).collect()
    }

    /// The scripts that a command calls; `None` for a command that calls none.
    pub(super) fn calls(&self, place: &Place, head: &str, words: &[String]) -> Option<Vec<Call>> {
        let rest = words.get(1..).unwrap_or_default();
        match head {
            "npm" => self.npm(place, rest),
            "pnpm" => self.pnpm(place, rest),
            "yarn" => self.yarn(place, rest),
            "bun" => {
                let name = rest
                    .iter()
                    .find(|word| !word.starts_with('-') && *word != "run")?;
                (rest.first()? == "run").then(|| self.named(&[place.package], name, &[]))
            }
            "run-s" | "run-p" | "npm-run-all" | "npm-run-all2" => {
                let mut calls = Vec::new();
                for word in rest.iter().filter(|word| !word.starts_with('-')) {
                    let word = unquoted(word);
                    let (name, args) = word.split_once(' ').unwrap_or((&word, ""));
                    let args: Vec<String> = match args.trim_start_matches("-- ") {
                        "" => Vec::new(),
                        args => vec![args.to_owned()],
                    };
                    calls.extend(self.named(&[place.package], name, &args));
                }
                Some(calls)
            }
            "lerna" | "turbo" | "nx" | "wsrun" => self.orchestrated(head, rest),
            _ => None,
        }
    }

    fn named(&self, packages: &[usize], name: &str, args: &[String]) -> Vec<Call> {
        let mut calls = Vec::new();
        for package in packages {
            for script in self.matching(*package, name) {
                calls.push((*package, script, args.to_vec()));
            }
        }
        calls
    }

    fn npm(&self, place: &Place, words: &[String]) -> Option<Vec<Call>> {
        let valued = ["-w", "--workspace", "--prefix", "-C", "--loglevel"];
        let (mut set, rest) = options(words, &valued);
        let (verb, rest) = rest.split_first()?;
        let (name, rest) = match verb.as_str() {
            "run" | "run-script" | "rum" => {
                let (more, rest) = options(rest, &valued);
                set.extend(more);
                let (name, rest) = rest.split_first()?;
                (unquoted(name), rest)
            }
            "t" | "test" | "tst" | "it" | "cit" | "install-test" => ("test".to_owned(), rest),
            _ => return None,
        };
        let (own, args) = match rest.iter().position(|word| word == "--") {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, rest),
        };
        let (more, _) = options(own, &valued);
        set.extend(more);
        let all = ["--workspaces", "-ws"];
        let args: Vec<String> = args
            .iter()
            .filter(|word| !all.contains(&word.as_str()) && *word != "--if-present")
            .cloned()
            .collect();
        let packages = if set.iter().any(|(flag, _)| all.contains(&flag.as_str())) {
            self.workspace.select(&[])
        } else {
            self.chosen(place, &set, &["-w", "--workspace"], &["--prefix", "-C"])?
        };
        Some(self.named(&packages, &name, &args))
    }

    fn pnpm(&self, place: &Place, words: &[String]) -> Option<Vec<Call>> {
        let valued = [
            "--filter",
            "-F",
            "--filter-prod",
            "-C",
            "--dir",
            "--workspace-concurrency",
            "--reporter",
            "--loglevel",
        ];
        let (mut set, mut rest) = options(words, &valued);
        loop {
            let (first, after) = rest.split_first()?;
            match first.as_str() {
                "run" | "run-script" => {
                    let (more, after) = options(after, &valued);
                    set.extend(more);
                    rest = after;
                    break;
                }
                "recursive" | "multi" | "m" => {
                    set.push(("-r".to_owned(), String::new()));
                    rest = after;
                }
                _ => break,
            }
        }
        let (name, args) = rest.split_first()?;
        let name = match unquoted(name).as_str() {
            "t" | "tst" => "test".to_owned(),
            name => name.to_owned(),
        };
        let has = |flag: &str| set.iter().any(|(name, _)| name == flag);
        let filtered = has("--filter") || has("-F") || has("--filter-prod");
        let packages = if (has("-r") || has("--recursive")) && !filtered {
            self.workspace.select(&[])
        } else if has("-w") || has("--workspace-root") {
            vec![0]
        } else {
            let filters = ["--filter", "-F", "--filter-prod"];
            self.chosen(place, &set, &filters, &["-C", "--dir"])?
        };
        let args: Vec<String> = args.iter().filter(|word| *word != "--").cloned().collect();
        let calls = self.named(&packages, &name, &args);
        (!calls.is_empty() || packages.len() != 1).then_some(calls)
    }

    fn yarn(&self, place: &Place, words: &[String]) -> Option<Vec<Call>> {
        let (set, rest) = options(words, &["--cwd"]);
        let (first, after) = rest.split_first()?;
        match first.as_str() {
            "workspace" => {
                let (package, after) = after.split_first()?;
                let after = match after.first() {
                    Some(word) if word == "run" => &after[1..],
                    _ => after,
                };
                let (name, args) = after.split_first()?;
                let packages = self.workspace.select(&[unquoted(package)]);
                Some(self.named(&packages, name, args))
            }
            "workspaces" => {
                let each = after.first().is_some_and(|word| word == "foreach");
                let after = if each { &after[1..] } else { after };
                let valued = ["--include", "--exclude", "--from", "-j", "--jobs"];
                let (set, after) = options(after, &valued);
                let mut filters = Vec::new();
                for (flag, value) in set {
                    match flag.as_str() {
                        "--include" | "--from" => filters.push(value),
                        "--exclude" => filters.push(format!("!{value}")),
                        _ => {}
                    }
                }
                let after = match after.first() {
                    Some(word) if word == "run" => &after[1..],
                    _ => after,
                };
                let (name, args) = after.split_first()?;
                let packages = self.workspace.select(&filters);
                Some(self.named(&packages, name, args))
            }
            _ => {
                let rest = if first == "run" {
                    options(after, &[]).1
                } else {
                    rest
                };
                let (name, args) = rest.split_first()?;
                let packages = self.chosen(place, &set, &[], &["--cwd"])?;
                let args: Vec<String> = args.iter().filter(|word| *word != "--").cloned().collect();
                let calls = self.named(&packages, &unquoted(name), &args);
                (!calls.is_empty()).then_some(calls)
            }
        }
    }

    /// Tools that run one script in all packages.
    fn orchestrated(&self, head: &str, words: &[String]) -> Option<Vec<Call>> {
        let valued = ["--scope", "--ignore", "--filter", "-F", "-p", "--projects"];
        let targets = ["--target", "--targets", "-t"];
        let mut names = Vec::new();
        let mut filters = Vec::new();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let (flag, value) = word.split_once('=').unwrap_or((word, ""));
            if word == "--" {
                break;
            }
            if valued.contains(&flag) || targets.contains(&flag) {
                let value = if value.is_empty() {
                    rest.next().cloned().unwrap_or_default()
                } else {
                    value.to_owned()
                };
                let list = unquoted(&value);
                let list = list.split(',').map(str::to_owned);
                if targets.contains(&flag) {
                    names.extend(list);
                } else if flag == "--ignore" {
                    filters.extend(list.map(|name| format!("!{name}")));
                } else {
                    filters.extend(list);
                }
            } else if !word.starts_with('-')
                && !matches!(word.as_str(), "run" | "run-many" | "affected" | "r")
            {
                match word.split_once(':').filter(|_| head == "nx") {
                    Some((package, name)) => {
                        filters.push(package.to_owned());
                        names.push(name.to_owned());
                    }
                    None => names.push(unquoted(word)),
                }
            }
        }
        if head == "lerna" && words.first().is_none_or(|word| word != "run") {
            return None;
        }
        let packages = self.workspace.select(&filters);
        let mut calls = Vec::new();
        for name in names {
            calls.extend(self.named(&packages, &name, &[]));
        }
        Some(calls)
    }

    /// The packages that options of a package manager name, else the one of the folder. `None` for
    /// a folder without a package.
    fn chosen(
        &self,
        place: &Place,
        set: &[(String, String)],
        filters: &[&str],
        folders: &[&str],
    ) -> Option<Vec<usize>> {
        let values = |flags: &[&str]| -> Vec<String> {
            set.iter()
                .filter(|(flag, _)| flags.contains(&flag.as_str()))
                .map(|(_, value)| value.clone())
                .collect()
        };
        let filters = values(filters);
        if !filters.is_empty() {
            return Some(self.workspace.select(&filters));
        }
        let folder = match values(folders).first() {
            Some(folder) => join(&place.folder, folder),
            None => place.folder.clone(),
        };
        self.workspace.at(&folder).map(|at| vec![at])
    }
}
