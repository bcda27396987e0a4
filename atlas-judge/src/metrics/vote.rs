//! One patch of many, by majority.

use std::collections::{BTreeMap, HashMap};

/// The outcome of a vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vote {
    /// The place of the chosen patch.
    pub winner: usize,
    /// How many patches say the same as it, itself included.
    pub votes: usize,
    /// The places of patches that say the same, in the order of their first one.
    pub groups: Vec<Vec<usize>>,
    /// What each patch was compared as.
    pub normalised: Vec<String>,
}

/// A patch with each different identifier replaced by `id` and its number in the order of
/// appearance, so that patches differing only in names are equal (paper 002, section 5.1).
///
/// The paper says "likely identifier"; here that is an ASCII letter or underscore followed by
/// letters, digits and underscores, keywords included. What is not an identifier stays as it is.
pub fn normalise_identifiers(patch: &str) -> String {
    normalise(patch, |_| false)
}

/// The same with the words of languages left as they are, which no programmer chose: `return True` and
/// `raise Error` are not the same. A word that is one in any of the languages counts as one in all.
pub fn normalise_likely_identifiers(patch: &str) -> String {
    normalise(patch, |word| WORDS.contains(&word))
}

/// Key words and literals of C, C++, C#, Go, Java, JavaScript, TypeScript, PHP, Python, Ruby and Rust, in order.
const WORDS: &[&str] = &[
    "False",
    "None",
    "Self",
    "True",
    "abstract",
    "and",
    "as",
    "assert",
    "async",
    "auto",
    "await",
    "begin",
    "bool",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "chan",
    "char",
    "class",
    "const",
    "continue",
    "def",
    "default",
    "defer",
    "del",
    "delete",
    "do",
    "double",
    "echo",
    "elif",
    "else",
    "elseif",
    "elsif",
    "end",
    "ensure",
    "enum",
    "except",
    "extends",
    "extern",
    "fallthrough",
    "false",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "foreach",
    "from",
    "func",
    "function",
    "global",
    "go",
    "goto",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "inline",
    "instanceof",
    "int",
    "interface",
    "is",
    "lambda",
    "let",
    "long",
    "loop",
    "match",
    "mod",
    "module",
    "mut",
    "namespace",
    "new",
    "next",
    "nil",
    "nonlocal",
    "not",
    "null",
    "nullptr",
    "of",
    "or",
    "out",
    "override",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "range",
    "ref",
    "rescue",
    "return",
    "select",
    "self",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "super",
    "switch",
    "template",
    "then",
    "this",
    "throw",
    "throws",
    "trait",
    "true",
    "try",
    "type",
    "typedef",
    "typeof",
    "undefined",
    "union",
    "unless",
    "unsafe",
    "unsigned",
    "until",
    "use",
    "using",
    "var",
    "virtual",
    "void",
    "when",
    "where",
    "while",
    "with",
    "yield",
];

fn normalise(patch: &str, is_kept: impl Fn(&str) -> bool) -> String {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut text = String::with_capacity(patch.len());
    let mut rest = patch;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let (plain, from) = rest.split_at(at);
        let end = from
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        rest = after;
        text.push_str(plain);
        if is_kept(name) {
            text.push_str(name);
            continue;
        }
        let next = known.len();
        let number = *known.entry(name).or_insert(next);
        text.push_str("id");
        text.push_str(&number.to_string());
    }
    text.push_str(rest);
    text
}

/// Lines of a text: its line feeds, as the paper's tie-break needs a number and names none.
pub fn line_count(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// Chooses one patch: the largest group of those with the same [`normalise_identifiers`] wins; of the
/// patches in the largest groups the one with the fewest lines, then the first.
///
/// `lines` are the numbers of lines of the patched files (paper 002: "post-patch least-line-count"),
/// one for each patch. Where they are not known, [`line_count`] of the patches is the next best.
/// The last tie-break is ours.
///
/// `None` without patches, or if there are not as many numbers as patches.
///
/// ```
/// use atlas_judge::metrics::majority_vote;
/// let vote = majority_vote(&["a = b\n", "x = y\n", "x = 1\n"], &[1, 1, 1]).unwrap();
/// assert_eq!((vote.winner, vote.votes), (0, 2));
/// ```
pub fn majority_vote(patches: &[&str], lines: &[u64]) -> Option<Vote> {
    if patches.len() != lines.len() {
        return None;
    }
    let normalised = patches.iter().map(|patch| normalise_identifiers(patch));
    vote(normalised.collect(), lines)
}

/// The same over texts that are compared as they are.
pub(crate) fn vote(normalised: Vec<String>, lines: &[u64]) -> Option<Vote> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, text) in normalised.iter().enumerate() {
        places.entry(text).or_default().push(at);
    }
    let mut groups: Vec<Vec<usize>> = places.into_values().collect();
    groups.sort_unstable();
    let votes = groups.iter().map(Vec::len).max()?;
    let winner = groups
        .iter()
        .filter(|group| group.len() == votes)
        .flatten()
        .copied()
        .min_by_key(|at| (lines[*at], *at))?;
    Some(Vote {
        winner,
        votes,
        groups,
        normalised,
    })
}
