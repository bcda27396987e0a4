//! The sealed history of an environment: a scan that is part of the build.
//!
//! What is asked for lies after the base commit, so an environment that holds anything from there
//! may hold the answer: a git object, a reference that names one, a log of references, or the
//! project's own later release in a library or a package cache.

use atlas_core::{
    Environment, Error, ErrorKind, Evidence, ExitState, ImageRef, Job, Limits, Network, Overlay,
    Repository, RunContext, Sandbox, SynthesisOutcome,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const SCAN: &str = include_str!("sealed.sh");

/// Largest manifest that is read for a package's name.
const MANIFEST_BYTES: u64 = 1 << 20;

/// The repository's own packages: name as its registry has it -> version, where the manifest says.
type Packages = BTreeMap<String, Option<String>>;

/// A registry's copy of one of the repository's own packages.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Copy {
    kind: String,
    name: String,
    version: String,
    place: String,
}

/// What a scan found.
#[derive(Debug, Default)]
struct Findings {
    /// Sentences: what git holds from after the base commit.
    git: Vec<String>,
    tags: Vec<String>,
    copies: Vec<Copy>,
    complete: bool,
}

/// An environment that was scanned, or the verdict that it knows the future.
pub(crate) async fn ready(
    cx: &RunContext,
    sandbox: &dyn Sandbox,
    mut environment: Environment,
    repository: &Repository,
) -> Result<SynthesisOutcome, Error> {
    cx.progress.phase("seal");
    if let Some(evidence) = scan(cx, sandbox, &mut environment, repository).await? {
        return Ok(SynthesisOutcome::NotBuildable {
            reason: "the environment holds a release of the project itself from after the base \
                     commit"
                .to_owned(),
            attempts: environment.attempts,
            dockerfile: Some(environment.dockerfile),
            evidence,
        });
    }
    Ok(SynthesisOutcome::Ready(Box::new(environment)))
}

/// Scans a built environment. `Some` is why it must not be used: it holds a release of the project
/// itself from after the base commit, which only its dependencies can have brought. Copies that
/// cannot be told from later ones are noted in the plan's drift.
///
/// # Errors
/// [`ErrorKind::Internal`] names the git object, reference or log that the base commit does not
/// reach: checkouts are made without any. [`ErrorKind::EngineFailed`] if the scan did not end;
/// whatever the sandbox fails with.
pub(crate) async fn scan(
    cx: &RunContext,
    sandbox: &dyn Sandbox,
    environment: &mut Environment,
    repository: &Repository,
) -> Result<Option<Vec<Evidence>>, Error> {
    let checkout = repository.checkout.clone();
    let own = tokio::task::spawn_blocking(move || own_packages(&checkout))
        .await
        .map_err(|why| {
            Error::new(ErrorKind::Internal, "read manifests of", &*repository.name).with_source(why)
        })?;
    let names: Vec<&str> = own.keys().map(String::as_str).collect();
    let job = Job {
        label: "sealed history".to_owned(),
        overlay: Overlay::default(),
        files: Vec::new(),
        script: format!(
            "roots=({})\nATLAS_BASE={}\nATLAS_NAMES={}\n{SCAN}",
            roots(environment),
            repository.base,
            crate::render::shell_quote(&names.join("\n"))
        ),
        collect: Vec::new(),
        env: BTreeMap::new(),
        limits: Limits {
            seconds: 600,
            ..Limits::default()
        },
        network: Network::None,
    };
    let result = sandbox.run(cx, environment, &job).await?;
    let findings = read(&String::from_utf8_lossy(&result.output));
    if result.exit != (ExitState::Exited { code: 0 }) || !findings.complete {
        return Err(Error::new(
            ErrorKind::EngineFailed,
            "scan for what is from after the base commit",
            format!("`{}`: it ended as {:?}", repository.name, result.exit),
        ));
    }
    if !findings.git.is_empty() {
        return Err(Error::new(
            ErrorKind::Internal,
            "seal history of",
            format!(
                "`{}`: the environment holds what its base commit does not reach: {}",
                repository.name,
                findings.git.join("; ")
            ),
        ));
    }
    let (later, unknown) = judge(&own, &findings);
    for copy in unknown {
        environment.plan.drift.push(format!(
            "a registry's copy of `{} {}` may be from after the base commit: {}",
            copy.name, copy.version, copy.place
        ));
    }
    let evidence: Vec<_> = later.into_iter().map(later_release).collect();
    Ok((!evidence.is_empty()).then_some(evidence))
}

fn later_release(copy: &Copy) -> Evidence {
    Evidence::of(
        copy.place.clone(),
        format!("{} {} ({})", copy.name, copy.version, copy.kind),
    )
}

/// Which copies are later than the base, and of which that cannot be told.
///
/// A release is later if its number is above the one in the base's manifest, or, where that says
/// none, above the newest tag that the base reaches.
fn judge<'a>(own: &Packages, findings: &'a Findings) -> (Vec<&'a Copy>, Vec<&'a Copy>) {
    let newest_tag = findings
        .tags
        .iter()
        .filter_map(|tag| Release::in_text(tag))
        .max();
    let (mut later, mut unknown) = (Vec::new(), Vec::new());
    for copy in &findings.copies {
        let stated = own.get(&copy.name).cloned().flatten();
        let base = stated
            .as_deref()
            .and_then(Release::in_text)
            // `0.0.0` stands for a number that the release gets elsewhere.
            .filter(|release| !release.numbers.is_empty())
            .or_else(|| newest_tag.clone());
        match (base, Release::in_text(&copy.version)) {
            (Some(base), Some(found)) if found > base => later.push(copy),
            (Some(_), Some(_)) => {}
            _ => unknown.push(copy),
        }
    }
    (later, unknown)
}

/// A version as far as releases are compared by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Release {
    numbers: Vec<u64>,
    /// Not one that comes before the release of these numbers, as `1.2.0rc1` and `1.2.0.dev0` do.
    full: bool,
}

impl Release {
    /// Reads the longest dotted number in a version or in a tag: `1.2.0rc1`, `v1.2`, `lib4-1.2`.
    fn in_text(text: &str) -> Option<Self> {
        let digit = |c: char| c.is_ascii_digit();
        let mut best: Option<(usize, &str)> = None;
        let mut at = 0;
        while let Some(start) = text[at..].find(digit).map(|found| at + found) {
            let rest = &text[start..];
            let end = rest
                .find(|c: char| !digit(c) && c != '.')
                .unwrap_or(rest.len());
            let number = rest[..end].trim_end_matches('.');
            let dots = |number: &str| number.matches('.').count();
            if best.is_none_or(|(_, known)| dots(number) > dots(known)) {
                best = Some((start, number));
            }
            at = start + end;
        }
        let (start, number) = best?;
        let mut numbers = number
            .split('.')
            .map(|part| part.parse().ok())
            .collect::<Option<Vec<u64>>>()?;
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        let rest = text[start + number.len()..].trim_start_matches(['.', '-', '_']);
        let rest = rest.to_ascii_lowercase();
        let early = [
            "a", "b", "c", "rc", "dev", "pre", "m", "snapshot", "next", "canary",
        ];
        let word = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .map_or(&*rest, |end| &rest[..end]);
        let early = early.contains(&word) || word.starts_with("alpha") || word.starts_with("beta");
        Some(Self {
            numbers,
            full: !early,
        })
    }
}

/// The folders to look through: a container holds nothing but the environment, this machine more.
fn roots(environment: &Environment) -> &'static str {
    match environment.image {
        ImageRef::Docker { .. } => "/",
        _ => "\"$ATLAS_REPO\" \"$ATLAS_ENV\" \"$ATLAS_CACHE\"",
    }
}

fn read(output: &str) -> Findings {
    let mut findings = Findings::default();
    let mut scanned = false;
    for line in output.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["git", folder, what] => findings.git.push(format!("`{folder}`: {what}")),
            ["tag", name] => findings.tags.push(name.to_owned()),
            ["package", kind, name, version, place] => findings.copies.push(Copy {
                kind: kind.to_owned(),
                name: name.to_owned(),
                version: version.to_owned(),
                place: place.to_owned(),
            }),
            ["scanned", _] => scanned = true,
            ["done"] => findings.complete = scanned,
            _ => {}
        }
    }
    findings
}

/// Names and versions in the manifests of a checkout, as far as they stand there in plain.
fn own_packages(checkout: &Path) -> Packages {
    let mut found = Packages::new();
    let skipped: BTreeSet<&str> = ["node_modules", "vendor", ".git", "target"].into();
    let walk = walkdir::WalkDir::new(checkout)
        .max_depth(4)
        .sort_by_file_name();
    let entries = walk
        .into_iter()
        .filter_entry(|entry| {
            entry.depth() == 0
                || !entry
                    .file_name()
                    .to_str()
                    .is_some_and(|name| skipped.contains(name))
        })
        .flatten()
        .filter(|entry| entry.file_type().is_file());
    for entry in entries {
        let Some(file) = entry.file_name().to_str() else {
            continue;
        };
        let manifest = matches!(
            file,
            "package.json"
                | "composer.json"
                | "Cargo.toml"
                | "pyproject.toml"
                | "setup.cfg"
                | "setup.py"
                | "go.mod"
                | "pom.xml"
        ) || file.ends_with(".gemspec")
            || file.ends_with(".csproj");
        let small = entry
            .metadata()
            .is_ok_and(|meta| meta.len() <= MANIFEST_BYTES);
        if !manifest || !small {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(entry.path()) else {
            continue;
        };
        if let Some((name, version)) = package(file, &text) {
            let plain = !name.is_empty() && !name.contains(['\n', '\t', '$', '{', '%']);
            if plain {
                let known = found.entry(name).or_default();
                if known.is_none() {
                    *known = version;
                }
            }
        }
    }
    found
}

/// Name and version of the package that a manifest describes.
fn package(file: &str, text: &str) -> Option<(String, Option<String>)> {
    let text_of = |value: &serde_json::Value, key: &str| value[key].as_str().map(str::to_owned);
    match file {
        "package.json" | "composer.json" => {
            let value: serde_json::Value = serde_json::from_str(text).ok()?;
            Some((text_of(&value, "name")?, text_of(&value, "version")))
        }
        "Cargo.toml" => from_tables(text, &[&["package"], &["workspace", "package"]]),
        "pyproject.toml" => from_tables(text, &[&["project"], &["tool", "poetry"]]),
        "setup.cfg" | "setup.py" => {
            let name = assigned(text, "name")?;
            Some((name, assigned(text, "version")))
        }
        "go.mod" => {
            let line = text.lines().find_map(|line| line.strip_prefix("module "))?;
            let name = line.split("//").next()?.trim().trim_matches('"');
            Some((name.to_owned(), None))
        }
        "pom.xml" => {
            let top = without(text, "parent");
            let top = ["dependencies", "build", "profiles", "dependencyManagement"]
                .iter()
                .fold(top, |text, tag| without(&text, tag));
            let artifact = element(&top, "artifactId")?;
            let parent = element(text, "parent").unwrap_or_default();
            let group = element(&top, "groupId").or_else(|| element(&parent, "groupId"))?;
            let version = element(&top, "version").or_else(|| element(&parent, "version"));
            Some((format!("{group}:{artifact}"), version))
        }
        other => {
            let stem = other
                .strip_suffix(".gemspec")
                .or_else(|| other.strip_suffix(".csproj"))?;
            let version = assigned(text, "version").or_else(|| element(text, "Version"));
            Some((stem.to_owned(), version))
        }
    }
}

fn from_tables(text: &str, tables: &[&[&str]]) -> Option<(String, Option<String>)> {
    let document: toml::Table = text.parse().ok()?;
    let get = |key: &str| {
        tables.iter().find_map(|path| {
            let mut table = &document;
            for part in *path {
                table = table.get(*part)?.as_table()?;
            }
            Some(table.get(key)?.as_str()?.to_owned())
        })
    };
    Some((get("name")?, get("version")))
}

/// The first quoted or bare word in `key = word` at the start of a line or after `.` or `(`.
fn assigned(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.trim_start();
        let rest = match line.split_once(key) {
            Some((before, rest)) if before.is_empty() || before.ends_with(['.', '(']) => rest,
            _ => return None,
        };
        let value = rest.trim_start().strip_prefix('=')?.trim();
        let quoted = value.starts_with(['"', '\'']);
        let value = value.trim_end_matches(',').trim();
        let word = if quoted {
            let quote = value.chars().next()?;
            value[1..].split(quote).next()?
        } else {
            value
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        (!word.is_empty() && word.chars().all(plain)).then(|| word.to_owned())
    })
}

fn element(text: &str, tag: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inner, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inner.trim().to_owned())
}

fn without(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(&open) {
        kept.push_str(before);
        rest = after.split_once(&close).map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::{Copy, Findings, Packages, Release, judge, own_packages, read};

    #[test]
    fn packages_are_named_by_their_manifests() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            (
                "package.json",
                r#"{"name":"@scope/thing","version":"1.2.3"}"#,
            ),
            (
                "sub/pyproject.toml",
                "[project]\nname = \"my-thing\"\ndynamic = [\"version\"]\n",
            ),
            (
                "setup.py",
                "setup(\n    name='old_thing',\n    version=\"0.9\",\n)\n",
            ),
            (
                "crate/Cargo.toml",
                "[package]\nname = \"thing\"\nversion = \"0.1.0\"\n",
            ),
            ("go.mod", "module example.org/x/thing/v2 // why\n"),
            (
                "thing.gemspec",
                "Gem::Specification.new do |s|\n  s.version = Thing::VERSION\nend\n",
            ),
            (
                "pom.xml",
                "<project><parent><groupId>org.x</groupId><artifactId>up</artifactId>\
                 <version>3</version></parent><artifactId>thing</artifactId></project>",
            ),
            ("node_modules/other/package.json", r#"{"name":"other"}"#),
            ("broken/package.json", "{"),
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found: Vec<_> = own_packages(folder.path()).into_iter().collect();
        let expected = [
            ("@scope/thing", Some("1.2.3")),
            ("example.org/x/thing/v2", None),
            ("my-thing", None),
            ("old_thing", Some("0.9")),
            ("org.x:thing", Some("3")),
            ("thing", Some("0.1.0")),
        ]
        .map(|(name, version)| (name.to_owned(), version.map(str::to_owned)));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_release_above_the_base_is_later() {
        let own = Packages::from([
            ("stated".to_owned(), Some("1.3.0.dev0".to_owned())),
            ("tagged".to_owned(), None),
        ]);
        let copy = |name: &str, version: &str| Copy {
            kind: "python".to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
            place: String::new(),
        };
        let mut findings = Findings {
            tags: vec![
                "v2.9".to_owned(),
                "release-2.10.1".to_owned(),
                "x".to_owned(),
            ],
            copies: vec![
                copy("stated", "1.2.9"),
                copy("stated", "1.3.0"),
                copy("tagged", "2.10.1"),
                copy("tagged", "v2.11.0"),
            ],
            ..Findings::default()
        };
        let (later, unknown) = judge(&own, &findings);
        assert_eq!(later, [&findings.copies[1], &findings.copies[3]]);
        assert!(unknown.is_empty());
        findings.tags.clear();
        let (later, unknown) = judge(&own, &findings);
        assert_eq!(later, [&findings.copies[1]]);
        assert_eq!(unknown.len(), 2);
    }

    #[test]
    fn versions_are_read_out_of_tags() {
        let release = |text| Release::in_text(text).unwrap();
        for (lower, higher) in [
            ("1.2.0rc1", "1.2"),
            ("1.2.0.dev4+g12ab", "v1.2.0"),
            ("lib4-1.9", "lib4-1.10"),
            ("1.2-SNAPSHOT", "release_1.2"),
            ("v0.0.0-20230101000000-0123456789ab", "v0.0.1"),
            ("1.2", "1.2.1-beta.3"),
        ] {
            assert!(release(lower) < release(higher), "{lower} {higher}");
        }
        assert_eq!(release("1.2.0"), release("v1.2"));
        assert_eq!(Release::in_text("next"), None);
    }

    struct Place(tempfile::TempDir);

    impl Place {
        /// A repository with one commit and one tag.
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            place.bash("mkdir repo env cache && cd repo && git init -q && echo x > x && git add x");
            place.bash(
                "cd repo && git commit -q -m base && git tag v1.2 && git rev-parse HEAD > ../base",
            );
            place
        }

        fn bash(&self, script: &str) -> String {
            let person = ["AUTHOR", "COMMITTER"].iter().flat_map(|role| {
                [("NAME", "A"), ("EMAIL", "a@b.c")]
                    .map(|(part, value)| (format!("GIT_{role}_{part}"), value))
            });
            let output = std::process::Command::new("bash")
                .args(["-c", script])
                .current_dir(self.0.path())
                .env("ATLAS_REPO", self.0.path().join("repo"))
                .envs(person)
                .output()
                .unwrap();
            assert!(output.status.success(), "{script}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        }

        fn scan(&self, names: &str) -> Findings {
            let script = format!(
                "roots=(\"$PWD\"/{{repo,env,cache}})\nATLAS_BASE=$(cat base)\nATLAS_NAMES='{names}'\n{}",
                super::SCAN
            );
            let found = read(&self.bash(&script));
            assert!(found.complete);
            found
        }
    }

    #[test]
    fn a_repository_that_ends_with_its_base_is_sealed() {
        let place = Place::new();
        // Another project's history is its own matter.
        place.bash(
            "mkdir env/other && cd env/other && git init -q && git commit -q --allow-empty -m y",
        );
        let found = place.scan("x");
        assert_eq!(found.git, Vec::<String>::new());
        assert_eq!(found.tags, ["v1.2"]);
    }

    #[test]
    fn whatever_git_holds_from_after_the_base_is_named() {
        for (plant, expected) in [
            (
                "git commit -q --allow-empty -m later && git reset -q --hard HEAD~1 && rm -rf .git/logs .git/ORIG_HEAD",
                "commit ",
            ),
            ("echo later | git hash-object -w --stdin", "blob "),
            ("echo y > x && git stash -q", "refs/stash names "),
            (
                "git tag -a -m later v9; rm -rf .git/refs/tags/v9 .git/logs; git pack-refs --all",
                "tag ",
            ),
            (
                // Written in the same second as the base: as old as it.
                "GIT_COMMITTER_DATE=\"$(git log -1 --format=%cI)\" git tag -a -m now v1.2.0",
                "",
            ),
            (
                "echo 1234567890123456789012345678901234567890 > .git/FETCH_HEAD",
                "FETCH_HEAD names 1234567890",
            ),
            (
                "echo '1234567890123456789012345678901234567890 refs/tags/v9' >> .git/packed-refs",
                "names 1234567890",
            ),
            (
                "echo '0000000000000000000000000000000000000000 1234567890123456789012345678901234567890 A' >> .git/logs/HEAD",
                "logs/HEAD names 1234567890",
            ),
            (
                "cp -r .git ../env/copy.git && rm -rf ../env/copy.git/logs && git --git-dir=../env/copy.git commit -q --allow-empty -m later",
                "env/copy.git",
            ),
            (
                "echo /elsewhere > .git/objects/info/alternates",
                "alternates names /elsewhere",
            ),
            (
                "echo later > f && git add f && git commit -q -m later && git checkout -q HEAD~1 && git repack -adq && rm -rf .git/logs",
                "commit ",
            ),
        ] {
            let place = Place::new();
            place.bash(&format!("cd repo && {plant}"));
            let found = place.scan("").git.join("\n");
            if expected.is_empty() {
                assert_eq!(found, "", "{plant}");
            } else {
                assert!(found.contains(expected), "{plant}: {found}");
            }
        }
    }

    #[test]
    fn a_tag_written_later_is_no_part_of_the_base() {
        let place = Place::new();
        place.bash("cd repo && GIT_COMMITTER_DATE='2035-01-01T00:00:00Z' git tag -a -m later v9");
        let found = place.scan("").git.join("\n");
        assert!(
            found.contains("tag ") && found.contains("refs/tags/v9 names"),
            "{found}"
        );
    }

    #[test]
    fn copies_of_the_project_are_found_where_package_managers_keep_them() {
        let place = Place::new();
        place.bash(
            "meta() { mkdir -p \"$1\" && printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n\nName: no\n' \"$2\" \"$3\" > \"$1/METADATA\"; }
             meta env/lib/site-packages/My_Thing-9.1.dist-info my-thing 9.1
             meta env/lib/site-packages/my_thing_extra-3.dist-info my-thing-extra 3
             meta env/own/my_thing-1.2.dist-info my-thing 1.2
             printf '{\"url\": \"file:///testbed\"}' > env/own/my_thing-1.2.dist-info/direct_url.json
             mkdir -p repo/node_modules/my-thing repo/node_modules/@s/thing && cd repo/node_modules
             printf '{\n \"name\": \"my-thing\",\n \"version\": \"9.2.0\"\n}' | tee my-thing/package.json > @s/thing/package.json
             cd ../../cache && mkdir -p registry/cache/x go/cache/download/example.org/!my/thing/@v gems/cache
             touch registry/cache/x/my-thing-9.3.0.crate registry/cache/x/my-thing-macros-1.0.0.crate
             touch go/cache/download/example.org/!my/thing/@v/v9.4.0.zip gems/cache/my-thing-9.5.0.gem
             mkdir -p _cacache/index-v5/aa && printf 'h\t{\"key\":\"https://r/my-thing/-/my-thing-9.6.0.tgz\"}' > _cacache/index-v5/aa/bb",
        );
        let mut found: Vec<_> = place
            .scan("my-thing\n@s/thing\nexample.org/My/thing")
            .copies
            .into_iter()
            .map(|copy| format!("{} {} {}", copy.kind, copy.name, copy.version))
            .collect();
        found.sort();
        assert_eq!(
            found,
            [
                "cargo my-thing 9.3.0",
                "gem my-thing 9.5.0",
                "go example.org/My/thing v9.4.0",
                "npm @s/thing 9.2.0",
                "npm my-thing 9.2.0",
                "npm my-thing 9.6.0",
                "python my-thing 9.1",
            ]
        );
    }

    #[test]
    fn a_scan_that_saw_no_repository_is_not_complete() {
        assert!(!read("done\n").complete);
        assert!(!read("scanned\t/x/.git\n").complete);
        let findings = read("scanned\t/x/.git\ngit\t/x/.git\tcommit 12\ndone\n");
        assert!(findings.complete);
        assert_eq!(findings.git, ["`/x/.git`: commit 12"]);
    }
}
