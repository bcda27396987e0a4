//! Small readers that the C++ runners share.

/// Reads a number from the start. Too many digits are no number.
pub(super) fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if end == 0 || end > 18 {
        return None;
    }
    let value = text[..end]
        .iter()
        .fold(0_u64, |value, digit| value * 10 + u64::from(digit - b'0'));
    Some((value, &text[end..]))
}

/// Text for an id; invalid UTF-8 is replaced.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How long the rule of one character is that this line is, or that ends it behind output without a
/// newline: then only one of the usual length is seen.
pub(super) fn rule(line: &[u8], byte: u8) -> Option<usize> {
    const USUAL: usize = 79;
    if line.last() != Some(&byte) {
        return None;
    }
    let length = line.iter().rev().take_while(|b| **b == byte).count();
    if length == line.len() {
        (20..=400).contains(&length).then_some(length)
    } else {
        (length >= USUAL).then_some(USUAL)
    }
}
