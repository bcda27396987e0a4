//! Which reader a harness calls: its registry of names, or its table of repositories.

use super::{Answer, CompatFault, CompatFound, CompatHints, CompatStatuses};
use super::{c, go, java, javascript, junit, p5js, php, pytest, ruby, rust, trees, unittest};
use atlas_core::Harness;

/// A reader, by what it needs and whether it can raise.
#[derive(Clone, Copy)]
pub(super) enum Reader {
    Lines(fn(&str) -> CompatFound),
    Total(fn(&str) -> CompatStatuses),
    Raising(fn(&str) -> Answer),
    Told(fn(&str, &CompatHints) -> Answer),
    /// A reader that raises whatever the log is.
    Raises(&'static str),
}

use Reader::{Lines, Raises, Raising, Told, Total};

type Table = &'static [(&'static str, Reader)];

/// `PARSER_REGISTRY` of SWE-bench 5.0.2.
pub(super) const SWEBENCH5: Table = &[
    ("parse_log_ant", Total(java::ant)),
    ("parse_log_astroid", Lines(pytest::pytest5)),
    ("parse_log_astropy", Lines(pytest::v2_5)),
    ("parse_log_bpmn_js", Total(javascript::bpmn_js)),
    ("parse_log_calypso", Raising(trees::calypso)),
    ("parse_log_carbon", Total(javascript::carbon)),
    ("parse_log_cargo", Lines(rust::cargo)),
    ("parse_log_chart_js", Total(javascript::chart_js)),
    ("parse_log_cucumber", Total(ruby::cucumber)),
    ("parse_log_django", Raising(unittest::django)),
    ("parse_log_doctest", Raising(c::doctest)),
    ("parse_log_eslint", Total(javascript::eslint)),
    ("parse_log_flask", Lines(pytest::pytest5)),
    ("parse_log_googletest", Total(c::googletest)),
    ("parse_log_gotest", Lines(go::gotest)),
    ("parse_log_gradle_custom", Total(java::gradle5)),
    ("parse_log_grommet", Total(javascript::grommet)),
    ("parse_log_highlightjs", Total(javascript::highlightjs)),
    ("parse_log_immutable_js", Told(javascript::immutable_js5)),
    ("parse_log_jekyll", Told(ruby::jekyll)),
    ("parse_log_jest", Total(javascript::jest5)),
    ("parse_log_jest_json", Total(javascript::jest_json)),
    ("parse_log_jq", Total(c::jq)),
    ("parse_log_karma", Raising(trees::karma)),
    ("parse_log_lighthouse", Told(trees::lighthouse)),
    ("parse_log_marked", Total(javascript::marked)),
    ("parse_log_marshmallow", Lines(pytest::pytest5)),
    ("parse_log_matplotlib", Lines(pytest::matplotlib5)),
    ("parse_log_maven", Total(java::maven5)),
    ("parse_log_micropython_test", Total(c::micropython)),
    ("parse_log_minitest", Total(ruby::minitest)),
    (
        "parse_log_next",
        Told(|log, hints| Ok(trees::next(log, hints))),
    ),
    ("parse_log_openlayers", Total(javascript::openlayers)),
    ("parse_log_p5js", Total(p5js::p5js)),
    ("parse_log_phpunit", Total(php::phpunit)),
    ("parse_log_prismjs", Raising(javascript::prismjs)),
    ("parse_log_pvlib", Lines(pytest::pytest5)),
    ("parse_log_pydicom", Lines(pytest::options5)),
    ("parse_log_pylint", Lines(pytest::options5)),
    ("parse_log_pytest", Lines(pytest::pytest5)),
    ("parse_log_pytest_options", Lines(pytest::options5)),
    ("parse_log_pytest_v2", Lines(pytest::v2_5)),
    ("parse_log_pyvista", Lines(pytest::pytest5)),
    ("parse_log_quarto_cli", Total(javascript::quarto_cli)),
    ("parse_log_react_pdf", Total(javascript::carbon)),
    ("parse_log_redis", Total(c::redis)),
    ("parse_log_requests", Lines(pytest::options5)),
    ("parse_log_rspec_transformed_json", Total(ruby::rspec_lines)),
    ("parse_log_ruby_unit", Total(ruby::ruby_unit)),
    ("parse_log_scikit", Lines(pytest::v2_5)),
    ("parse_log_seaborn", Total(pytest::seaborn5)),
    ("parse_log_sphinx", Lines(pytest::v2_5)),
    ("parse_log_sqlfluff", Lines(pytest::pytest5)),
    ("parse_log_sympy", Total(unittest::sympy)),
    ("parse_log_tap", Total(javascript::tap)),
    ("parse_log_vitest", Total(javascript::vitest5)),
    ("parse_log_xarray", Lines(pytest::pytest5)),
];

/// The readers of SWE-bench 4.1.0 and their other names.
pub(super) const SWEBENCH4: Table = &[
    ("parse_log_ant", Total(java::ant)),
    ("parse_log_astroid", Lines(pytest::pytest4)),
    ("parse_log_astropy", Lines(pytest::v2_4)),
    ("parse_log_calypso", Raising(trees::calypso)),
    ("parse_log_cargo", Lines(rust::cargo)),
    ("parse_log_chart_js", Total(javascript::chart_js)),
    ("parse_log_cucumber", Total(ruby::cucumber)),
    ("parse_log_django", Raising(unittest::django)),
    ("parse_log_doctest", Raising(c::doctest)),
    ("parse_log_flask", Lines(pytest::pytest4)),
    ("parse_log_googletest", Total(c::googletest)),
    ("parse_log_gotest", Lines(go::gotest)),
    ("parse_log_gradle_custom", Total(java::gradle4)),
    ("parse_log_immutable_js", Told(javascript::immutable_js4)),
    ("parse_log_jekyll", Told(ruby::jekyll)),
    ("parse_log_jest", Total(javascript::jest4)),
    ("parse_log_jest_json", Total(javascript::jest_json)),
    ("parse_log_jq", Total(c::jq)),
    ("parse_log_karma", Raising(trees::karma)),
    ("parse_log_marked", Total(javascript::marked)),
    ("parse_log_marshmallow", Lines(pytest::pytest4)),
    ("parse_log_matplotlib", Lines(pytest::matplotlib4)),
    ("parse_log_maven", Total(java::maven4)),
    ("parse_log_micropython_test", Total(c::micropython)),
    ("parse_log_minitest", Total(ruby::minitest)),
    ("parse_log_p5js", Total(p5js::p5js)),
    ("parse_log_phpunit", Total(php::phpunit)),
    ("parse_log_pvlib", Lines(pytest::pytest4)),
    ("parse_log_pydicom", Lines(pytest::options4)),
    ("parse_log_pylint", Lines(pytest::options4)),
    ("parse_log_pytest", Lines(pytest::pytest4)),
    ("parse_log_pytest_options", Lines(pytest::options4)),
    ("parse_log_pytest_v2", Lines(pytest::v2_4)),
    ("parse_log_pyvista", Lines(pytest::pytest4)),
    ("parse_log_react_pdf", Total(javascript::carbon)),
    ("parse_log_redis", Total(c::redis)),
    ("parse_log_requests", Lines(pytest::options4)),
    ("parse_log_rspec_transformed_json", Total(ruby::rspec_lines)),
    ("parse_log_ruby_unit", Total(ruby::ruby_unit)),
    ("parse_log_scikit", Lines(pytest::v2_4)),
    ("parse_log_seaborn", Raising(pytest::seaborn4)),
    ("parse_log_sphinx", Lines(pytest::v2_4)),
    ("parse_log_sqlfluff", Lines(pytest::pytest4)),
    ("parse_log_sympy", Total(unittest::sympy)),
    ("parse_log_tap", Total(javascript::tap)),
    ("parse_log_vitest", Total(javascript::vitest5)),
    ("parse_log_xarray", Lines(pytest::pytest4)),
];

/// SWE-Bench++ calls it with one argument too few.
const DOTNET: Reader =
    Raises("TypeError: parse_log_dotnet() missing 1 required positional argument: 'test_spec'");

/// The functions that SWE-Bench++'s table of repositories names.
const SWEBENCH_PP: Table = &[
    ("parse_log_ant", Total(java::ant)),
    ("parse_log_calypso", Raising(trees::calypso)),
    ("parse_log_cargo", Total(rust::cargo_pp)),
    ("parse_log_chart_js", Total(javascript::chart_js_pp)),
    ("parse_log_django", Raising(unittest::django)),
    ("parse_log_doctest", Raising(c::doctest_pp)),
    ("parse_log_dotnet", DOTNET),
    ("parse_log_googletest", Total(c::googletest)),
    ("parse_log_gotest", Lines(go::gotest)),
    ("parse_log_gradle_custom", Total(java::gradle4)),
    (
        "parse_log_jekyll",
        Raises("NameError: name 'test_spec' is not defined"),
    ),
    ("parse_log_jq", Total(c::jq)),
    ("parse_log_marked", Total(javascript::marked)),
    ("parse_log_matplotlib", Lines(pytest::matplotlib4)),
    ("parse_log_maven", Total(java::maven4)),
    ("parse_log_maven_v2", Total(java::maven_v2)),
    ("parse_log_micropython_test", Total(c::micropython)),
    ("parse_log_p5js", Total(p5js::p5js)),
    ("parse_log_phpunit", Total(php::phpunit)),
    ("parse_log_pytest", Lines(pytest::pytest_pp)),
    ("parse_log_pytest_options", Lines(pytest::options4)),
    ("parse_log_pytest_v2", Lines(pytest::v2_pp)),
    ("parse_log_react_pdf", Total(javascript::carbon)),
    ("parse_log_redis", Total(c::redis)),
    ("parse_log_rspec", Raising(ruby::rspec_json)),
    ("parse_log_ruby_unit", Total(ruby::ruby_unit)),
    ("parse_log_seaborn", Raising(pytest::seaborn4)),
    ("parse_log_sympy", Total(unittest::sympy)),
    ("parse_log_vitest", Total(javascript::vitest_pp)),
];

/// What a parser's name means to SWE-Bench++ in a language.
struct Language {
    names: &'static [&'static str],
    readers: Table,
    /// The reader for any other name.
    usual: Reader,
}

const LANGUAGES: &[Language] = &[
    Language {
        names: &["C", "C++"],
        usual: Total(c::ctest),
        readers: &[
            ("non_agentic", Raising(c::common)),
            ("googletest", Total(c::googletest)),
            ("doctest", Raising(c::doctest_pp)),
            ("catch2", Raising(c::catch2)),
            ("tap", Total(c::tap_or_ctest)),
            ("ctest", Total(c::ctest)),
        ],
    },
    Language {
        names: &["C#"],
        usual: DOTNET,
        readers: &[("dotnet", DOTNET)],
    },
    Language {
        names: &["Go"],
        usual: Lines(go::gotest),
        readers: &[("gotest", Lines(go::gotest))],
    },
    Language {
        names: &["Java"],
        usual: Raising(junit::ci_log),
        readers: &[
            ("maven", Raising(junit::ci_log)),
            ("ant", Total(java::ant)),
            ("gradle", Raising(junit::ci_log)),
        ],
    },
    Language {
        names: &["JavaScript", "TypeScript"],
        usual: Total(javascript::vitest_pp),
        readers: &[
            ("calypso", Raising(trees::calypso)),
            ("chartjs", Total(javascript::chart_js_pp)),
            ("marked", Total(javascript::marked)),
            ("p5js", Total(p5js::p5js)),
            ("reactpdf", Total(javascript::carbon)),
            ("vitest", Total(javascript::vitest_pp)),
            ("jest", Total(javascript::jest_pp)),
            ("mocha", Total(javascript::mocha_v2)),
            ("karma", Raising(trees::karma)),
            ("tap", Total(javascript::tap)),
        ],
    },
    Language {
        names: &["PHP"],
        usual: Total(php::phpunit),
        readers: &[("phpunit", Total(php::phpunit))],
    },
    Language {
        names: &["Python"],
        usual: Lines(pytest::v2_pp),
        readers: &[
            ("pytest", Lines(pytest::v2_pp)),
            ("django", Raising(unittest::django)),
            ("seaborn", Raising(pytest::seaborn4)),
            ("sympy", Total(unittest::sympy)),
            ("matplotlib", Lines(pytest::matplotlib4)),
        ],
    },
    Language {
        names: &["Ruby"],
        usual: Total(ruby::ruby_unit),
        readers: &[
            ("rubyunit", Total(ruby::ruby_unit)),
            ("minitest", Total(ruby::minitest_pp)),
            ("rspec", Raising(ruby::rspec_json)),
            ("cucumber", Raising(ruby::cucumber_json)),
            ("tap", Total(ruby::tap)),
        ],
    },
    Language {
        names: &["Rust"],
        usual: Total(rust::cargo_pp),
        readers: &[("cargo", Total(rust::cargo_pp))],
    },
];

/// The reader of a name.
pub(super) fn find(table: Table, name: &str) -> Option<Reader> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, reader)| reader)
}

/// The reader SWE-Bench++ calls.
pub(super) fn find_pp(name: &str, hints: &CompatHints) -> Result<Reader, CompatFault> {
    if name == "custom" {
        return Err(CompatFault::new(
            "the row brings code of its own to read its log, which is not run here",
        ));
    }
    if hints.language.is_empty() && !name.is_empty() {
        let mut meant = LANGUAGES
            .iter()
            .filter_map(|language| find(language.readers, name));
        let reader = find(SWEBENCH_PP, name).or_else(|| meant.next());
        return match (reader, meant.next()) {
            (Some(reader), None) => Ok(reader),
            _ => Err(CompatFault(format!(
                "KeyError: '{name}' says no reader without a language"
            ))),
        };
    }
    let language = LANGUAGES
        .iter()
        .find(|language| language.names.contains(&hints.language.as_str()));
    match language {
        Some(language) if !name.is_empty() => {
            Ok(find(language.readers, name).unwrap_or(language.usual))
        }
        _ => compat_parser_of(Harness::SweBenchPp, &hints.repo)
            .and_then(|name| find(SWEBENCH_PP, name))
            .ok_or_else(|| CompatFault::new("TypeError: 'NoneType' object is not callable")),
    }
}

/// The names of parsers that a harness knows, sorted. For SWE-Bench++ those of all languages, and the
/// functions its table of repositories calls.
pub fn compat_parser_names(harness: Harness) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = match harness {
        Harness::SweBench5 => SWEBENCH5.iter().map(|(name, _)| *name).collect(),
        Harness::SweBench4 => SWEBENCH4.iter().map(|(name, _)| *name).collect(),
        Harness::SweBenchPp => LANGUAGES
            .iter()
            .flat_map(|language| language.readers)
            .chain(SWEBENCH_PP)
            .map(|(name, _)| *name)
            .collect(),
    };
    names.sort_unstable();
    names.dedup();
    names
}

/// The function that a harness's table of repositories calls for a repository (`owner/name`, as written
/// there). SWE-bench 5 has no such table: its rows name their parser.
///
/// ```
/// use atlas_core::Harness;
/// use atlas_parsers::compat_parser_of;
/// let of = |repo| compat_parser_of(Harness::SweBench4, repo);
/// assert_eq!(of("django/django"), Some("parse_log_django"));
/// assert_eq!(of("someone/else"), None);
/// ```
pub fn compat_parser_of(harness: Harness, repo: &str) -> Option<&'static str> {
    let table = match harness {
        Harness::SweBench5 => return None,
        Harness::SweBench4 => REPOSITORIES4,
        Harness::SweBenchPp => REPOSITORIES_PP,
    };
    let at = table
        .binary_search_by(|(known, _)| (*known).cmp(repo))
        .ok()?;
    Some(table[at].1)
}

/// `MAP_REPO_TO_PARSER` of SWE-bench 4.1.0, sorted; other names of a function are resolved.
const REPOSITORIES4: &[(&str, &str)] = &[
    ("Automattic/wp-calypso", "parse_log_calypso"),
    ("apache/druid", "parse_log_maven"),
    ("apache/lucene", "parse_log_gradle_custom"),
    ("astral-sh/ruff", "parse_log_cargo"),
    ("astropy/astropy", "parse_log_pytest_v2"),
    ("axios/axios", "parse_log_tap"),
    ("babel/babel", "parse_log_jest"),
    ("briannesbitt/carbon", "parse_log_phpunit"),
    ("burntsushi/ripgrep", "parse_log_cargo"),
    ("caddyserver/caddy", "parse_log_gotest"),
    ("chartjs/Chart.js", "parse_log_chart_js"),
    ("diegomura/react-pdf", "parse_log_react_pdf"),
    ("django/django", "parse_log_django"),
    ("facebook/docusaurus", "parse_log_jest"),
    ("faker-ruby/faker", "parse_log_ruby_unit"),
    ("fastlane/fastlane", "parse_log_rspec_transformed_json"),
    ("fluent/fluentd", "parse_log_ruby_unit"),
    ("fmtlib/fmt", "parse_log_googletest"),
    ("gin-gonic/gin", "parse_log_gotest"),
    ("gohugoio/hugo", "parse_log_gotest"),
    ("google/gson", "parse_log_maven"),
    ("hashicorp/terraform", "parse_log_gotest"),
    ("immutable-js/immutable-js", "parse_log_immutable_js"),
    ("javaparser/javaparser", "parse_log_maven"),
    ("jekyll/jekyll", "parse_log_jekyll"),
    ("jordansissel/fpm", "parse_log_rspec_transformed_json"),
    ("jqlang/jq", "parse_log_jq"),
    ("laravel/framework", "parse_log_phpunit"),
    ("markedjs/marked", "parse_log_marked"),
    ("marshmallow-code/marshmallow", "parse_log_pytest"),
    ("matplotlib/matplotlib", "parse_log_matplotlib"),
    ("micropython/micropython", "parse_log_micropython_test"),
    ("mrdoob/three.js", "parse_log_tap"),
    ("mwaskom/seaborn", "parse_log_seaborn"),
    ("nlohmann/json", "parse_log_doctest"),
    ("nushell/nushell", "parse_log_cargo"),
    ("pallets/flask", "parse_log_pytest"),
    ("php-cs-fixer/php-cs-fixer", "parse_log_phpunit"),
    ("phpoffice/phpspreadsheet", "parse_log_phpunit"),
    ("preactjs/preact", "parse_log_karma"),
    ("processing/p5.js", "parse_log_p5js"),
    ("projectlombok/lombok", "parse_log_ant"),
    ("prometheus/prometheus", "parse_log_gotest"),
    ("psf/requests", "parse_log_pytest_options"),
    ("pvlib/pvlib-python", "parse_log_pytest"),
    ("pydata/xarray", "parse_log_pytest"),
    ("pydicom/pydicom", "parse_log_pytest_options"),
    ("pylint-dev/astroid", "parse_log_pytest"),
    ("pylint-dev/pylint", "parse_log_pytest_options"),
    ("pytest-dev/pytest", "parse_log_pytest"),
    ("pyvista/pyvista", "parse_log_pytest"),
    ("reactivex/rxjava", "parse_log_gradle_custom"),
    ("redis/redis", "parse_log_redis"),
    ("rubocop/rubocop", "parse_log_rspec_transformed_json"),
    ("scikit-learn/scikit-learn", "parse_log_pytest_v2"),
    ("sharkdp/bat", "parse_log_cargo"),
    ("sphinx-doc/sphinx", "parse_log_pytest_v2"),
    ("sqlfluff/sqlfluff", "parse_log_pytest"),
    ("sympy/sympy", "parse_log_sympy"),
    ("tokio-rs/axum", "parse_log_cargo"),
    ("tokio-rs/tokio", "parse_log_cargo"),
    ("uutils/coreutils", "parse_log_cargo"),
    ("valkey-io/valkey", "parse_log_redis"),
    ("vuejs/core", "parse_log_vitest"),
];

/// `MAP_REPO_TO_PARSER` of SWE-Bench++.
const REPOSITORIES_PP: &[(&str, &str)] = &[
    ("Automattic/wp-calypso", "parse_log_calypso"),
    ("BurntSushi/ripgrep", "parse_log_cargo"),
    ("Pyomo/pyomo", "parse_log_pytest_v2"),
    ("Textualize/rich", "parse_log_pytest"),
    ("apache/commons-lang", "parse_log_maven_v2"),
    ("apache/druid", "parse_log_maven"),
    ("apache/lucene", "parse_log_gradle_custom"),
    ("astral-sh/ruff", "parse_log_cargo"),
    ("astropy/astropy", "parse_log_pytest_v2"),
    ("axios/axios", "parse_log_marked"),
    ("briannesbitt/carbon", "parse_log_phpunit"),
    ("caddyserver/caddy", "parse_log_gotest"),
    ("celery/celery", "parse_log_pytest"),
    ("chartjs/Chart.js", "parse_log_chart_js"),
    ("dask/dask", "parse_log_pytest_v2"),
    ("diegomura/react-pdf", "parse_log_react_pdf"),
    ("django/django", "parse_log_django"),
    ("dotnet/aspnetcore", "parse_log_dotnet"),
    ("dotnet/mstest", "parse_log_dotnet"),
    ("dotnet/runtime", "parse_log_dotnet"),
    ("faker-ruby/faker", "parse_log_ruby_unit"),
    ("fastlane/fastlane", "parse_log_rspec"),
    ("fluent/fluentd", "parse_log_ruby_unit"),
    ("fmtlib/fmt", "parse_log_googletest"),
    ("getmoto/moto", "parse_log_pytest_v2"),
    ("gin-gonic/gin", "parse_log_gotest"),
    ("gohugoio/hugo", "parse_log_gotest"),
    ("google/gson", "parse_log_maven_v2"),
    ("hashicorp/terraform", "parse_log_gotest"),
    ("ipython/ipython", "parse_log_pytest"),
    ("javaparser/javaparser", "parse_log_maven"),
    ("jekyll/jekyll", "parse_log_jekyll"),
    ("jordansissel/fpm", "parse_log_rspec"),
    ("jqlang/jq", "parse_log_jq"),
    ("kubernetes/kubernetes", "parse_log_gotest"),
    ("laravel/framework", "parse_log_phpunit"),
    ("markedjs/marked", "parse_log_marked"),
    ("marshmallow-code/marshmallow", "parse_log_pytest"),
    ("matplotlib/matplotlib", "parse_log_matplotlib"),
    ("micropython/micropython", "parse_log_micropython_test"),
    ("mwaskom/seaborn", "parse_log_seaborn"),
    ("nlohmann/json", "parse_log_doctest"),
    ("nushell/nushell", "parse_log_cargo"),
    ("pallets/flask", "parse_log_pytest"),
    ("pandas-dev/pandas", "parse_log_pytest"),
    ("php-cs-fixer/php-cs-fixer", "parse_log_phpunit"),
    ("phpoffice/phpspreadsheet", "parse_log_phpunit"),
    ("processing/p5.js", "parse_log_p5js"),
    ("projectlombok/lombok", "parse_log_ant"),
    ("prometheus/prometheus", "parse_log_gotest"),
    ("psf/requests", "parse_log_pytest_options"),
    ("pvlib/pvlib-python", "parse_log_pytest"),
    ("pydata/xarray", "parse_log_pytest"),
    ("pydicom/pydicom", "parse_log_pytest_options"),
    ("pylint-dev/astroid", "parse_log_pytest"),
    ("pylint-dev/pylint", "parse_log_pytest_options"),
    ("pytest-dev/pytest", "parse_log_pytest"),
    ("python-pillow/Pillow", "parse_log_pytest"),
    ("pyvista/pyvista", "parse_log_pytest"),
    ("reactivex/rxjava", "parse_log_gradle_custom"),
    ("redis/redis", "parse_log_redis"),
    ("redis/redis-py", "parse_log_pytest"),
    ("reflex-dev/reflex", "parse_log_pytest"),
    ("rubocop/rubocop", "parse_log_rspec"),
    ("saltstack/salt", "parse_log_pytest"),
    ("scikit-learn/scikit-learn", "parse_log_pytest_v2"),
    ("sharkdp/bat", "parse_log_cargo"),
    ("sphinx-doc/sphinx", "parse_log_pytest_v2"),
    (
        "spring-projects/spring-framework",
        "parse_log_gradle_custom",
    ),
    ("sqlfluff/sqlfluff", "parse_log_pytest"),
    ("sympy/sympy", "parse_log_sympy"),
    ("tjw-lint/vue3-snapshot-serializer", "parse_log_vitest"),
    ("tokio-rs/axum", "parse_log_cargo"),
    ("tokio-rs/tokio", "parse_log_cargo"),
    ("uutils/coreutils", "parse_log_cargo"),
    ("valkey-io/valkey", "parse_log_redis"),
];
