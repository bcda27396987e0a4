//! How many arguments a signature takes.

/// What a signature takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arity {
    /// Arguments that must be given.
    pub(super) least: usize,
    /// Most arguments; none if there is no limit.
    pub(super) most: Option<usize>,
    /// The words of its parameters, names among them.
    pub(super) words: Vec<String>,
}

impl Arity {
    /// The parameters of `name` in its signature; none where it has no list of parameters.
    pub(super) fn of(signature: &str, name: &str) -> Option<Self> {
        let list = parameters(signature, name)?;
        let mut arity = Self {
            least: 0,
            most: Some(0),
            words: Vec::new(),
        };
        for parameter in split(list) {
            let parameter = parameter.trim();
            if parameter.is_empty() || is_not_given(parameter) {
                continue;
            }
            arity
                .words
                .extend(words(parameter).into_iter().map(str::to_owned));
            if is_many(parameter) {
                arity.most = None;
                continue;
            }
            if let Some(most) = &mut arity.most {
                *most += 1;
            }
            let head = parameter.split('=').next().unwrap_or_default();
            let is_optional = parameter.contains('=') || head.contains('?') || is_keyword(head);
            arity.least += usize::from(!is_optional);
        }
        Some(arity)
    }

    /// Whether a call with this many arguments fits.
    pub(super) fn takes(&self, arguments: usize) -> bool {
        self.least <= arguments && self.most.is_none_or(|most| arguments <= most)
    }
}

/// Ruby's `key:`.
fn is_keyword(parameter: &str) -> bool {
    parameter.trim_end().ends_with(':')
}

fn is_many(parameter: &str) -> bool {
    parameter.starts_with('*') && !parameter.contains(' ')
        || parameter.starts_with("**")
        || parameter.starts_with('&') && !parameter.contains(' ')
        || parameter.contains("...")
        || parameter.starts_with("params ")
}

/// What stands in the list but is not given in a call.
fn is_not_given(parameter: &str) -> bool {
    matches!(parameter, "self" | "cls" | "void" | "/" | "*")
        || parameter.starts_with("this ")
        || parameter.starts_with("this:")
        || parameter.starts_with("self:")
        || (parameter.starts_with('&') || parameter.starts_with("mut "))
            && parameter.ends_with("self")
}

/// The text between the brackets behind the name, or behind the first bracket that follows none.
fn parameters<'s>(signature: &'s str, name: &str) -> Option<&'s str> {
    let name = name.trim_end_matches(['?', '!', '=']);
    let behind = places(signature, name).find_map(|end| {
        let rest = skip_generics(signature[end..].trim_start_matches(['?', '!', '=']));
        rest.starts_with('(').then_some(rest)
    });
    // `f = (x) => …`: the name is followed by something else.
    let rest = match behind {
        Some(rest) => rest,
        None => &signature[signature.find('(')?..],
    };
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(&rest[1..at]);
                }
            }
            _ => {}
        }
    }
    None
}

/// The ends of the places where a name stands as a word.
fn places<'s>(text: &'s str, name: &'s str) -> impl Iterator<Item = usize> + 's {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).filter_map(move |(start, _)| {
        let end = start + name.len();
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        (!name.is_empty() && !before.is_some_and(is_word) && !after.is_some_and(is_word))
            .then_some(end)
    })
}

fn skip_generics(text: &str) -> &str {
    let text = text.trim_start();
    let (open, close) = match text.chars().next() {
        Some('<') => ('<', '>'),
        Some('[') => ('[', ']'),
        _ => return text,
    };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && !text[..at].ends_with(['-', '=']) {
            depth -= 1;
            if depth == 0 {
                return text[at + 1..].trim_start();
            }
        }
    }
    text
}

/// The parts between commas that stand in no bracket.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if list[..at].ends_with(['-', '=']) => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Arity;

    #[test]
    fn parameters_of_many_languages() {
        for (signature, name, least, most) in [
            ("def f(self, a, b=1)", "f", 1, Some(2)),
            ("def f(a, *args, **kw)", "f", 1, None),
            ("def f(a, *, b: Dict[str, int] = {})", "f", 1, Some(2)),
            (
                "func (f *FlagSet) TimeVar(p *time.Time, names ...string)",
                "TimeVar",
                1,
                None,
            ),
            (
                "pub fn split_off(&mut self, at: usize) -> Self",
                "split_off",
                1,
                Some(1),
            ),
            (
                "fn map<F: Fn(u8, u8) -> u8>(f: F, m: Map<K, V>)",
                "map",
                2,
                Some(2),
            ),
            (
                "static Map<String, List<X>> of(Map<A, B> m, int... rest)",
                "of",
                1,
                None,
            ),
            ("const f = (a, { b, c } = {}) =>", "f", 1, Some(2)),
            (
                "filterQuery(input: string, keep?: Fn)",
                "filterQuery",
                1,
                Some(2),
            ),
            ("int f(void)", "f", 0, Some(0)),
            ("def m(a, key:, other: 1, &block)", "m", 2, None),
            (
                "public static int Twice(this string s, int n)",
                "Twice",
                1,
                Some(1),
            ),
        ] {
            let arity = Arity::of(signature, name).unwrap();
            assert_eq!((arity.least, arity.most), (least, most), "{signature}");
        }
        assert_eq!(Arity::of("class A", "A"), None);
    }
}
