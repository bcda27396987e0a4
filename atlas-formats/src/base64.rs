//! Base64 with padding, for files that are no text.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let [a, b, c] = group;
        let digits = [
            a >> 2,
            (a & 3) << 4 | b >> 4,
            (b & 15) << 2 | c >> 6,
            c & 63,
        ];
        for (at, digit) in digits.into_iter().enumerate() {
            if at <= chunk.len() {
                out.push(char::from(ALPHABET[usize::from(digit)]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// The bytes; nothing where the text is not what [`encode`] writes.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let mut group: u32 = 0;
        for digit in chunk {
            let value = ALPHABET.iter().position(|known| known == digit)?;
            group = group << 6 | u32::try_from(value).ok()?;
        }
        group <<= 6 * (4 - chunk.len());
        let bytes = group.to_be_bytes();
        out.extend_from_slice(&bytes[1..chunk.len().max(1)]);
    }
    (encode(&out) == text).then_some(out)
}
