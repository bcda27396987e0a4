//! Long texts cut in the middle, so that a prompt has room for the rest.

/// Bytes that are taken for one token. Tokenizers differ; English and code lie between 3 and 5.
const BYTES_PER_TOKEN: usize = 4;

/// About how many tokens a text has: its bytes by four.
pub fn estimated_tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// A text that fits a number of tokens. What is too long keeps its beginning and its end, which in
/// logs and trajectories say most, and a line between them tells what is missing.
///
/// ```
/// use atlas_judge::validation::cut_middle;
/// assert_eq!(cut_middle("short", 100), "short");
/// let cut = cut_middle(&"line of a log\n".repeat(100), 50);
/// assert!(cut.len() < 50 * 4 + 80 && cut.contains("[... 86 lines, about 301 tokens, are left out here ...]"), "{cut}");
/// ```
pub fn cut_middle(text: &str, tokens: usize) -> String {
    if estimated_tokens(text) <= tokens {
        return text.to_owned();
    }
    let half = tokens * BYTES_PER_TOKEN / 2;
    let boundary = |at: &usize| text.is_char_boundary(*at);
    let head_end = (0..=half).rev().find(boundary).unwrap_or(0);
    let tail_start = (text.len() - half..text.len()).find(boundary);
    let (head, tail) = (&text[..head_end], &text[tail_start.unwrap_or(text.len())..]);
    // At line ends where there are any; a single long line is cut inside.
    let head = head.rfind('\n').map_or(head, |end| &head[..=end]);
    let tail = match tail.find('\n') {
        Some(end) if end + 1 < tail.len() => &tail[end + 1..],
        _ => tail,
    };
    let missing = &text[head.len()..text.len() - tail.len()];
    let end = if head.is_empty() || head.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!(
        "{head}{end}[... {} lines, about {} tokens, are left out here ...]\n{tail}",
        missing.lines().count(),
        estimated_tokens(missing)
    )
}
