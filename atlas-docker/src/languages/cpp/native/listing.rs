//! `CMakeLists.txt` as a list of commands.

use crate::tree::Tree;

/// One call of a command.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its name in lower case.
    pub(crate) name: String,
    /// Its arguments, quotes removed, variables as they stand.
    pub(crate) words: Vec<String>,
    /// The file.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The conditions of the `if` blocks around it, `NOT` put in front in an `else` branch.
    pub(crate) conditions: Vec<Vec<String>>,
}

impl Call {
    /// The argument after a keyword.
    pub(crate) fn after(&self, keyword: &str) -> Option<&str> {
        let at = self.words.iter().position(|word| word == keyword)?;
        self.words.get(at + 1).map(String::as_str)
    }

    /// Whether a word is among the arguments.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|given| given == word)
    }

    /// The call as it may be shown.
    pub(crate) fn text(&self) -> String {
        let words: Vec<&str> = self.words.iter().take(6).map(String::as_str).collect();
        format!("{}({})", self.name, words.join(" "))
    }
}

/// The calls of a file, in order; what is no call is passed over.
pub(crate) fn calls(tree: &Tree, file: &str) -> Vec<Call> {
    let text = tree.text(file).unwrap_or_default();
    let mut found = read(&text, file);
    let mut open: Vec<Vec<String>> = Vec::new();
    for call in &mut found {
        match call.name.as_str() {
            "if" => open.push(call.words.clone()),
            "elseif" => {
                open.pop();
                open.push(call.words.clone());
            }
            "else" => {
                if let Some(condition) = open.last_mut() {
                    condition.insert(0, "NOT".to_owned());
                }
            }
            "endif" => {
                open.pop();
            }
            _ => call.conditions.clone_from(&open),
        }
    }
    found
}

fn read(text: &str, file: &str) -> Vec<Call> {
    let mut found = Vec::new();
    let mut scanner = Scanner {
        rest: text,
        line: 1,
    };
    let mut name = String::new();
    while let Some(c) = scanner.next() {
        match c {
            '#' => scanner.comment(),
            '(' => {
                let line = scanner.line;
                let words = scanner.words();
                if !name.is_empty() {
                    found.push(Call {
                        name: std::mem::take(&mut name).to_ascii_lowercase(),
                        words,
                        file: file.to_owned(),
                        line,
                        conditions: Vec::new(),
                    });
                }
            }
            c if c.is_ascii_alphanumeric() || c == '_' => {
                name.clear();
                name.push(c);
                while let Some(next) = scanner
                    .peek()
                    .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
                {
                    name.push(next);
                    scanner.next();
                }
            }
            c if c.is_whitespace() => {}
            _ => name.clear(),
        }
    }
    found
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// The text up to and without `end`, which is passed; all that is left where there is none.
    fn until(&mut self, end: &str) -> String {
        let at = self.rest.find(end).unwrap_or(self.rest.len());
        let text = self.rest[..at].to_owned();
        let passed = (at + end.len()).min(self.rest.len());
        self.line += self.rest[..passed].matches('\n').count();
        self.rest = &self.rest[passed..];
        text
    }

    /// After `#`: to the end of the line, or of a bracket comment.
    fn comment(&mut self) {
        if self.bracket().is_none() {
            let at = self.rest.find('\n').unwrap_or(self.rest.len());
            self.rest = &self.rest[at..];
        }
    }

    /// `[==[text]==]`, if it stands here.
    fn bracket(&mut self) -> Option<String> {
        let inner = self.rest.strip_prefix('[')?;
        let equals = inner.len() - inner.trim_start_matches('=').len();
        inner[equals..].strip_prefix('[')?;
        self.rest = &inner[equals + 1..];
        let end = format!("]{}]", "=".repeat(equals));
        Some(self.until(&end))
    }

    /// The arguments of a call, after its opening parenthesis.
    fn words(&mut self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut depth = 1;
        loop {
            if let Some(text) = self.bracket() {
                words.push(text);
                continue;
            }
            let Some(c) = self.next() else {
                return words;
            };
            match c {
                '#' => self.comment(),
                '(' => depth += 1,
                ')' => {
                    depth -= 1;
                    if depth == 0 {
                        return words;
                    }
                }
                '"' => {
                    let mut word = String::new();
                    while let Some(c) = self.next().filter(|c| *c != '"') {
                        if c == '\\' {
                            word.extend(self.next());
                        } else {
                            word.push(c);
                        }
                    }
                    words.push(word);
                }
                c if c.is_whitespace() || c == ';' => {}
                c => {
                    let mut word = String::from(c);
                    while let Some(c) = self
                        .peek()
                        .filter(|c| !c.is_whitespace() && !"()#;".contains(*c))
                    {
                        word.push(c);
                        self.next();
                    }
                    words.push(word.replace('"', ""));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn calls_with_their_arguments() {
        let text = "# cmake(no)\nIF (A AND (B))\n  add_test(NAME \"a b\" # c)\n    COMMAND [[x)y]] $<TARGET:z>)\nendif()\n#[[ set(x) \n]] set(y";
        let found: Vec<(String, usize, String)> = read(text, "f")
            .into_iter()
            .map(|call| (call.name, call.line, call.words.join("|")))
            .collect();
        let expected = [
            ("if", 2, "A|AND|B"),
            ("add_test", 3, "NAME|a b|COMMAND|x)y|$<TARGET:z>"),
            ("endif", 5, ""),
            ("set", 7, "y"),
        ];
        let expected =
            expected.map(|(name, line, words)| (name.to_owned(), line, words.to_owned()));
        assert_eq!(found, expected);
    }
}
