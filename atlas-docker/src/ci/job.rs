//! One job of any service, in the words of all services.

use super::image;
use super::yaml::Node;
use super::{Beside, Placed};
use crate::tree::{Tree, resolved};
use regex::Regex;
use std::sync::LazyLock;

/// One use of an action.
#[derive(Clone, Debug)]
struct Uses {
    action: String,
    with: Vec<(String, Vec<Placed>)>,
}

/// One job that runs on Linux.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    /// What it is called; a job that is called a test counts as one.
    pub(super) name: String,
    uses: Vec<Uses>,
    /// What expressions can name: the matrix (entries for other systems left out), inputs,
    /// parameters and variables.
    pub(super) bindings: Vec<(String, Placed)>,
    /// The combinations of the matrix: name and value.
    combinations: Vec<Vec<(String, String)>>,
    /// The shell commands, one a line, without those of conditional matrix entries.
    pub(crate) commands: Vec<Placed>,
    /// The systems it runs on and the images it runs in.
    pub(crate) systems: Vec<Placed>,
    /// Environment variables with plain or unresolved values.
    pub(crate) env: Vec<(String, Placed)>,
    /// Values of steps' variables that hold options of a build: `-DX=ON`.
    pub(super) options: Vec<Placed>,
    /// What runs beside the job: databases and the like.
    pub(crate) services: Vec<Beside>,
    /// Whether it runs in a container itself, so that it reaches services by name and by their own ports.
    pub(crate) in_container: bool,
    /// Debian packages that are named other than in a command.
    pub(super) apt: Vec<(String, Placed)>,
    /// The folders in which commands run, where it is not the root: command's file and line -> folder.
    pub(super) directories: Vec<(String, usize, String)>,
}

static TESTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)\b(pytest|py\.test|unittest|tox|nox|nosetests|(make|just|task|hatch|pdm|uv|poe|ninja|meson|dotnet|swift|sbt|bazel|lein|composer)\ (run(-script)?\ )?(\S+\ )?(test|check)\w*
        |go\ test|gotestsum|cargo\ (\S+\ )?(nextest|test|hack)|(npm|yarn|pnpm|bun)\ (run\ |run-script\ )?t(est)?\b|npm\ cit?\b
        |jest|vitest|mocha|ava|jasmine|karma|node\ .*--test
        |rspec|rake|minitest|cucumber|phpunit|paratest|pest|ctest
        |(mvnw?|gradlew?)\ (.*\ )?(test|check|verify|install|build|package)\b|ant\ (.*\ )?test|dotnet\ .*vstest|nunit3?-console)\b
        |(^|[/_-])test\S*\.sh\b|\bmanage\.py\ test\b|\bruntests?\.(py|pl|sh)\b|\b(prove|bats)\ ",
    )
    .expect("a literal pattern")
});

/// Expressions of all services: `${{ matrix.x }}`, `<< parameters.x >>`, `$[[ inputs.x ]]`, `$(x)`,
/// `${x}`, `$x`.
static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?P<long>\$\{\{.*?\}\} | <<[^<>]*>> | \$\[\[.*?\]\])
        | \$\((?P<azure>[A-Za-z_][\w.-]*)\)
        | \$\{(?P<braced>[A-Za-z_]\w*)(?::-?[^}]*)?\}
        | \$(?P<plain>[A-Za-z_]\w*)",
    )
    .expect("a literal pattern")
});

static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:matrix|env|inputs|parameters|variables|vars)\.([A-Za-z0-9_.-]+)")
        .expect("a literal pattern")
});

/// GitHub's way to choose between two texts.
static CHOICE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^\$\{\{\s*(?:matrix|env|inputs|vars)\.(?P<name>[A-Za-z0-9_.-]+)
        (?:\s*(?P<is>==|!=)\s*'(?P<value>[^']*)')?
        \s*&&\s*'(?P<then>[^']*)'\s*\|\|\s*'(?P<or>[^']*)'\s*\}\}$",
    )
    .expect("a literal pattern")
});

/// GitHub's way to give what has no value one: `matrix.asan || 'ON'`.
static OTHERWISE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\$\{\{\s*[A-Za-z0-9_.-]+\s*\|\|\s*'([^']*)'\s*\}\}$").expect("a literal pattern")
});

/// Values that one expression can have; a matrix of more is cut.
const MAX_VALUES: usize = 64;
/// Expressions that are replaced in one text: a value can name another, and itself.
const DEEPEST: usize = 12;

impl Job {
    /// A job without anything.
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Whether it runs tests.
    pub(crate) fn tests(&self) -> bool {
        self.commands
            .iter()
            .any(|command| TESTS.is_match(&command.text))
            || self.name.to_ascii_lowercase().contains("test")
    }

    /// Whether this line of shell runs tests.
    pub(crate) fn is_test(command: &str) -> bool {
        TESTS.is_match(command)
    }

    /// Whether its tests run in folders alone that the repository does not have: a project that uses this one, brought
    /// by the job itself.
    pub(super) fn tests_another(&self, tree: &Tree) -> bool {
        let tests = self
            .commands
            .iter()
            .filter(|command| Self::is_test(&command.text));
        let mut folders = tests.map(|command| self.directory(command)).peekable();
        folders.peek().is_some()
            && folders.all(|folder| folder.is_some_and(|folder| !tree.has_folder(folder)))
    }

    /// The folder in which a command runs, from the repository's root; `None` is the root itself.
    pub(crate) fn directory(&self, command: &Placed) -> Option<&str> {
        self.directories
            .iter()
            .find(|(file, line, _)| *file == command.file && *line == command.line)
            .map(|(_, _, folder)| folder.as_str())
    }

    /// The values an action is given, expressions resolved.
    pub(super) fn values(&self, action: &str, key: &str) -> Vec<Placed> {
        self.uses
            .iter()
            .filter(|uses| uses.action == action)
            .flat_map(|uses| &uses.with)
            .filter(|(name, _)| name == key)
            .flat_map(|(_, values)| values)
            .flat_map(|value| self.expand(value))
            .collect()
    }

    /// The actions it uses, each with what it is given, expressions resolved.
    pub(crate) fn actions(&self) -> impl Iterator<Item = (&str, Vec<(&str, Placed)>)> {
        self.uses.iter().map(|uses| {
            let with = uses.with.iter().filter_map(|(key, values)| {
                let first = self.expand_all(values).into_iter().next();
                first.map(|value| (key.as_str(), value))
            });
            (uses.action.as_str(), with.collect())
        })
    }

    /// The values of its matrix and of what else expressions can name: key and value.
    pub(crate) fn matrix(&self) -> impl Iterator<Item = (&str, &Placed)> {
        let bindings = self.bindings.iter();
        bindings.map(|(key, value)| (key.as_str(), value))
    }

    /// Notes the systems that a job runs on.
    pub(super) fn runs_on(&mut self, named: &[Placed]) {
        for value in named {
            let systems = self.expand(value);
            self.systems.extend(systems);
        }
    }

    /// Notes that an action is used.
    pub(super) fn uses(&mut self, action: &str, with: Vec<(String, Vec<Placed>)>) {
        self.uses.push(Uses {
            action: action.to_owned(),
            with,
        });
    }

    /// Notes a version of a toolchain, under the pseudo action `toolchain`.
    pub(super) fn toolchain(&mut self, language: &str, value: Placed) {
        self.uses("toolchain", vec![(language.to_owned(), vec![value])]);
    }

    /// Notes the image that the job runs in, under the pseudo action `image`: the full reference
    /// under the key `*`, the version in its tag under its name and its toolchain's.
    pub(super) fn image(&mut self, value: &Placed) {
        for full in self.expand(value) {
            self.systems.push(full.clone());
            let Some(image) = image::read(&full.text) else {
                continue;
            };
            let mut with = vec![("*".to_owned(), vec![full.clone()])];
            if let Some(text) = image.version {
                let version = Placed { text, ..full };
                if image.name != image.toolchain {
                    let text = image.own.unwrap_or_else(|| version.text.clone());
                    with.push((
                        image.name,
                        vec![Placed {
                            text,
                            ..version.clone()
                        }],
                    ));
                }
                with.push((image.toolchain, vec![version]));
            }
            self.uses("image", with);
        }
    }

    /// Gives a name its values: a matrix entry, an input, a variable. The values of a map are
    /// known as `name.key`.
    pub(super) fn bind(&mut self, file: &str, name: &str, value: &Node) {
        match value {
            Node::Map(entries) => {
                for (key, value) in entries {
                    self.bind(file, &format!("{name}.{}", key.text), value);
                }
            }
            Node::List(items) => {
                for item in items {
                    // An entry of a matrix that names another system is for that system.
                    let here = item.entries().is_empty() || !other_system(&item.all_text());
                    if here {
                        self.bind(file, name, item);
                    }
                }
            }
            Node::Scalar { .. } => {
                for value in value.scalars(file) {
                    let listed = json_list(&value);
                    let values = if listed.is_empty() {
                        vec![value]
                    } else {
                        listed
                    };
                    self.bindings
                        .extend(values.into_iter().map(|value| (name.to_owned(), value)));
                }
            }
        }
    }

    /// Gives the names of a matrix the values of one of its combinations. An expression of several names has
    /// only values that stand together in one.
    pub(super) fn combination(&mut self, file: &str, values: &[(Placed, Node)]) {
        let before = std::mem::take(&mut self.bindings);
        for (name, value) in values {
            self.bind(file, &name.text, value);
        }
        let new = std::mem::replace(&mut self.bindings, before);
        let pairs = new.iter();
        let pairs = pairs.map(|(name, value)| (name.clone(), value.text.clone()));
        self.combinations.push(pairs.collect());
        for value in new {
            if !self.bindings.contains(&value) {
                self.bindings.push(value);
            }
        }
    }

    /// Whether one combination of the matrix has all of these values, as far as they are of the matrix.
    fn together(&self, chosen: &[(String, String)]) -> bool {
        let has = |one: &Vec<(String, String)>, pair| one.contains(pair);
        let of_matrix: Vec<_> = chosen
            .iter()
            .filter(|pair| self.combinations.iter().any(|one| has(one, pair)))
            .collect();
        let mut combinations = self.combinations.iter();
        of_matrix.len() < 2 || combinations.any(|one| of_matrix.iter().all(|pair| has(one, pair)))
    }

    /// Notes environment variables of a map; they can be named in expressions too.
    pub(super) fn variables(&mut self, file: &str, entries: &[(Placed, Node)]) {
        for (key, value) in entries {
            // GitLab writes `NAME: {value: …, description: …}`.
            let value = value.get("value").unwrap_or(value);
            if let Some(value) = value.scalar(file) {
                self.bindings.push((key.text.clone(), value.clone()));
                self.env.push((key.text.clone(), value));
            } else if matches!(value, Node::Scalar { .. }) {
                let nothing = Placed {
                    text: String::new(),
                    ..key.clone()
                };
                self.bindings.push((key.text.clone(), nothing));
            }
        }
    }

    /// The same, in place of what was known of these names.
    pub(super) fn new_variables(&mut self, file: &str, entries: &[(Placed, Node)]) {
        let named = |name: &String| entries.iter().any(|(key, _)| key.text == *name);
        self.bindings.retain(|(name, _)| !named(name));
        self.env.retain(|(name, _)| !named(name));
        self.variables(file, entries);
    }

    /// Notes variables of a shell line: `A=1 B="two words"`.
    pub(super) fn assignments(&mut self, line: &Placed) {
        static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"(?:^|\s)([A-Za-z_]\w*)=(?:"([^"]*)"|'([^']*)'|(\S*))"#)
                .expect("a literal pattern")
        });
        for found in ASSIGNMENT.captures_iter(&line.text) {
            let value = found
                .get(2)
                .or_else(|| found.get(3))
                .or_else(|| found.get(4));
            let text = value
                .map(|value| value.as_str().to_owned())
                .unwrap_or_default();
            let value = Placed {
                text,
                ..line.clone()
            };
            self.bindings.push((found[1].to_owned(), value.clone()));
            self.env.push((found[1].to_owned(), value));
        }
    }

    /// Adds commands that run in a folder.
    pub(super) fn run(&mut self, mut commands: Vec<Placed>, folder: Option<&str>) {
        for command in &mut commands {
            command.text = self.fill(&command.text);
        }
        let folder = folder
            .map(|folder| folder.trim_start_matches("./").trim_end_matches('/'))
            .filter(|folder| !folder.is_empty() && *folder != ".");
        let mut folder = folder.map(str::to_owned);
        for command in &commands {
            if let Some(folder) = &folder {
                let place = (command.file.clone(), command.line, folder.clone());
                self.directories.push(place);
            }
            // An expression may hold blanks.
            let to = command.text.trim().strip_prefix("cd ");
            if let Some(to) = to.filter(|to| !to.contains(['&', ';', '|'])) {
                let from = folder.as_deref().unwrap_or_default();
                folder = resolved(from, to.trim().trim_matches(['"', '\'']))
                    .filter(|folder| !folder.is_empty());
            }
        }
        self.commands.extend(commands);
    }

    /// All of these texts with their expressions replaced.
    pub(super) fn expand_all(&self, values: &[Placed]) -> Vec<Placed> {
        values.iter().flat_map(|value| self.expand(value)).collect()
    }

    /// The values of `name && 'a' || 'b'` and `name == 'x' && 'a' || 'b'`.
    fn choose(&self, choice: &regex::Captures<'_>) -> Vec<String> {
        let [then, or] = ["then", "or"].map(|group| choice.name(group).map_or("", |m| m.as_str()));
        let is = |value: &str| match (choice.name("is"), choice.name("value")) {
            (Some(is), Some(wanted)) => (value == wanted.as_str()) == (is.as_str() == "=="),
            _ => !matches!(value, "" | "false" | "0" | "null"),
        };
        let known = self
            .bindings
            .iter()
            .filter(|(name, _)| *name == choice["name"])
            .map(|(_, value)| is(&value.text));
        let mut known: Vec<bool> = known.collect();
        if known.is_empty() {
            known.push(is(""));
        }
        let mut values: Vec<String> = Vec::new();
        for chosen in known {
            let value = if chosen { then } else { or };
            if !values.iter().any(|known| known == value) {
                values.push(value.to_owned());
            }
        }
        values
    }

    /// A text with its expressions replaced, once for each value of the first of them. An
    /// expression that names nothing known gives nothing.
    pub(crate) fn expand(&self, value: &Placed) -> Vec<Placed> {
        let mut done = Vec::new();
        // Values can name others: a variable that is taken from the matrix.
        let mut open = vec![(value.clone(), 0, Vec::new())];
        while let Some((value, depth, chosen)) = open.pop() {
            let Some(found) = EXPRESSION.captures(&value.text) else {
                done.push(value);
                continue;
            };
            if depth >= DEEPEST || done.len() + open.len() > MAX_VALUES {
                continue;
            }
            let whole = found.get(0).map_or(0..0, |found| found.range());
            if let Some(choice) = found
                .name("long")
                .and_then(|long| CHOICE.captures(long.as_str()))
            {
                let texts = self.choose(&choice).into_iter().map(|made| {
                    let mut text = value.text.clone();
                    text.replace_range(whole.clone(), &made);
                    let next = Placed {
                        text,
                        ..value.clone()
                    };
                    (next, depth + 1, chosen.clone())
                });
                let before = open.len();
                open.extend(texts);
                open[before..].reverse();
                continue;
            }
            let short = ["azure", "braced", "plain"]
                .iter()
                .find_map(|name| found.name(name));
            let names: Vec<&str> = match (found.name("long"), short) {
                (Some(long), _) => NAMED
                    .captures_iter(long.as_str())
                    .filter_map(|found| found.get(1))
                    .map(|name| name.as_str())
                    .collect(),
                (None, short) => short.iter().map(regex::Match::as_str).collect(),
            };
            let before = open.len();
            for (key, known) in self
                .bindings
                .iter()
                .filter(|(key, _)| names.contains(&key.as_str()))
            {
                let mut chosen = chosen.clone();
                chosen.push((key.clone(), known.text.clone()));
                if !self.together(&chosen) {
                    continue;
                }
                let mut text = value.text.clone();
                text.replace_range(whole.clone(), &known.text);
                // The place of a whole value is where it is given, of a part where it is used.
                let place = if whole.len() == value.text.len() {
                    known
                } else {
                    &value
                };
                let next = Placed {
                    text,
                    ..place.clone()
                };
                open.push((next, depth + 1, chosen));
            }
            if open.len() == before
                && let Some(given) = found
                    .name("long")
                    .and_then(|long| OTHERWISE.captures(long.as_str()))
            {
                let mut text = value.text.clone();
                text.replace_range(whole.clone(), &given[1]);
                let next = Placed {
                    text,
                    ..value.clone()
                };
                open.push((next, depth + 1, chosen.clone()));
            }
            open[before..].reverse();
        }
        done
    }
}

/// The strings and numbers of `fromJSON('["3.8", "3.9"]')`.
pub(super) fn json_list(value: &Placed) -> Vec<Placed> {
    static LIST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)fromjson\(\s*'(\[.*\])'\s*\)").expect("a literal pattern")
    });
    let Some(found) = LIST.captures(&value.text) else {
        return Vec::new();
    };
    serde_json::from_str::<Vec<serde_json::Value>>(&found[1])
        .unwrap_or_default()
        .iter()
        .filter_map(|item| match item {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
        .map(|text| Placed {
            text,
            ..value.clone()
        })
        .collect()
}

/// Whether a text names a system that is not Linux.
pub(super) fn other_system(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["windows", "macos", "osx", "freebsd", "visual studio"]
        .iter()
        .any(|name| text.contains(name))
}

impl Job {
    /// A text with inputs and parameters replaced that have exactly one value. What the matrix
    /// gives stays: often only one of its entries gives anything.
    pub(super) fn fill(&self, text: &str) -> String {
        static LONG: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"\$\{\{.*?\}\}|<<[^<>]*>>|\$\[\[.*?\]\]").expect("a literal pattern")
        });
        let mut filled = String::new();
        let mut end = 0;
        for found in LONG.find_iter(text) {
            let place = Placed {
                file: String::new(),
                line: 0,
                text: found.as_str().to_owned(),
            };
            filled.push_str(&text[end..found.start()]);
            let given = ["inputs.", "parameters."];
            match &self.expand(&place)[..] {
                [one] if given.iter().any(|of| found.as_str().contains(of)) => {
                    filled.push_str(&one.text);
                }
                _ => filled.push_str(found.as_str()),
            }
            end = found.end();
        }
        filled.push_str(&text[end..]);
        filled
    }

    /// Takes over what another job does, its expressions resolved by its own bindings.
    pub(super) fn absorb(&mut self, other: Self) {
        for uses in &other.uses {
            let with = uses
                .with
                .iter()
                .map(|(key, values)| {
                    let values = values.iter().flat_map(|value| other.expand(value));
                    (key.clone(), values.collect())
                })
                .collect();
            self.uses(&uses.action, with);
        }
        self.commands
            .extend(other.commands.iter().map(|command| Placed {
                text: other.fill(&command.text),
                ..command.clone()
            }));
        self.env.extend(other.env);
        self.services.extend(other.services);
        self.in_container |= other.in_container;
        self.apt.extend(other.apt);
        self.directories.extend(other.directories);
    }
}

#[cfg(test)]
mod tests {
    use super::{Job, Placed};

    #[test]
    fn values_of_one_text_stand_together_in_a_combination() {
        let at = |text: &str| Placed {
            file: "ci.yml".to_owned(),
            line: 1,
            text: text.to_owned(),
        };
        let text = "image: [pg, my]\nv: [1, 2]\nexclude:\n  - image: my\n    v: 1\n";
        let matrix = super::super::yaml::load("ci.yml", text).unwrap();
        let mut job = Job::new("j");
        job.bindings = vec![
            ("kind".to_owned(), at("slim")),
            ("kind".to_owned(), at("full")),
        ];
        super::super::matrix::bind(&mut job, "ci.yml", super::super::matrix::of_github(&matrix));
        for (text, expected) in [
            (
                "${{ matrix.image }}:${{ matrix.v }}",
                vec!["pg:1", "pg:2", "my:2"],
            ),
            ("${{ matrix.v }}", vec!["1", "2"]),
            // What is no part of the matrix goes with all of it.
            (
                "${{ inputs.kind }}-${{ matrix.image }}",
                vec!["slim-pg", "slim-my", "full-pg", "full-my"],
            ),
        ] {
            let found: Vec<String> = job
                .expand(&at(text))
                .into_iter()
                .map(|value| value.text)
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_choice_between_two_texts_is_made() {
        let at = |text: &str| Placed {
            file: "ci.yml".to_owned(),
            line: 1,
            text: text.to_owned(),
        };
        let mut job = Job::new("j");
        job.bindings = vec![
            ("fast".to_owned(), at("true")),
            ("fast".to_owned(), at("false")),
            ("os".to_owned(), at("linux")),
        ];
        for (text, expected) in [
            (
                "-D=${{ matrix.fast && 'Rel' || 'Debug' }} x",
                vec!["-D=Rel x", "-D=Debug x"],
            ),
            ("${{ matrix.os == 'linux' && 'a' || 'b' }}", vec!["a"]),
            ("${{ matrix.os != 'linux' && 'a' || 'b' }}", vec!["b"]),
            ("${{ matrix.unknown && 'a' || 'b' }}", vec!["b"]),
            (
                "-A=${{ matrix.unknown || 'ON' }} -B=${{ matrix.os || 'x' }}",
                vec!["-A=ON -B=linux"],
            ),
            (
                "${{ matrix.os }}${{ matrix.os }}${{ matrix.os }}${{ matrix.os }}${{ matrix.os }}",
                vec!["linuxlinuxlinuxlinuxlinux"],
            ),
        ] {
            let found: Vec<String> = job
                .expand(&at(text))
                .into_iter()
                .map(|value| value.text)
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
