//! Names and values of canaries.

/// Verbs in the third person, nouns: a name is `verb_adjective_noun`.
const VERBS: &[&str] = &[
    "merges", "splits", "keeps", "drops", "counts", "reads", "writes", "sorts", "folds", "joins",
    "trims", "pads", "wraps", "finds", "picks", "moves", "copies", "updates", "checks", "loads",
    "stores", "builds", "adds", "groups", "orders", "matches", "handles", "returns", "accepts",
    "parses", "renders", "collects",
];
const ADJECTIVES: &[&str] = &[
    "short", "long", "nested", "empty", "plain", "mixed", "single", "outer", "inner", "first",
    "last", "extra", "wide", "small", "large", "shared", "local", "partial", "simple", "quoted",
    "sorted", "upper", "lower", "blank", "double", "closed", "open", "default", "custom", "unique",
    "repeated", "trailing",
];
const NOUNS: &[&str] = &[
    "keys", "values", "items", "lines", "words", "fields", "names", "paths", "rows", "columns",
    "entries", "tokens", "labels", "numbers", "groups", "ranges", "options", "records", "parts",
    "headers", "levels", "pairs", "blocks", "pages", "widths", "counts", "offsets", "sizes",
    "prefixes", "suffixes", "results", "buffers",
];

/// Two names, a group's name and some numbers.
#[derive(Debug)]
pub(super) struct Names {
    pass: [&'static str; 3],
    fail: [&'static str; 3],
    group: [&'static str; 3],
    /// Whether the passing test stands first.
    pub(super) pass_first: bool,
    /// The numbers that the passing test works on.
    pub(super) pass_values: [u32; 3],
    /// The numbers that the failing test works on.
    pub(super) fail_values: [u32; 3],
    /// How far the failing test's expectation is off.
    off: u32,
}

impl Names {
    /// Names from the seed that the text does not have in any of their forms.
    pub(super) fn new(seed: &str, text: &str) -> Self {
        let mut dice = SplitMix64::new(seed);
        let mut name = || {
            let mut words = [""; 3];
            for _ in 0..64 {
                words = [dice.of(VERBS), dice.of(ADJECTIVES), dice.of(NOUNS)];
                let taken = [snake(&words), pascal(&words), spaced(&words)]
                    .iter()
                    .any(|form| text.contains(form.as_str()));
                if !taken {
                    break;
                }
            }
            words
        };
        let (pass, mut fail, group) = (name(), name(), name());
        if pass == fail {
            let next = NOUNS.iter().position(|noun| *noun == fail[2]).unwrap_or(0) + 1;
            fail[2] = NOUNS[next % NOUNS.len()];
        }
        let mut number = || 2 + dice.below(40);
        let pass_values = [number(), number(), number()];
        let fail_values = [number(), number(), number()];
        let off = 1 + dice.below(4);
        let pass_first = dice.below(2) == 0;
        Self {
            pass,
            fail,
            group,
            pass_first,
            pass_values,
            fail_values,
            off,
        }
    }

    /// `merges_short_keys`
    pub(super) fn snake(&self) -> (String, String) {
        (snake(&self.pass), snake(&self.fail))
    }

    /// `MergesShortKeys`
    pub(super) fn pascal(&self) -> (String, String) {
        (pascal(&self.pass), pascal(&self.fail))
    }

    /// `mergesShortKeys`
    pub(super) fn camel(&self) -> (String, String) {
        (camel(&self.pass), camel(&self.fail))
    }

    /// `merges short keys`
    pub(super) fn spaced(&self) -> (String, String) {
        (spaced(&self.pass), spaced(&self.fail))
    }

    /// `ShortKeys`, for a class or a suite.
    pub(super) fn group(&self) -> String {
        pascal(&self.group[1..])
    }

    /// `short keys`
    pub(super) fn group_words(&self) -> String {
        spaced(&self.group[1..])
    }

    /// Both tests in their order, each with its name, its numbers and the sum that it expects.
    pub(super) fn both(
        &self,
        names: &(String, String),
        test: impl Fn(&str, [u32; 3], u32) -> String,
        between: &str,
    ) -> String {
        let sum = |values: [u32; 3]| values.iter().sum::<u32>();
        let pass = test(&names.0, self.pass_values, sum(self.pass_values));
        let fail = test(&names.1, self.fail_values, sum(self.fail_values) + self.off);
        if self.pass_first {
            format!("{pass}{between}{fail}")
        } else {
            format!("{fail}{between}{pass}")
        }
    }
}

fn snake(words: &[&str]) -> String {
    words.join("_")
}

fn spaced(words: &[&str]) -> String {
    words.join(" ")
}

fn pascal(words: &[&str]) -> String {
    let mut out = String::new();
    for word in words {
        out.push_str(&word[..1].to_uppercase());
        out.push_str(&word[1..]);
    }
    out
}

fn camel(words: &[&str]) -> String {
    let name = pascal(words);
    format!("{}{}", name[..1].to_lowercase(), &name[1..])
}

/// A small generator (`SplitMix64`) begun with the seed's FNV hash: the same on every machine.
pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    pub(super) fn new(seed: &str) -> Self {
        let hash = seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(hash)
    }

    pub(super) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        u32::try_from(z % u64::from(limit.max(1))).unwrap_or(0)
    }

    fn of(&mut self, words: &[&'static str]) -> &'static str {
        let limit = u32::try_from(words.len()).unwrap_or(u32::MAX);
        let index = usize::try_from(self.below(limit)).unwrap_or(0);
        words[index]
    }
    /// One of these, if there are any.
    pub(super) fn among<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let limit = u32::try_from(of.len()).unwrap_or(u32::MAX);
        of.get(usize::try_from(self.below(limit)).unwrap_or(0))
    }
}
