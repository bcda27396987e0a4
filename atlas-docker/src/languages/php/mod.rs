//! PHP: composer; `PHPUnit`, Symfony's bridge, Pest.

mod composer;
mod packages;
mod runner;
mod versions;

use super::{Language, env};
use crate::facts::{Facts, Presence, Verdict};
use crate::languages::INSTALL_SUBSTITUTES;
use crate::quote::shell_quote;
use crate::system;
use crate::toolbox::{self, COMPOSER_INSTALL};
use crate::tree::Tree;
use crate::versions::Version;
use atlas_core::{EnvironmentPlan, Evidence};
use composer::Composer;
use packages::Packages;
use regex::Regex;
use runner::Runner;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// PHP.
#[derive(Debug)]
pub(crate) struct Php;

const EXTENSIONS: &str = include_str!("extensions.sh");
const COMPOSER: &str = include_str!("composer.sh");
const GLOBAL: &str = include_str!("global.sh");

/// Extension -> Debian packages that it compiles against in the official images.
const HEADERS: &[(&str, &[&str])] = &[
    ("bz2", &["libbz2-dev"]),
    ("amqp", &["librabbitmq-dev", "libssl-dev"]),
    ("enchant", &["libenchant-2-dev"]),
    (
        "gd",
        &["libpng-dev", "libjpeg62-turbo-dev", "libfreetype6-dev"],
    ),
    ("gmp", &["libgmp-dev"]),
    ("imagick", &["libmagickwand-dev"]),
    ("intl", &["libicu-dev"]),
    ("ldap", &["libldap2-dev"]),
    (
        "memcached",
        &["libmemcached-dev", "zlib1g-dev", "libssl-dev"],
    ),
    ("mongodb", &["libssl-dev"]),
    ("pdo_pgsql", &["libpq-dev"]),
    ("pgsql", &["libpq-dev"]),
    ("pspell", &["libpspell-dev"]),
    ("snmp", &["libsnmp-dev"]),
    ("soap", &["libxml2-dev"]),
    ("ssh2", &["libssh2-1-dev"]),
    ("tidy", &["libtidy-dev"]),
    ("uuid", &["uuid-dev"]),
    ("xsl", &["libxslt1-dev"]),
    ("yaml", &["libyaml-dev"]),
    ("zip", &["libzip-dev"]),
];

/// Development packages that look at code and run no test, left out where the whole cannot be had.
const TOOLS: &[&str] = &[
    "ergebnis/composer-normalize",
    "friendsofphp/php-cs-fixer",
    "infection/infection",
    "phan/phan",
    "php-coveralls/php-coveralls",
    "phpbench/phpbench",
    "phpmd/phpmd",
    "phpstan/extension-installer",
    "phpstan/phpstan",
    "phpstan/phpstan-deprecation-rules",
    "phpstan/phpstan-phpunit",
    "phpstan/phpstan-strict-rules",
    "psalm/plugin-phpunit",
    "rector/rector",
    "satooshi/php-coveralls",
    "squizlabs/php_codesniffer",
    "vimeo/psalm",
];

/// Extensions that measure or debug.
const NOT_FOR_TESTS: &[&str] = &["blackfire", "pcov", "xdebug", "phar"];

static ASKED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"@requires\s+extension\s+(\w+)|RequiresPhpExtension\(\s*['"](\w+)['"]"#)
        .expect("a literal pattern")
});

/// Extensions that `shivammathur/setup-php` brings unasked and official images do not have, and how code shows that it uses them.
static USED: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    [
        (
            "bcmath",
            r"\bbc(?:add|sub|mul|div|mod|powm?|powmod|sqrt|comp|scale)\s*[(;,]",
        ),
        ("gmp", r"\bgmp_[a-z_0-9]+\s*[(;,]"),
        (
            "intl",
            r"\b(?:new|use|extends)\s+\\?(?:NumberFormatter|IntlDateFormatter|MessageFormatter|Collator|Transliterator|IntlChar)\b|\bgrapheme_\w+\s*[(;,]",
        ),
    ]
    .map(|(name, form)| (name, Regex::new(form).expect("a literal pattern")))
    .into()
});

impl Language for Php {
    fn id(&self) -> &'static str {
        "php"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "php:8.3-cli-bookworm"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        let sources: Vec<_> = tree.ending(".php").collect();
        Presence {
            manifest: composer::find(tree),
            tests: sources
                .iter()
                .filter(|path| composer::is_test(path))
                .count(),
            sources: sources.len(),
        }
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        let tree = facts.tree;
        let packages = Packages::find(tree);
        if packages.are_below() {
            return packages.plan(facts, |composer| self.planned(facts, composer));
        }
        let Some(main) = composer::find(tree) else {
            return Err(Verdict::new(
                "no composer.json and no configuration of PHPUnit stands in the repository's root or in a folder with tests",
                vec![Evidence::of(".", "composer.json is missing")],
            ));
        };
        let composer = Composer::read(tree, &main);
        self.planned(facts, &composer)
    }

    fn substitutes(
        &self,
        facts: &Facts<'_>,
        _plan: &EnvironmentPlan,
    ) -> Vec<(&'static str, String)> {
        let packages = Packages::find(facts.tree);
        let all = if packages.are_below() {
            packages.chosen(facts)
        } else {
            let main = composer::find(facts.tree).into_iter();
            main.map(|main| Composer::read(facts.tree, &main)).collect()
        };
        if all.is_empty() {
            return Vec::new();
        }
        let names: BTreeSet<String> = all
            .iter()
            .flat_map(|composer| composer.required().into_keys())
            .collect();
        let libraries: Vec<String> = names
            .into_iter()
            .filter(|name| {
                name.contains('/') && name != "phpunit/phpunit" && !TOOLS.contains(&name.as_str())
            })
            .map(|name| shell_quote(&name.replace('_', "-")))
            .collect();
        let install = include_str!("substitutes.sh").replace("@LIBRARIES@", &libraries.join(" "));
        vec![
            (INSTALL_SUBSTITUTES, install),
            (
                "composer",
                include_str!("substitutes.composer.sh").to_owned(),
            ),
            (
                "phpunit.php",
                include_str!("substitutes.phpunit.php").to_owned(),
            ),
        ]
    }
}

impl Php {
    /// The plan for the tests of one folder.
    fn planned(&self, facts: &Facts<'_>, composer: &Composer) -> Result<EnvironmentPlan, Verdict> {
        let tree = facts.tree;
        let (runner, why) = runner::find(facts, composer)?;
        let mut plan = EnvironmentPlan {
            env: env([
                ("COMPOSER_CACHE_DIR", "$ATLAS_CACHE/composer"),
                ("COMPOSER_HOME", "$ATLAS_ENV/composer"),
                ("COMPOSER_NO_AUDIT", "1"),
                // What was current at the commit may be known as insecure today.
                ("COMPOSER_NO_SECURITY_BLOCKING", "1"),
                ("LANG", "C.UTF-8"),
                ("PATH", "$ATLAS_ENV/bin:$PATH"),
            ]),
            ..EnvironmentPlan::default()
        };
        plan.prove("log_parser_name", why.clone());
        plan.prove("test_cmd", why);
        let old_names = runner == Runner::Global && runner::old_names(facts);
        let php = versions::choose(facts, composer, old_names, &mut plan);
        let major = match runner {
            Runner::Global => Some(versions::phpunit_at(facts.date, php, old_names)),
            Runner::Phpunit => versions::phpunit_major(composer, php),
            Runner::Simple | Runner::Pest => None,
        };
        runner::command(facts, composer, runner, major, &mut plan)?;
        variables(facts, &mut plan);
        if let Some(alias) = composer.branch_alias() {
            // Composer asks git for the branch's name; a checkout of a commit has none.
            let text = format!("the branch is called {alias}");
            plan.prove("env", composer.at(tree, "\"branch-alias\"", &text));
            if !composer.are_several {
                plan.env.insert("COMPOSER_ROOT_VERSION".to_owned(), alias);
            }
        }
        let extensions = extensions(facts, composer, &mut plan);
        let at = Evidence::of(composer.main.clone(), "composer unpacks archives");
        let mut extra = vec![("unzip", at)];
        for (name, packages) in HEADERS {
            if let Some(why) = extensions.get(*name) {
                extra.extend(packages.iter().map(|package| (*package, why.clone())));
            }
        }
        system::packages(facts, self.id(), &[], &extra, &mut plan);
        prepare(php, &extensions, &mut plan);
        build(facts, composer, runner, major, &mut plan);
        Ok(plan)
    }
}

/// What CI sets for its tests and the repository's own code asks for.
fn variables(facts: &Facts<'_>, plan: &mut EnvironmentPlan) {
    let candidates = facts.ci.test_variables();
    if candidates.is_empty() {
        return;
    }
    let texts: Vec<String> = facts
        .tree
        .ending(".php")
        .chain(facts.tree.ending(".xml"))
        .chain(facts.tree.ending(".dist"))
        .take(500)
        .filter_map(|path| facts.tree.text(path))
        .collect();
    for (name, value) in candidates {
        let forms = [
            format!("getenv('{name}'"),
            format!("getenv(\"{name}\""),
            format!("_ENV['{name}'"),
            format!("_SERVER['{name}'"),
        ];
        let asked = texts
            .iter()
            .any(|text| forms.iter().any(|form| text.contains(form)));
        if !asked || name.contains("TOKEN") || plan.env.contains_key(&name) {
            continue;
        }
        let text = format!("{name}: {}", value.text);
        plan.prove("env", Evidence::at(value.file, value.line, text));
        plan.env.insert(name, value.text);
    }
}

/// Extensions that manifests demand, CI adds or code asks for.
fn extensions(
    facts: &Facts<'_>,
    composer: &Composer,
    plan: &mut EnvironmentPlan,
) -> BTreeMap<String, Evidence> {
    let mut found: BTreeMap<String, Evidence> = BTreeMap::new();
    for name in composer.extensions() {
        let at = composer.at(facts.tree, &format!("ext-{name}"), &format!("ext-{name}"));
        found.entry(name).or_insert(at);
    }
    for list in facts
        .ci
        .versions(&[("shivammathur/setup-php", "extensions")])
    {
        for name in list.text.split(',').map(str::trim) {
            let name = name.split('-').next().unwrap_or_default().to_lowercase();
            let at = Evidence::at(list.file.clone(), list.line, list.text.clone());
            found.entry(name).or_insert(at);
        }
    }
    for path in facts.tree.ending(".php") {
        let text = facts.tree.text(path).unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            for captures in ASKED.captures_iter(line) {
                if let Some(name) = captures.iter().skip(1).flatten().next() {
                    let why = || Evidence::at(path, at + 1, line.trim());
                    let name = name.as_str().to_lowercase();
                    found.entry(name).or_insert_with(why);
                }
            }
        }
    }
    if !facts
        .ci
        .versions(&[("shivammathur/setup-php", "php-version")])
        .is_empty()
    {
        used(facts, &mut found);
    }
    let literal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    found.retain(|name, _| {
        !name.is_empty() && name.chars().all(literal) && !NOT_FOR_TESTS.contains(&name.as_str())
    });
    for why in found.values() {
        plan.prove("pre_install", why.clone());
    }
    found
}

/// Extensions that CI's PHP has and the repository's code uses without demanding them.
fn used(facts: &Facts<'_>, found: &mut BTreeMap<String, Evidence>) {
    for (name, form) in USED
        .iter()
        .filter(|(name, _)| !found.contains_key(*name))
        .collect::<Vec<_>>()
    {
        let at = facts.tree.ending(".php").find_map(|path| {
            let text = facts.tree.text(path)?;
            let (at, line) = text.lines().enumerate().find(|(_, line)| {
                !line.trim_start().starts_with(['*', '/', '#']) && form.is_match(line)
            })?;
            Some(Evidence::at(path, at + 1, line.trim()))
        });
        if let Some(at) = at {
            found.insert((*name).to_owned(), at);
        }
    }
}

/// Steps as root: extensions and composer.
fn prepare(php: Version, extensions: &BTreeMap<String, Evidence>, plan: &mut EnvironmentPlan) {
    if !extensions.is_empty() {
        let names: Vec<&str> = extensions.keys().map(String::as_str).collect();
        plan.pre_install.push(
            EXTENSIONS
                .trim_end()
                .replace("@EXTENSIONS@", &names.join(" ")),
        );
    }
    // Composer 2.2 is the last for PHP before 7.2.5.
    let channel = if php >= Version::new(7, 3) {
        "latest-2.x"
    } else {
        "latest-2.2.x"
    };
    plan.pre_install
        .push(COMPOSER.trim_end().replace("@CHANNEL@", channel));
}

fn build(
    facts: &Facts<'_>,
    composer: &Composer,
    runner: Runner,
    major: Option<u32>,
    plan: &mut EnvironmentPlan,
) {
    let mut enter = runner::enter(composer);
    // Each of several packages has a branch of its own name.
    if let Some(alias) = composer.branch_alias().filter(|_| composer.are_several) {
        let _ = write!(enter, "export COMPOSER_ROOT_VERSION={alias} && ");
    }
    if !composer.folder.is_empty() {
        packages::from_folders(facts.tree, plan);
    }
    if composer.is_there {
        toolbox::add(plan, COMPOSER_INSTALL);
        let spare = composer.development(TOOLS);
        let words = std::iter::once(toolbox::call(COMPOSER_INSTALL));
        let words = words.chain(spare.iter().map(|name| shell_quote(name)));
        plan.build
            .push(format!("{enter}{}", words.collect::<Vec<_>>().join(" ")));
        if composer.has_lock {
            plan.prove(
                "build",
                Evidence::of(
                    format!("{}composer.lock", composer.folder),
                    "packages as locked",
                ),
            );
        } else {
            plan.drift.push(
                "there is no composer.lock: packages are resolved as of today, composer knows no date".to_owned(),
            );
            plan.prove(
                "build",
                Evidence::of(composer.main.clone(), "packages as the manifest names them"),
            );
        }
        // Files of a state may be of classes that no list has yet.
        let lists =
            "composer dump-autoload --dev --no-interaction --no-ansi --no-scripts --no-plugins";
        let quiet = "--no-interaction --no-progress --no-ansi --no-scripts --no-plugins";
        let resolve = if composer.has_lock {
            "install"
        } else {
            "update"
        };
        if facts.changes_manifests {
            plan.prefetch = vec![format!("{enter}composer {resolve} {quiet} --no-autoloader")];
            // What was fetched ahead lies in composer's cache.
            plan.rebuild.push(format!(
                "{enter}{{ COMPOSER_DISABLE_NETWORK=1 composer {resolve} {quiet} || {lists}; }}"
            ));
        } else {
            plan.rebuild.push(format!("{enter}{lists}"));
        }
        plan.prove(
            "rebuild",
            Evidence::of(composer.main.clone(), "class maps are made anew"),
        );
    }
    match runner {
        Runner::Global => {
            let constraint = format!("phpunit/phpunit:^{}.0", major.unwrap_or(9));
            let install = GLOBAL.replace("@CONSTRAINT@", &constraint);
            plan.build.push(install.trim_end().to_owned());
            plan.prove(
                "build",
                Evidence::of(
                    composer.main.clone(),
                    format!("nothing names a PHPUnit: {constraint}"),
                ),
            );
        }
        Runner::Simple => plan.build.push(format!(
            "{enter}php -d memory_limit=-1 {} install",
            runner::program(runner)
        )),
        Runner::Phpunit | Runner::Pest => {}
    }
    if facts.tree.has(&format!("{}artisan", composer.folder)) {
        plan.build.push(format!(
            "{enter}[ -f .env ] || [ ! -f .env.example ] || {{ cp .env.example .env && php artisan key:generate; }} || echo 'atlas: no application key'"
        ));
    }
}
