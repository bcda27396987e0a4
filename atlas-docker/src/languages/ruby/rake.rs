//! What a Rakefile says of its test tasks, as far as it says it in literals.

use super::manifests::Manifests;
use crate::tree::Tree;
use regex::Regex;
use std::sync::LazyLock;

/// A task that runs tests.
#[derive(Clone, Debug, Default)]
pub(super) struct TestTask {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) text: String,
    name: String,
    /// Patterns of test files.
    pub(super) globs: Vec<String>,
    /// Folders of the load path.
    pub(super) libs: Vec<String>,
    /// Options of Ruby: `-r…` and `-I…`.
    pub(super) options: Vec<String>,
}

static NEW: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(Rake::TestTask\.new|Minitest::TestTask\.(?:new|create))\b[\s(]*(?::?['"]?([\w:-]+)['"]?)?"#)
        .expect("a literal pattern")
});
static LITERAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r##"['"]([^'"#]+)['"]"##).expect("a literal pattern"));
static WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"%w[\[({]([^\])}#]*)[\])}]").expect("a literal pattern"));
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^\s*\w+\.(libs|pattern|test_files|test_globs|ruby_opts)\s*(<<|\+?=|\.push|\.concat)?(.*)",
    )
    .expect("a literal pattern")
});
static PREREQUISITES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)^\s*(?:
            task\s*\(?\s*(?::?['"]?(?:test|spec|default)['"]?)\s*(?:=>|:)
            |Rake::Task\[:?['"]?(?:test|spec|default)['"]?\]\.(?:enhance|prerequisites\s*(?:<<|\.unshift|\.push|\.concat))
        )\s*(.+)"#,
    )
    .expect("a literal pattern")
});
/// rake-compiler's task `compile`, for an extension that is built for this machine.
static EXTENSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:Rake::ExtensionTask|RbSys::ExtensionTask)\.new\b")
        .expect("a literal pattern")
});
/// The name of a task that makes a file: `'spec/configuration.yml'`.
static FILE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"['"]([\w.-]+/[\w./-]+)['"]"#).expect("a literal pattern"));
static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z_][\w:-]*").expect("a literal pattern"));

/// Rakefile and the files that it usually loads.
fn files(tree: &Tree, manifests: &Manifests) -> Vec<String> {
    let folder = &manifests.folder;
    let names = ["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"];
    let tasks = tree.ending(".rake").filter(|path| {
        path.strip_prefix(folder.as_str()).is_some_and(|path| {
            ["tasks/", "lib/tasks/", "rakelib/"]
                .iter()
                .any(|start| path.starts_with(start))
        })
    });
    names
        .iter()
        .map(|name| format!("{folder}{name}"))
        .filter(|path| tree.has(path))
        .chain(tasks.map(str::to_owned))
        .collect()
}

/// The task to follow, or several where none is the main one: that named `test` or `spec`, else
/// all but those for benchmarks, coverage and the like.
pub(super) fn test_tasks(tree: &Tree, manifests: &Manifests) -> Vec<TestTask> {
    let mut all = Vec::new();
    for file in files(tree, manifests) {
        let text = tree.text(&file).unwrap_or_default();
        all.extend(read(&file, &text));
    }
    all.retain(|task| !task.globs.is_empty());
    let leaf = |task: &TestTask| task.name.rsplit(':').next().unwrap_or_default().to_owned();
    let main = ["test", "spec", "specs", "tests", "regular", "all"]
        .iter()
        .find_map(|name| all.iter().find(|task| leaf(task) == *name));
    if let Some(main) = main {
        return vec![main.clone()];
    }
    let other = [
        "bench",
        "perf",
        "cov",
        "profil",
        "isolat",
        "warn",
        "separate",
        "acceptance",
        "system",
    ];
    all.retain(|task| !other.iter().any(|word| task.name.contains(word)));
    all
}

fn read(file: &str, text: &str) -> Vec<TestTask> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with('#') {
            continue;
        }
        let Some(new) = NEW.captures(line) else {
            continue;
        };
        let name = new.get(2).map_or("test", |name| name.as_str());
        let mut task = TestTask {
            file: file.to_owned(),
            line: at + 1,
            text: line.trim().to_owned(),
            name: if name == "do" {
                "test"
            } else {
                name.trim_matches(':')
            }
            .to_owned(),
            ..TestTask::default()
        };
        let indent = line.len() - line.trim_start().len();
        if line.contains(" do") || line.contains('{') && !line.contains('}') {
            let mut open: Option<&'static str> = None;
            for inner in &lines[at + 1..] {
                let depth = inner.len() - inner.trim_start().len();
                if depth <= indent && matches!(inner.trim(), "end" | "}") {
                    break;
                }
                task.field(inner, &mut open);
            }
        }
        if new[1].starts_with("Minitest") {
            if task.globs.is_empty() {
                task.globs = vec![
                    "test/**/test_*.rb".to_owned(),
                    "test/**/*_test.rb".to_owned(),
                ];
            }
            task.libs.extend(["lib", "test", "."].map(str::to_owned));
        } else {
            task.libs.insert(0, "lib".to_owned());
            if task.globs.is_empty() {
                task.globs = vec!["test/test*.rb".to_owned()];
            }
        }
        found.push(task);
    }
    found
}

impl TestTask {
    /// Reads a line of the block; `open` is the field whose list goes on.
    fn field(&mut self, line: &str, open: &mut Option<&'static str>) {
        let code = line.split(" #").next().unwrap_or(line);
        let (name, rest) = match FIELD.captures(code) {
            Some(found) => {
                let name = match &found[1] {
                    "libs" => "libs",
                    "ruby_opts" => "options",
                    _ => "globs",
                };
                (name, found.get(3).map_or("", |rest| rest.as_str()))
            }
            None => match open {
                Some(name) => (*name, code),
                None => return,
            },
        };
        let balance =
            |open: char, close: char| code.matches(open).count().cmp(&code.matches(close).count());
        *open = match balance('[', ']') {
            std::cmp::Ordering::Greater => Some(name),
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Equal => *open,
        };
        // What a map or an exclusion adds is no pattern.
        if rest.contains(".map") || rest.contains("exclude") {
            return;
        }
        let literals = LITERAL.captures_iter(rest).map(|found| found[1].to_owned());
        let words: Vec<String> = WORDS
            .captures_iter(rest)
            .flat_map(|found| {
                found[1]
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect();
        for value in literals.chain(words) {
            match name {
                "libs" => self.libs.push(value),
                "options" if value.starts_with("-r") || value.starts_with("-I") => {
                    self.options.push(value);
                }
                "globs" if value.contains(".rb") || value.contains('*') => self.globs.push(value),
                _ => {}
            }
        }
    }
}

/// Tasks that make files which tests need: what the test task names before it and that by its name
/// compiles or generates.
pub(super) fn generators(
    tree: &Tree,
    manifests: &Manifests,
) -> Vec<(String, String, usize, String)> {
    let mut found: Vec<(String, String, usize, String)> = Vec::new();
    let mut extension = None;
    for file in files(tree, manifests) {
        let text = tree.text(&file).unwrap_or_default();
        extension = extension.or_else(|| {
            let mut lines = text.lines().enumerate();
            let (at, line) = lines.find(|(_, line)| EXTENSION.is_match(line))?;
            Some((
                "compile".to_owned(),
                file.clone(),
                at + 1,
                line.trim().to_owned(),
            ))
        });
        for (at, line) in text.lines().enumerate() {
            let Some(list) = PREREQUISITES.captures(line) else {
                continue;
            };
            for path in FILE.captures_iter(&list[1]).map(|path| path[1].to_owned()) {
                let place = format!("{}{path}", manifests.folder);
                if !tree.has(&place)
                    && !line.contains("default")
                    && found.iter().all(|(known, ..)| *known != path)
                {
                    found.push((path, file.clone(), at + 1, line.trim().to_owned()));
                }
            }
            for name in NAME.find_iter(&list[1]).map(|name| name.as_str()) {
                let leaf = name.trim_matches(':').rsplit(':').next().unwrap_or(name);
                let makes = [
                    "compile",
                    "ragel",
                    "racc",
                    "generate",
                    "gen",
                    "build_parser",
                    "parser",
                    "parsers",
                    "lexer",
                    "grammar",
                    "kpeg",
                    "treetop",
                ];
                let name = name.trim_matches(':').to_owned();
                if makes.contains(&leaf) && found.iter().all(|(known, ..)| *known != name) {
                    found.push((name, file.clone(), at + 1, line.trim().to_owned()));
                }
            }
        }
    }
    // Without its compiled extension a gem does not load, also where no test task depends on `compile`.
    if let Some(extension) = extension
        && found.iter().all(|(name, ..)| !name.contains("compile"))
    {
        found.insert(0, extension);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::analysis::testing::planned;

    #[test]
    fn tasks_are_read_as_far_as_they_are_literal() {
        let text = r#"
Rake::TestTask.new("test:regular") do |t|
  t.libs << "test"
  t.test_files = FileList["test/**/*_test.rb",
                          "test/**/spec_*.rb"]
  t.ruby_opts << "-r./test/first" << "-W0"
end
namespace :check do
  Rake::TestTask.new(:specs) { |t|
    t.pattern = 'spec/**/*_spec.rb'
  }
end
Rake::TestTask.new
Minitest::TestTask.create(:core) do |t|
  t.test_globs = %w[a b].map { |n| "test/#{n}_test.rb" }
end
"#;
        let shown: Vec<String> = read("Rakefile", text)
            .iter()
            .map(|task| {
                let part = |list: &[String]| list.join(" ");
                format!(
                    "{}|{}|{}|{}",
                    task.name,
                    part(&task.globs),
                    part(&task.libs),
                    part(&task.options)
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "test:regular|test/**/*_test.rb test/**/spec_*.rb|lib test|-r./test/first",
                "specs|spec/**/*_spec.rb|lib|",
                "test|test/test*.rb|lib|",
                "core|test/**/test_*.rb test/**/*_test.rb|lib test .|",
            ]
        );
    }
    #[test]
    fn what_the_test_task_needs_is_made_however_it_is_said() {
        let files = [
            ("x.gemspec", "Gem::Specification.new { |s| s.name = 'x' }\n"),
            ("Gemfile", "gemspec\ngem 'rspec'\ngem 'rake'\n"),
            ("Rakefile", "load 'tasks/compile.rake'\n"),
            ("spec/x_spec.rb", "require 'rspec'\n"),
            ("spec/here.yml", ""),
            (
                "tasks/compile.rake",
                "Rake::Task[:spec].prerequisites << :compile\nRake::Task[:spec].prerequisites << :'spec/own.yml'\n\
                 Rake::Task['spec'].enhance ['spec/here.yml']\nRake::Task[:doc].prerequisites << :generate\n",
            ),
        ];
        let plan = planned(files, &[]);
        assert_eq!(
            plan.rebuild,
            ["bundle exec rake compile", "bundle exec rake spec/own.yml"]
        );
    }

    /// As ox has it: `default` needs a task of its own, and the tests' file is named like none.
    #[test]
    fn an_extension_is_compiled_and_a_touched_file_of_cases_runs() {
        let files = [
            ("x.gemspec", "Gem::Specification.new { |s| s.name = 'x' }\n"),
            ("Gemfile", "gemspec\ngem 'test-unit'\ngem 'rake-compiler'\n"),
            (
                "Rakefile",
                "Rake::ExtensionTask.new('x')\ntask default: :all\n",
            ),
            (
                "test/tests.rb",
                "require 'test/unit'\nclass Func < Test::Unit::TestCase\nend\n",
            ),
            ("test/files.rb", "class Files\nend\n"),
            (
                "test/a_test.rb",
                "require 'test/unit'\nclass A < Test::Unit::TestCase\nend\n",
            ),
        ];
        let plan = planned(files, &["test/tests.rb", "test/files.rb"]);
        assert_eq!(plan.rebuild, ["bundle exec rake compile"]);
        assert!(
            plan.test_cmd
                .contains("'test/**/*_test.rb' test/tests.rb --"),
            "{}",
            plan.test_cmd
        );
    }
}
