//! The sealed history of an environment: a scan that is part of the build.
//!
//! What is asked for lies after the base commit, so an environment that holds anything from there
//! may hold the answer: a git object, a reference that names one, a log of references, or the
//! project's own later release in a library or a package cache.

mod own;
mod release;

use crate::stock::take_stock;
use atlas_core::{
    Environment, Error, ErrorKind, Evidence, ExitState, Fault, ImageRef, Job, JobUser, Limits,
    Network, Overlay, Repository, RunContext, Sandbox, SynthesisOutcome,
};
use own::Own;
use release::Release;
use std::collections::BTreeMap;

const SCAN: &str = include_str!("scan.sh");

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

/// An environment of which stock was taken and that was scanned, side by side, or the verdict that
/// it knows the future.
pub(crate) async fn ready(
    cx: &RunContext,
    sandbox: &dyn Sandbox,
    mut environment: Environment,
    repository: &Repository,
) -> Result<SynthesisOutcome, Error> {
    cx.progress.phase("inventory and seal");
    let mut scanned = environment.clone();
    let before = scanned.plan.drift.len();
    let (stock, found) = tokio::join!(
        take_stock(cx, sandbox, &mut environment),
        scan(cx, sandbox, &mut scanned, repository)
    );
    stock?;
    let found = found?;
    environment
        .plan
        .drift
        .extend(scanned.plan.drift.drain(before..));
    if let Some((reason, evidence)) = found {
        return Ok(SynthesisOutcome::NotBuildable {
            reason: reason.to_owned(),
            attempts: environment.attempts,
            dockerfile: Some(environment.dockerfile),
            evidence,
            fault: Fault::Environment,
        });
    }
    Ok(SynthesisOutcome::Ready {
        environment: Box::new(environment),
    })
}

/// Scans a built environment. `Some` is why it must not be used, with the proof: it holds a release of
/// the project itself from after the base commit, which only its dependencies can have brought, or git
/// objects that the base commit does not reach, which only the plan's own commands can. Copies that
/// cannot be told from later ones are noted in the plan's drift.
///
/// # Errors
/// [`ErrorKind::EngineFailed`] if the scan did not end; whatever the sandbox fails with.
pub(crate) async fn scan(
    cx: &RunContext,
    sandbox: &dyn Sandbox,
    environment: &mut Environment,
    repository: &Repository,
) -> Result<Option<(&'static str, Vec<Evidence>)>, Error> {
    let checkout = repository.checkout.clone();
    let own = tokio::task::spawn_blocking(move || Own::read(&checkout))
        .await
        .map_err(|why| {
            Error::new(ErrorKind::Internal, "read manifests of", &*repository.name).with_source(why)
        })?;
    let mut own = own;
    if own.packages.is_empty() {
        // Most packages are named like their repository.
        let name = repository.name.rsplit('/').next().unwrap_or_default();
        own.packages.insert(name.to_owned(), None);
        environment.plan.drift.push(format!(
            "no manifest says a package's name in plain: later releases are looked for as `{name}`"
        ));
    }
    let names: Vec<&str> = own.packages.keys().map(String::as_str).collect();
    let job = Job {
        label: "sealed history".to_owned(),
        overlay: Overlay::default(),
        files: Vec::new(),
        script: format!(
            "roots=({})\nATLAS_BASE={}\nATLAS_NAMES={}\n{SCAN}",
            roots(environment),
            repository.base,
            crate::quote::shell_quote(&names.join("\n"))
        ),
        collect: Vec::new(),
        env: BTreeMap::new(),
        limits: Limits {
            seconds: 600,
            ..Limits::default()
        },
        network: Network::None,
        user: JobUser::default(),
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
        let lines = findings.git.iter();
        return Ok(Some((
            "the environment's repository holds what the base commit does not reach",
            lines.map(|line| Evidence::of("git", line)).collect(),
        )));
    }
    let (later, unknown) = judge(&own, &findings);
    for copy in unknown {
        environment.plan.drift.push(format!(
            "a registry's copy of `{} {}` may be from after the base commit: {}",
            copy.name, copy.version, copy.place
        ));
    }
    let evidence: Vec<_> = later.into_iter().map(later_release).collect();
    Ok((!evidence.is_empty()).then_some((
        "the environment holds a release of the project itself from after the base commit",
        evidence,
    )))
}

fn later_release(copy: &Copy) -> Evidence {
    Evidence::of(
        copy.place.clone(),
        format!("{} {} ({})", copy.name, copy.version, copy.kind),
    )
}

/// Which copies are later than the base, and of which that cannot be told or changed.
///
/// A release is later if its number is above the one in the base's manifest, or, where that says
/// none, above the newest tag that the base reaches. What a lockfile of the base names is not.
fn judge<'a>(own: &Own, findings: &'a Findings) -> (Vec<&'a Copy>, Vec<&'a Copy>) {
    let newest_tag = findings
        .tags
        .iter()
        .filter_map(|tag| Release::in_text(tag))
        // A day is no version.
        .filter(|tag| tag.numbers.first().is_none_or(|first| *first < 10_000))
        .max();
    let (mut later, mut unknown) = (Vec::new(), Vec::new());
    for copy in &findings.copies {
        let stated = own.packages.get(&copy.name).cloned().flatten();
        let base = stated
            .as_deref()
            .and_then(Release::in_text)
            // `0.0.0` stands for a number that the release gets elsewhere.
            .filter(|release| !release.numbers.is_empty())
            .or_else(|| newest_tag.clone());
        match (base, Release::in_text(&copy.version)) {
            _ if own.locks(&copy.name, &copy.version) => {}
            _ if in_package_manager(&copy.place) => unknown.push(copy),
            (Some(base), Some(found)) if found > base => later.push(copy),
            // A prerelease or a later edition of the same number.
            (Some(base), Some(found))
                if found.numbers == base.numbers
                    && stated
                        .as_deref()
                        .is_some_and(|stated| stated != copy.version) =>
            {
                unknown.push(copy);
            }
            (Some(_), Some(_)) => {}
            _ => unknown.push(copy),
        }
    }
    (later, unknown)
}

/// Whether a copy is part of the toolchain's own package manager, which cannot work without it.
fn in_package_manager(place: &str) -> bool {
    ["/lib/node_modules/", "/tools/node_modules/"]
        .iter()
        .filter_map(|folder| place.split_once(folder))
        .filter_map(|(_, inside)| inside.split_once("/node_modules/"))
        .any(|(manager, _)| matches!(manager, "npm" | "corepack" | "pnpm" | "pnpm/dist" | "yarn"))
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

#[cfg(test)]
mod tests {
    use super::own::{Own, Packages};
    use super::{Copy, Findings, judge, read};

    #[test]
    fn a_release_above_the_base_is_later() {
        let own = Own {
            packages: Packages::from([
                ("stated".to_owned(), Some("1.3.0.dev0".to_owned())),
                ("tagged".to_owned(), None),
            ]),
            ..Own::default()
        };
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
        findings.copies[3].place = "/usr/local/lib/node_modules/npm/node_modules/tagged".to_owned();
        let (later, unknown) = judge(&own, &findings);
        assert_eq!(later, [&findings.copies[1]]);
        assert_eq!(unknown, [&findings.copies[3]]);
        findings.copies[3].place = "/testbed/node_modules/npm/node_modules/tagged".to_owned();
        assert_eq!(judge(&own, &findings).0.len(), 2);
        findings.tags.clear();
        let (later, unknown) = judge(&own, &findings);
        assert_eq!(later, [&findings.copies[1]]);
        assert_eq!(unknown.len(), 2);
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
    fn a_shallow_clone_of_the_project_is_known_by_its_files() {
        let place = Place::new();
        place.bash(
            "cd repo && for n in 1 2 3 4; do echo $n > $n; done && git add . && git commit -q --amend -m base
             git tag -f v1.2 && git rev-parse HEAD > ../base && echo later > later && git add . && git commit -q -m later
             git clone -q --depth 1 file://$PWD ../env/again && git reset -q --hard HEAD~1
             rm -rf .git/logs .git/ORIG_HEAD && git gc -q --prune=now && git init -q ../env/other && cd ../env/other
             echo 1 > 1 && for n in 5 6 7 8; do echo $n > $n; done && git add . && git commit -q -m other",
        );
        let found = place.scan("").git;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("env/again/.git`: a clone of this project"),
            "{found:?}"
        );
    }

    /// A fixture of tests that is a clone of the project, or shares most files with it, came with the base.
    #[test]
    fn a_repository_that_the_base_holds_as_files_is_no_clone() {
        let place = Place::new();
        place.bash(
            "cd repo && for n in 1 2 3 4; do echo $n > $n; done && git add . && git commit -q --amend -m base
             git clone -q --bare . 'tests/a fixture.git' && touch 'tests/a fixture.git/refs/keep'
             git add . && git commit -q --amend -m 'base with a fixture' && git tag -f v1.2 && git rev-parse HEAD > ../base
             rm -rf .git/logs .git/ORIG_HEAD && git gc -q --prune=now",
        );
        assert_eq!(place.scan("").git, Vec::<String>::new());
        place.bash(
            "cd repo && echo later > later && export GIT_DIR='tests/a fixture.git' GIT_WORK_TREE=. && git read-tree HEAD && git -c core.bare=false add -f later
             git -c core.bare=false -c user.name=a -c user.email=a@b commit -q -m later",
        );
        let found = place.scan("").git;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("a clone of this project"), "{found:?}");
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
             mkdir -p m2/org/x/thing/9.7.0 m2/org/x/thing/9.8.0 nuget/my-thing/9.9.0
             printf 'thing-9.7.0.jar>central=\nthing-9.7.0.pom>central=\n' > m2/org/x/thing/9.7.0/_remote.repositories
             printf 'thing-9.8.0.jar>=\n' > m2/org/x/thing/9.8.0/_remote.repositories
             touch nuget/my-thing/9.9.0/my-thing.9.9.0.nupkg
             mkdir -p gradle/modules-2/files-2.1/org.x/thing/9.10.0/ab yarn/berry/cache go/cache/download/example.org/!my/thing/v9/@v
             touch gradle/modules-2/files-2.1/org.x/thing/9.10.0/ab/thing-9.10.0.jar go/cache/download/example.org/!my/thing/v9/@v/v9.11.0.zip
             touch yarn/berry/cache/@s-thing-npm-9.12.0-0123456789-8.zip
             mkdir -p ../env/my_thing-9.13-py3.9.egg/EGG-INFO && printf 'Name: my-thing\nVersion: 9.13\n' |
               tee ../env/my_thing-9.13-py3.9.egg/EGG-INFO/PKG-INFO | sed s/13/14/ > ../env/my_thing-9.14.egg-info
             mkdir -p ../env/node_modules/my-thing && printf '{\"name\":\"my-thing\",\"version\":\"9.15.0\"}' > ../env/node_modules/my-thing/package.json
             mkdir -p _cacache/index-v5/aa && printf 'h\t{\"key\":\"https://r/my-thing/-/my-thing-9.6.0.tgz\"}' > _cacache/index-v5/aa/bb",
        );
        let mut found: Vec<_> = place
            .scan("my-thing\n@s/thing\nexample.org/My/thing\norg.x:thing")
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
                "go example.org/My/thing v9.11.0",
                "go example.org/My/thing v9.4.0",
                "maven org.x:thing 9.10.0",
                "maven org.x:thing 9.7.0",
                "npm @s/thing 9.12.0",
                "npm @s/thing 9.2.0",
                "npm my-thing 9.15.0",
                "npm my-thing 9.2.0",
                "npm my-thing 9.6.0",
                "nuget my-thing 9.9.0",
                "python my-thing 9.1",
                "python my-thing 9.13",
                "python my-thing 9.14",
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
