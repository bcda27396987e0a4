//! Modules of Python that a file of the repository can take the place of.

use crate::change::Change;

/// The runners and what they import, and modules of the standard library that are loaded while
/// pytest or unittest starts, collects and reports. A new file of such a name in a folder that
/// Python searches first replaces the runner's own.
const LOADED: &[&str] = &[
    // Runners and their libraries.
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "exceptiongroup",
    "tomli",
    "unittest",
    "nose",
    "nose2",
    "xdist",
    "execnet",
    "pytest_cov",
    "coverage",
    "pytest_asyncio",
    "pytest_mock",
    "pytest_timeout",
    "pytest_django",
    "hypothesis",
    "mock",
    "py",
    "attr",
    "six",
    "teamcity",
    "xmlrunner",
    "green",
    "anyio",
    "trial",
    "testtools",
    "subunit",
    "colorama",
    // Standard library, as loaded by `python -m pytest` and `python -m unittest`.
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "atexit",
    "base64",
    "bdb",
    "binascii",
    "bisect",
    "builtins",
    "bz2",
    "calendar",
    "cmd",
    "code",
    "codecs",
    "codeop",
    "collections",
    "concurrent",
    "configparser",
    "contextlib",
    "contextvars",
    "copy",
    "copyreg",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "doctest",
    "email",
    "encodings",
    "enum",
    "errno",
    "faulthandler",
    "fcntl",
    "fnmatch",
    "fractions",
    "functools",
    "gc",
    "genericpath",
    "getopt",
    "getpass",
    "gettext",
    "glob",
    "grp",
    "hashlib",
    "heapq",
    "html",
    "http",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "keyword",
    "linecache",
    "locale",
    "logging",
    "lzma",
    "marshal",
    "math",
    "mimetypes",
    "multiprocessing",
    "ntpath",
    "numbers",
    "opcode",
    "operator",
    "optparse",
    "os",
    "pathlib",
    "pdb",
    "pickle",
    "pkgutil",
    "platform",
    "plistlib",
    "posix",
    "posixpath",
    "pprint",
    "pwd",
    "py_compile",
    "pyexpat",
    "queue",
    "quopri",
    "random",
    "re",
    "readline",
    "reprlib",
    "resource",
    "runpy",
    "select",
    "selectors",
    "shlex",
    "shutil",
    "signal",
    "site",
    "socket",
    "ssl",
    "sre_compile",
    "sre_constants",
    "sre_parse",
    "stat",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "symtable",
    "sys",
    "sysconfig",
    "tempfile",
    "termios",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "token",
    "tokenize",
    "tomllib",
    "trace",
    "traceback",
    "tracemalloc",
    "types",
    "typing",
    "unicodedata",
    "urllib",
    "uuid",
    "warnings",
    "weakref",
    "xml",
    "zipfile",
    "zipimport",
    "zlib",
    "zoneinfo",
];

/// The rest of the standard library (`sys.stdlib_module_names`, the platform's own aside): tests
/// may import them, runners do not.
const OTHERS: &[&str] = &[
    "aifc",
    "antigravity",
    "array",
    "asynchat",
    "asyncore",
    "audioop",
    "cProfile",
    "cgi",
    "cgitb",
    "chunk",
    "cmath",
    "colorsys",
    "compileall",
    "crypt",
    "curses",
    "dbm",
    "distutils",
    "ensurepip",
    "filecmp",
    "fileinput",
    "ftplib",
    "graphlib",
    "gzip",
    "hmac",
    "idlelib",
    "imaplib",
    "imghdr",
    "imp",
    "lib2to3",
    "mailbox",
    "mailcap",
    "mmap",
    "modulefinder",
    "netrc",
    "nis",
    "nntplib",
    "nturl2path",
    "ossaudiodev",
    "pickletools",
    "pipes",
    "poplib",
    "profile",
    "pstats",
    "pty",
    "pyclbr",
    "pydoc",
    "rlcompleter",
    "sched",
    "secrets",
    "shelve",
    "smtpd",
    "smtplib",
    "sndhdr",
    "socketserver",
    "spwd",
    "sqlite3",
    "stringprep",
    "sunau",
    "syslog",
    "tabnanny",
    "tarfile",
    "telnetlib",
    "this",
    "tkinter",
    "tty",
    "turtle",
    "turtledemo",
    "uu",
    "venv",
    "wave",
    "webbrowser",
    "wsgiref",
    "xdrlib",
    "xmlrpc",
    "zipapp",
];

/// Whether a new file takes the place of a module that a runner loads.
pub(super) fn of_runner(change: &Change<'_>) -> bool {
    module(change).is_some_and(|name| LOADED.contains(&name))
}

/// Whether a new file takes the place of another module of the standard library.
pub(super) fn of_library(change: &Change<'_>) -> bool {
    module(change).is_some_and(|name| OTHERS.contains(&name))
}

/// The top-level module that a new file makes, if Python finds it before those that are installed:
/// at the root, in `src` or `lib` where these are no packages, and in folders of tests. A module
/// that the base commit has there already is the repository's own.
fn module<'a>(change: &Change<'a>) -> Option<&'a str> {
    if !change.is_new() {
        return None;
    }
    let places = &change.context.places;
    let is_package = |folder: &str| places.is_known(&format!("{folder}/__init__.py"));
    let (folder, name) = (change.folder(), change.name());
    let searched = |folder: &str| {
        folder.is_empty()
            || matches!(folder, "src" | "lib") && !is_package(folder)
            || places.test_folder(&format!("{folder}/x")).is_some()
            || change.context.command.folders.contains(folder)
    };
    let stem = name.split('.').next()?;
    let is_module = matches!(name.rsplit('.').next(), Some("py" | "so" | "pyc" | "pyd"));
    let package = crate::places::name_of(folder);
    let above = crate::places::folder_of(folder);
    // The package whose `__init__.py` this prediction writes, or the module itself.
    let (at, module) = if stem == "__init__" && is_module {
        (above, package)
    } else if is_module && searched(folder) {
        (folder, stem)
    } else if change
        .overlay
        .write
        .contains_key(&format!("{folder}/__init__.py"))
    {
        (above, package)
    } else {
        return None;
    };
    let inside = |name: &str| {
        if at.is_empty() {
            name.to_owned()
        } else {
            format!("{at}/{name}")
        }
    };
    let own =
        places.is_known(&inside(&format!("{module}.py"))) || places.is_folder(&inside(module));
    (searched(at) && !own).then_some(module)
}
