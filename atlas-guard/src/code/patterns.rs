//! The table of patterns.

use crate::signal::SignalKind::{
    self, AlwaysEqual, Background, ExitHook, ForgedOutput, HistoryAccess, Inspection,
    NetworkAccess, Preload, ProcessExit, ReportWriting, RunnerDetection, RunnerPatching,
};
use atlas_facts::Family;
use regex::RegexSet;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use Family::{C, DotNet, Go, Java, JavaScript, Php, Python, Ruby, Rust, Shell};

/// Whether a line is a comment, seen by its first letters.
pub(super) fn is_comment(family: Family, line: &str) -> bool {
    match family {
        Python | Ruby | Shell => line.starts_with('#'),
        Php => line.starts_with(['#', '*']) || line.starts_with("//"),
        _ => line.starts_with("//") || line.starts_with("* ") || line.starts_with("/*"),
    }
}

struct Pattern {
    kind: SignalKind,
    /// Empty for all.
    families: &'static [Family],
    regex: &'static str,
    what: &'static str,
}

const fn pattern(
    kind: SignalKind,
    families: &'static [Family],
    regex: &'static str,
    what: &'static str,
) -> Pattern {
    Pattern {
        kind,
        families,
        regex,
        what,
    }
}

/// Each is tried on a line and the one behind it, joined by a line end; it must begin on the first.
const PATTERNS: &[Pattern] = &[
    // Ends of the process.
    pattern(
        ProcessExit,
        &[Python],
        r"\bos\._exit\s*\(|\bos\.kill\s*\(\s*os\.getp+id|\bos\.abort\s*\(|signal\.raise_signal",
        "ends the process without its clean-up",
    ),
    pattern(
        ProcessExit,
        &[Python],
        r"^(sys\.exit|exit|quit)\s*\(|^raise SystemExit|__import__\(.(os|sys).\)\.(_?exit)",
        "ends the process while it is imported",
    ),
    pattern(
        ProcessExit,
        &[JavaScript],
        r"\bprocess\.(exit|abort|reallyExit|kill)\s*\(|\bprocess\.exitCode\s*=",
        "ends the process or sets its exit code",
    ),
    pattern(
        ProcessExit,
        &[JavaScript],
        r"process\.(exit|reallyExit)\s*=",
        "takes the place of the process's exit",
    ),
    pattern(
        ProcessExit,
        &[Go],
        r"\bos\.Exit\s*\(|syscall\.(Exit|Kill)\s*\(|runtime\.Goexit\s*\(",
        "ends the process or its goroutine",
    ),
    pattern(
        ProcessExit,
        &[Rust],
        r"process::(exit|abort)\s*\(|libc::_?exit\s*\(",
        "ends the process",
    ),
    pattern(
        ProcessExit,
        &[Ruby],
        r"\b(Kernel\.|Process\.)?exit!|\bKernel\.exit\b|^(exit|abort)\b|Process\.kill",
        "ends the process",
    ),
    pattern(
        ProcessExit,
        &[Php],
        r"\b(exit|die)\s*[(;]|posix_kill\s*\(|pcntl_signal",
        "ends the process",
    ),
    pattern(
        ProcessExit,
        &[Java],
        r"\bSystem\.exit\s*\(|Runtime\.getRuntime\(\)\.(exit|halt)\s*\(|\bexitProcess\s*\(",
        "ends the process",
    ),
    pattern(
        ProcessExit,
        &[C],
        r"\b(_exit|_Exit|quick_exit)\s*\(|\b(exit|std::exit)\s*\(\s*(0|EXIT_SUCCESS)\s*\)",
        "ends the process as a success or without its clean-up",
    ),
    pattern(
        ProcessExit,
        &[DotNet],
        r"\bEnvironment\.(Exit|FailFast)\s*\(",
        "ends the process",
    ),
    // What runs at its end.
    pattern(
        ExitHook,
        &[Python],
        r"\batexit\.register|\bthreading\._register_atexit|sys\.excepthook\s*=",
        "runs code when the process ends",
    ),
    pattern(
        ExitHook,
        &[JavaScript],
        r#"process\.(on|once|addListener|prependListener)\s*\(\s*['"](exit|beforeExit|uncaughtException|unhandledRejection)"#,
        "runs code when the process ends or fails",
    ),
    pattern(
        ExitHook,
        &[Ruby],
        r"\bat_exit\b|Minitest\.after_run",
        "runs code when the process ends",
    ),
    pattern(
        ExitHook,
        &[Php],
        r"register_shutdown_function|set_exception_handler",
        "runs code when the process ends or fails",
    ),
    pattern(
        ExitHook,
        &[Java],
        r"addShutdownHook",
        "runs code when the process ends",
    ),
    pattern(
        ExitHook,
        &[C],
        r"\b(atexit|on_exit|at_quick_exit)\s*\(|__attribute__\s*\(\(\s*(destructor|constructor)",
        "runs code when the process ends or is loaded",
    ),
    pattern(
        ExitHook,
        &[Rust],
        r"libc::atexit|#\[(ctor|dtor)\b|\.fini_array|\.init_array",
        "runs code when the process ends or is loaded",
    ),
    pattern(
        ExitHook,
        &[DotNet],
        r"ProcessExit\s*\+=|UnhandledException\s*\+=|\[ModuleInitializer\]",
        "runs code when the process ends or is loaded",
    ),
    // A runner's words.
    pattern(
        ForgedOutput,
        &[],
        r#"['"`].*(--- (PASS|FAIL|SKIP): |::\w+ (PASSED|FAILED)\b|(PASSED|FAILED) \S+::|>>>>> |\btest \S+ \.\.\. ok|=+ \d+ passed|\[ +(OK|PASSED) +\]|test result: ok|Tests:\s+\d+ passed|BUILD SUCCESS|OK \(\d+ tests?)"#,
        "writes what a test runner prints",
    ),
    pattern(
        ForgedOutput,
        &[],
        r#"(print|puts|echo|write|log|printf|Println|WriteLine)\S*[ (].*['"`]\s*(✓|✔|PASSED\b|PASS\b|ok \d+ )"#,
        "prints what a test runner prints",
    ),
    pattern(
        ForgedOutput,
        &[],
        r"##teamcity\[test|['\x22`]::(error|set-output|stop-commands)[ :]|TAP version 1[34]",
        "writes a report's format to the console",
    ),
    // Patching the runner.
    pattern(
        RunnerPatching,
        &[Python],
        r"\b(unittest|_pytest|pytest|TestCase|TestResult|TextTestResult|nose|doctest)(\.\w+)*\.\w+\s*=[^=]|setattr\(\s*(unittest|_pytest|pytest|TestCase|TestReport)|import _pytest|from _pytest|pytest_runtest_\w+|pytest_report\w*|pytest_(collection|session)\w+|\bTestReport\b|builtins\.\w+\s*=[^=]",
        "changes the runner, or hooks into it",
    ),
    pattern(
        RunnerPatching,
        &[JavaScript],
        r#"\b(global|globalThis|window)(\.|\[['"])(expect|it|test|describe|assert|jest|vi|beforeEach|afterEach)\b\S*\s*=[^=]|\b(Mocha|Runner|Test|Suite|Runnable)\.prototype\.\w+\s*=|expect\.extend\s*\(|currentTest\b.*\.state\s*=|\.state\s*=\s*['"]passed|jest-circus|@jest/(expect|globals)|\bmock\.module\s*\(|require\.cache\[|Module\._(load|resolveFilename|extensions)|\bassert\.\w+\s*=[^=]"#,
        "changes the runner or the module loader",
    ),
    pattern(
        RunnerPatching,
        &[Ruby],
        r"^\s*(class|module)\s+(::)?(Minitest|MiniTest|RSpec|Test::Unit)\b|(Minitest|RSpec|Test::Unit)\S*\.(class_eval|module_eval|prepend|define_method|send|configure)|RSpec\.configure|Minitest\.(reporter|extensions)",
        "changes the runner",
    ),
    pattern(
        RunnerPatching,
        &[Go],
        r"go:linkname\s+\S+\s+testing\.|unsafe\.Pointer\(\s*t\b",
        "reaches into package `testing`",
    ),
    pattern(
        RunnerPatching,
        &[Rust],
        r"panic::set_hook|take_hook|extern crate test\b|set_test_",
        "changes how a panic is told",
    ),
    pattern(
        RunnerPatching,
        &[Php],
        r"namespace\s+(PHPUnit|Pest)\b|class_alias\([^)]*PHPUnit|runkit|uopz_",
        "takes the place of the runner's classes",
    ),
    pattern(
        RunnerPatching,
        &[Java],
        r"(TestExecutionListener|TestWatcher|RunListener|InvocationInterceptor|ITestListener|TestExecutionExceptionHandler|LauncherSessionListener)\b|package (org\.junit|junit\.framework|org\.testng|org\.assertj|org\.hamcrest)",
        "listens to the runner or takes the place of its classes",
    ),
    pattern(
        RunnerPatching,
        &[C],
        r"TestEventListener|::testing::internal|#\s*define\s+(assert|EXPECT_\w+|ASSERT_\w+|CHECK\w*|REQUIRE\w*|main|exit|abort)\b|#\s*define\s+NDEBUG",
        "changes the runner's macros or listens to it",
    ),
    pattern(
        RunnerPatching,
        &[DotNet],
        r"namespace\s+(Xunit|NUnit|Microsoft\.VisualStudio\.TestTools)\b|ITestFramework\b|\[assembly:\s*(Xunit\.)?(TestFramework|TestCaseOrderer)|\[SetUpFixture\b|IMessageSink\b|HarmonyPatch",
        "takes the place of the runner's classes",
    ),
    // Looking into processes and stacks.
    pattern(
        Inspection,
        &[],
        r"/proc/(self|\d+|\*|%[ds]|\{[^}]*\}|\$\{?\w+\}?)/(mem|environ|maps|fd|cmdline|root|cwd)|\bptrace\b|process_vm_(read|write)v",
        "looks into a running process",
    ),
    pattern(
        Inspection,
        &[Python],
        r"\binspect\.(stack|currentframe|getouterframes)\s*\(|sys\._getframe|gc\.get_(objects|referrers)|traceback\.extract_stack",
        "looks at its callers or at every object",
    ),
    pattern(
        Inspection,
        &[Java],
        r"getStackTrace\(\).*([tT]est|junit)|StackWalker",
        "looks at its callers",
    ),
    pattern(
        Inspection,
        &[Ruby],
        r"caller(_locations)?\b.*(spec|test|minitest)|ObjectSpace\.each_object",
        "looks at its callers or at every object",
    ),
    pattern(
        Inspection,
        &[JavaScript],
        r"new Error\(.*\)\.stack.*(test|spec|jest|mocha)|Error\.prepareStackTrace\s*=",
        "looks at its callers",
    ),
    pattern(
        Inspection,
        &[Go],
        r"runtime\.(Callers?|Stack)\s*\(|debug\.Stack\s*\(",
        "looks at its callers",
    ),
    // Asking whether it is under test.
    pattern(
        RunnerDetection,
        &[],
        r"PYTEST_CURRENT_TEST|PYTEST_VERSION|PYTEST_XDIST|JEST_WORKER_ID|VITEST_(WORKER|POOL)|MOCHA_\w+|CARGO_NEXTEST|NEXTEST_RUN|RSPEC_|ATLAS_(OUT|ENV|REPO)|SWE_?BENCH",
        "asks for a variable that a test run sets",
    ),
    pattern(
        RunnerDetection,
        &[Python],
        r#"['"]_?(pytest|unittest|nose)['"]\s+(not )?in\s+sys\.(modules|argv)|sys\.modules(\.get\(|\[)\s*['"]_?(pytest|unittest)|sys\.argv\[0\].*(pytest|test)"#,
        "asks whether a runner is loaded",
    ),
    pattern(
        RunnerDetection,
        &[JavaScript],
        r#"NODE_ENV\s*={2,3}\s*['"]test|process\.env\.(VITEST|JEST)|typeof\s+(jest|vi|describe|it|mocha)\s*[!=]==?|import\.meta\.vitest|process\.argv.*(jest|mocha|vitest)"#,
        "asks whether it is under test",
    ),
    pattern(
        RunnerDetection,
        &[Rust],
        r"cfg!\(\s*(not\s*\()?test|#\[cfg\(\s*not\(\s*test|#\[cfg_attr\(\s*(not\()?test|current_exe\(\)",
        "is other code under test",
    ),
    pattern(
        RunnerDetection,
        &[Rust],
        r"^\s*#\[cfg\(test\)\]\s*\n\s*(pub(\([^)]*\))?\s+)?(async |unsafe |const |extern )*(fn|impl|let|struct|static|return|if|\{)",
        "is other code under test",
    ),
    pattern(
        RunnerDetection,
        &[Go],
        r#"testing\.Testing\(\)|flag\.Lookup\(\s*"test\.|strings\.(HasSuffix|Contains)\(os\.Args\[0\]"#,
        "asks whether it is under test",
    ),
    pattern(
        RunnerDetection,
        &[Go],
        r#"^\s*(import\s+)?"testing""#,
        "uses package `testing` outside of tests",
    ),
    pattern(
        RunnerDetection,
        &[Ruby],
        r"defined\?\(\s*(::)?(RSpec|Minitest|Test::Unit)|Rails\.env\.test\?|\$PROGRAM_NAME.*(spec|test)|\$0.*(rspec|minitest)",
        "asks whether it is under test",
    ),
    pattern(
        RunnerDetection,
        &[Php],
        r"PHPUNIT_(COMPOSER_INSTALL|RUNNING|TESTSUITE)|class_exists\([^)]*PHPUnit|runningUnitTests\(\)",
        "asks whether it is under test",
    ),
    pattern(
        RunnerDetection,
        &[Java],
        r#"Class\.forName\(\s*"(org\.junit|junit|org\.testng)|getProperty\(\s*"(surefire|java\.class\.path|sun\.java\.command)"#,
        "asks whether it is under test",
    ),
    pattern(
        RunnerDetection,
        &[DotNet],
        r"GetAssemblies\(\).*([xX]unit|[nN]unit|TestPlatform)|testhost",
        "asks whether it is under test",
    ),
    // Equal to anything.
    pattern(
        AlwaysEqual,
        &[Python],
        r"def __(eq|ne|contains|lt|gt|le|ge|bool)__\s*\([^\n]*:\s*(\n\s*)?return (True|1)\b",
        "compares equal to anything",
    ),
    pattern(
        AlwaysEqual,
        &[Ruby],
        r"def (==|===|eql\?|!=)\s*\(?[^\n]*\n?\s*;?\s*true\s*$",
        "compares equal to anything",
    ),
    pattern(
        AlwaysEqual,
        &[Rust],
        r"fn (eq|ne)\s*\(\s*&self[^{]*\{\s*(\n\s*)?true\b",
        "compares equal to anything",
    ),
    pattern(
        AlwaysEqual,
        &[Java, DotNet],
        r"(boolean|bool)\s+(override\s+)?[eE]quals\s*\([^\n]*\s*\{?\s*(\n\s*)?return true\b",
        "compares equal to anything",
    ),
    pattern(
        AlwaysEqual,
        &[C],
        r"operator\s*(==|!=)\s*\([^\n]*\{?\s*(\n\s*)?return true\b",
        "compares equal to anything",
    ),
    pattern(
        AlwaysEqual,
        &[JavaScript],
        r"\[?Symbol\.toPrimitive\]?|asymmetricMatch\s*[(:=]",
        "decides itself what it is equal to",
    ),
    // History, network, what outlives the run.
    pattern(
        HistoryAccess,
        &[],
        r#"git['",\s]+(log|show|reflog|stash|rev-list|cat-file|fsck|checkout|diff)\b|['"/]\.git/(objects|refs|HEAD|logs|packed-refs|ORIG_HEAD|index)|\bORIG_HEAD\b"#,
        "reads the repository's history",
    ),
    // The same in words of their own: `git("cat-file", …)`.
    pattern(
        HistoryAccess,
        &[],
        r#"['"`](fsck|cat-file|rev-list|reflog|--lost-found|--unreachable|for-each-ref)['"`]"#,
        "reads the repository's history",
    ),
    pattern(
        NetworkAccess,
        &[],
        r"https?://(pypi\.org|files\.pythonhosted\.org|registry\.npmjs\.org|registry\.yarnpkg\.com|crates\.io|static\.crates\.io|index\.crates\.io|rubygems\.org|repo1?\.maven\.org|proxy\.golang\.org|api\.nuget\.org|packagist\.org|raw\.githubusercontent\.com|api\.github\.com|codeload\.github\.com)|\b(pip|npm|gem|cargo|go|apt-get)['\x22,\s]+(install|download|fetch|get)\b",
        "fetches code from a network",
    ),
    pattern(
        Background,
        &[],
        r"\bos\.(fork|forkpty|setsid|daemon)\b|\bdaemon\s*\(\s*\d|\bnohup\b|\bsetsid\b|start_new_session\s*=\s*True|detached\s*:\s*true|Process\.(daemon|detach)|pcntl_fork|\bfork\s*\(\s*\)|Setsid\s*:\s*true|\bdisown\b",
        "starts what outlives its parent",
    ),
    pattern(
        ReportWriting,
        &[],
        r"ATLAS_OUT|junit[\w-]*\.xml|TEST-[\w*]*\.xml|report-?log|surefire-reports|test-results?/|\.trx\b|results\.xml",
        "names a report of the test run",
    ),
    pattern(
        ReportWriting,
        &[Python],
        r#"open\(\s*f?['"][^'"]*(tests?/|test_)[^'"]*['"]\s*,\s*['"][wa]|(write_text|write_bytes)\(.*(tests?/|test_)"#,
        "writes into tests",
    ),
    pattern(
        ReportWriting,
        &[JavaScript],
        r#"(writeFile|appendFile|copyFile|rename|unlink|rm)(Sync)?\s*\(\s*['"`][^'"`]*(\btests?/|__tests__|\.(test|spec)\.)"#,
        "writes into tests",
    ),
    pattern(
        ReportWriting,
        &[Ruby, Go, Rust, Php, Java, DotNet],
        r#"(File\.(write|open)|os\.WriteFile|fs::write|file_put_contents|Files\.write\w*|File\.Write\w*)\s*\(\s*['"][^'"]*(_test\.|_spec\.|\btests?/|\bspec/)"#,
        "writes into tests",
    ),
    pattern(
        Preload,
        &[],
        r"\bLD_(PRELOAD|AUDIT|LIBRARY_PATH)\b|DYLD_INSERT|\bNODE_OPTIONS\b|\bRUBYOPT\b|\bPYTHON(STARTUP|PATH|BREAKPOINT)\b|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|DOTNET_STARTUP_HOOKS|\bPERL5OPT\b|GODEBUG",
        "has code loaded into other programs",
    ),
];

/// The patterns of one family of languages.
pub(super) struct Patterns {
    set: RegexSet,
    of: Vec<&'static Pattern>,
}

impl Patterns {
    pub(super) fn of(family: Family) -> &'static Self {
        static ALL: LazyLock<BTreeMap<Family, Patterns>> = LazyLock::new(|| {
            let of = |family: Family| {
                let of: Vec<&Pattern> = PATTERNS
                    .iter()
                    .filter(|pattern| {
                        pattern.families.is_empty() || pattern.families.contains(&family)
                    })
                    .collect();
                let set = RegexSet::new(of.iter().map(|pattern| pattern.regex));
                let set = set.expect("patterns of this file");
                (family, Patterns { set, of })
            };
            Family::ALL.into_iter().map(of).collect()
        });
        &ALL[&family]
    }

    /// The patterns that begin on the line, by their number.
    pub(super) fn matching(
        &self,
        line: &str,
        next: &str,
    ) -> Vec<(usize, SignalKind, &'static str)> {
        let both = format!("{}\n{}", line.trim_end(), next.trim_end());
        let found = self.set.matches(&both);
        if !found.matched_any() {
            return Vec::new();
        }
        // What the next line alone matches is told when that line is read.
        let later = self.set.matches(next.trim_end());
        found
            .iter()
            .filter(|index| !later.matched(*index) || self.set.matches(line).matched(*index))
            .map(|index| (index, self.of[index].kind, self.of[index].what))
            .collect()
    }
}
