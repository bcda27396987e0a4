//! Errors of the compilers and build tools of .NET.

use crate::text::lossy;

/// The project of a compiler's or the SDK's error:
/// `/src/A.cs(12,34): error CS0103: … [/src/tests/T.csproj]` -> `T.csproj`.
pub(super) fn build_error(line: &[u8]) -> Option<String> {
    let at = memchr::memmem::find(line, b"error ")?;
    let code = &line[at + 6..];
    let letters = code.iter().take_while(|b| b.is_ascii_uppercase()).count();
    let digits = code[letters..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let known = matches!(
        &code[..letters],
        b"CS" | b"FS" | b"BC" | b"VBC" | b"NU" | b"NETSDK" | b"MSB" | b"NUnit" | b"RZ"
    );
    if !known || digits < 2 || code.get(letters + digits) != Some(&b':') {
        return None;
    }
    let text = lossy(line);
    let project = text.trim_end().strip_suffix(']').and_then(|text| {
        let (_, path) = text.rsplit_once(" [")?;
        // With several frameworks: `T.csproj::TargetFramework=net8.0`.
        let path = path.split("::").next()?;
        path.rsplit(['/', '\\']).next()
    });
    let before = lossy(&line[..at]);
    let file = project.or_else(|| {
        let path = before.split(['(', ':']).next()?.trim();
        path.rsplit(['/', '\\']).next()
    });
    Some(file.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::build_error;

    #[test]
    fn errors_name_their_project() {
        let project = |line: &str| build_error(line.as_bytes());
        assert_eq!(
            project("/s/A.cs(3,5): error CS0103: The name 'x' does not exist [/s/t/T.csproj]"),
            Some("T.csproj".to_owned())
        );
        assert_eq!(
            project("/s/A.fs(3,5): error FS0039: no [/s/t/T.fsproj::TargetFramework=net8.0]"),
            Some("T.fsproj".to_owned())
        );
        assert_eq!(project("an error CSV: no"), None);
    }

    #[test]
    fn an_error_may_follow_bytes_that_are_no_text() {
        // What stands for such a byte is longer than it: places in the line are none in the text.
        assert_eq!(
            build_error(b"/s/A\xff.cs(3,5)\xff error CS0103: no"),
            Some("A\u{fffd}.cs".to_owned())
        );
    }
}
